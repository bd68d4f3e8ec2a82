// devices/simt/staging.hpp - copies between a device and unpinned memory, through a pinned buffer. The
// runtime does this at the same speed, but in the calling thread and only when the stream has come that far.
// A caller that is to signal the stream's semaphore would then wait for ever.
#pragma once
#include "simt/event.hpp"
#include <headrace/core/export.hpp>

namespace headrace::HEADRACE_ON_SIMT {

struct StagedCopy {
    std::byte* device;
    std::byte* host; ///< only read if `in`
    Bytes size;
    bool in; ///< true: to the device

    /// For one call of `stage`, which gives all its commands to the driver at once: three per piece.
    static constexpr std::size_t most_pieces = 32;
    /// The number of usual requests with as many commands in total. A usual request has about 10 commands.
    [[nodiscard]] std::size_t usual_requests() const noexcept {
        return 1 + 3 * (size / (Context::staging_bytes / 2)) / 10;
    }
};

/// Enqueues the copy. Device and host work on different halves of `buffer` (Context::staging_bytes) at once:
/// the device copies one; a thread of the stream copies between the other and unpinned memory. The event
/// completes when that thread is done. Later work of the stream starts after that, unless the device is lost.
HEADRACE_EXPORT Event stage(SharedStream& stream, const StagedCopy& copy, std::byte* buffer);

} // namespace headrace::HEADRACE_ON_SIMT
