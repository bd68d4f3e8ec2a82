// internal/devices/selection.hpp - which of the found devices a list of names selects. It is pure, so tests
// can invent machines.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/candidate.hpp>
#include <headrace/internal/devices/device_list.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace headrace {

/// One processor or GPU to use.
struct Choice {
    /// Indices of candidates, the preferred one first. The others are the same hardware and replace it if it
    /// does not start. Only one candidate if the device was named.
    std::vector<std::size_t> candidates;
    bool named = false;      ///< the user named it or its technology: if it does not start, that is an error
    std::size_t request = 0; ///< index of the request that selected it
};

/// The choices that `requests` make among `found`; see select_devices for the rules. Throws not_found.
[[nodiscard]] HEADRACE_EXPORT std::vector<Choice> choose(const DeviceCandidates& found,
                                                         std::span<const DeviceRequest> requests);

/// The cores of `total` for oneTBB beside an OpenCL device on the same processor: the larger half.
[[nodiscard]] constexpr unsigned cores_beside_opencl(unsigned total) { return total - total / 2; }

} // namespace headrace
