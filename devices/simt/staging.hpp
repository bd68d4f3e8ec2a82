// devices/simt/staging.hpp - copies between a device and memory that is not pinned, through a buffer that is.
// The runtime itself does the same at the same speed, but in the calling thread and only after the stream has
// come that far: a caller that is to open the stream's gate would wait for ever.
#pragma once
#include "simt/event.hpp"
#include <headrace/core/export.hpp>

namespace headrace::HEADRACE_ON_SIMT {

struct StagedCopy {
    std::byte* device;
    std::byte* host; ///< read only, if `in`
    Bytes size;
    bool in; ///< to the device

    /// For one call of `stage`, whose commands go to the driver at once: three for each piece.
    static constexpr std::size_t most_pieces = 32;
    /// How many requests have as many commands. A usual one has some ten.
    [[nodiscard]] std::size_t usual_requests() const noexcept {
        return 1 + 3 * (size / (Context::staging_bytes / 2)) / 10;
    }
};

/// Enqueues the copy. While one half of `buffer`, of Context::staging_bytes, is on its way between host and
/// device, a thread of the stream's copies between the other half and the unpinned memory. The event tells
/// when that thread has done with both; what the stream has next comes later, unless the device is lost.
HEADRACE_EXPORT Event stage(SharedStream& stream, const StagedCopy& copy, std::byte* buffer);

} // namespace headrace::HEADRACE_ON_SIMT
