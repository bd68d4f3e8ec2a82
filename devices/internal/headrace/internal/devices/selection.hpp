// internal/devices/selection.hpp - which of the devices found a list of names means: pure, so that made-up
// machines test it.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>
#include <headrace/internal/devices/device_list.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace headrace {

/// One processor or GPU to be used.
struct Choice {
    /// Indices of candidates, the preferred one first; the others show the same silicon and take its place if
    /// it does not start. One only if it was named.
    std::vector<std::size_t> candidates;
    bool named = false; ///< the user wrote this one's name, or its technology's: not starting is an error
    std::size_t request = 0; ///< which one asked for it
};

/// What `requests` mean among what was found; see select_devices for the rules. Throws not_found.
[[nodiscard]] HEADRACE_EXPORT std::vector<Choice> choose(const DeviceCandidates& found,
                                                         std::span<const DeviceRequest> requests);

/// How many cores of `total` oneTBB takes when an OpenCL device works on the same processor: the larger half.
[[nodiscard]] constexpr unsigned cores_beside_opencl(unsigned total) { return total - total / 2; }

} // namespace headrace
