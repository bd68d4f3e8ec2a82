// internal/devices/settings.hpp - what a configuration file may set for a device, beside its name, and for
// the host.
#pragma once
#include <optional>

namespace headrace {

/// NUMA nodes by the system's numbers, both ends included.
struct NumaRange {
    unsigned first = 0, last = 0;
    friend bool operator==(const NumaRange&, const NumaRange&) = default;
};

struct DeviceSettings {
    std::optional<unsigned> threads = {};    ///< processors: the number of threads that compute
    std::optional<NumaRange> numa = {};      ///< processors: the nodes of its cores and private memory
    std::optional<bool> private_copies = {}; ///< see ControllerOptions
    friend bool operator==(const DeviceSettings&, const DeviceSettings&) = default;
};

struct HostSettings {
    std::optional<unsigned> numa; ///< the node that host memory comes from
};

} // namespace headrace
