// internal/devices/settings.hpp - what a configuration file may say of a device and of the host beside its
// name.
#pragma once
#include <optional>

namespace headrace {

/// NUMA nodes by the system's numbers, both ends included.
struct NumaRange {
    unsigned first = 0, last = 0;
    friend bool operator==(const NumaRange&, const NumaRange&) = default;
};

struct DeviceSettings {
    std::optional<unsigned> threads = {};    ///< processors: how many threads compute
    std::optional<NumaRange> numa = {};      ///< processors: on whose cores, with private memory there
    std::optional<bool> private_copies = {}; ///< see ControllerOptions
    friend bool operator==(const DeviceSettings&, const DeviceSettings&) = default;
};

struct HostSettings {
    std::optional<unsigned> numa; ///< where host memory is to come from
};

} // namespace headrace
