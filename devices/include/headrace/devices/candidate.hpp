// devices/candidate.hpp - what each technology says it found, before any device is opened.
#pragma once
#include <headrace/core/device.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// A device that was asked for or found, and is not used.
struct LeftOut {
    std::string id;   ///< as a device list names it; the technology where there is no device
    std::string name; ///< for people; may be empty
    std::string why;
};

/// "id: why; id: why".
[[nodiscard]] inline std::string reasons(std::span<const LeftOut> left_out) {
    std::string all;
    for (const LeftOut& out : left_out) all += (all.empty() ? "" : "; ") + out.id + ": " + out.why;
    return all;
}

/// A device that can be opened.
struct DeviceCandidate {
    DeviceInfo info;
    std::vector<std::string> aliases;              ///< other names for device lists: "opencl:pocl"
    std::function<std::unique_ptr<Device>()> open; ///< throws Error if the driver fails
    /// Processors: opens it on so many of its cores, because another device has the rest. Null: cannot be
    /// divided. oneTBB takes the first cores and OpenCL the last.
    std::function<std::unique_ptr<Device>(unsigned cores)> open_part;
};

/// Everything that one technology shows.
struct DeviceCandidates {
    std::vector<DeviceCandidate> devices;
    std::vector<LeftOut> left_out;
};

} // namespace headrace
