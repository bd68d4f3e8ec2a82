// devices/simt/changes.hpp - takes up what another replica has changed, on the device.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <cstddef>
#include <cstdint>

namespace headrace::HEADRACE_ON_SIMT {

/// Three ranges of equal elements. All begin at an address that is aligned to the largest power of two, up to
/// 8, that divides the size of an element.
struct ChangedRange {
    void* to;
    const void* from;              ///< may be memory of another device that this device reaches
    const void* before;            ///< what both held
    std::size_t elements, element; ///< their number, the size of one in bytes
    std::uint64_t first;           ///< number of the first one, for `conflict`
};

/// Enqueues what Stream::take_changes says. Each element of `from` is read once, and what has changed again.
HEADRACE_EXPORT void enqueue_take_changes(StreamHandle stream, const ChangedRange& range,
                                          std::uint64_t* conflict);

} // namespace headrace::HEADRACE_ON_SIMT
