// devices/candidate.hpp - what each technology reports as found, before any device is opened.
#pragma once
#include <headrace/core/device.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// A device that was requested or found and is not used.
struct LeftOut {
    std::string id;   ///< as a device list names it; the name of the technology if there is no device
    std::string name; ///< for people to read; may be empty
    std::string why;
};

/// For nlohmann::json.
template <class Json>
void to_json(Json& json, const LeftOut& device) {
    json = Json{{"id", device.id}, {"name", device.name}, {"why", device.why}};
}

/// Returns the text "id: why; id: why".
[[nodiscard]] inline std::string reasons(std::span<const LeftOut> left_out) {
    std::string all;
    for (const LeftOut& out : left_out) all += (all.empty() ? "" : "; ") + out.id + ": " + out.why;
    return all;
}

/// A device that can be opened.
struct DeviceCandidate {
    DeviceInfo info;
    std::vector<std::string> aliases;              ///< other names in device lists, such as "opencl:pocl"
    std::function<std::unique_ptr<Device>()> open; ///< throws Error if the driver fails
    /// For processors: opens the device on `cores` of its cores; the rest stays free for other devices or
    /// threads. Null: cannot be divided. oneTBB takes the first cores, OpenCL the last cores.
    std::function<std::unique_ptr<Device>(unsigned cores)> open_part;
};

/// All that one technology reports.
struct DeviceCandidates {
    std::vector<DeviceCandidate> devices;
    std::vector<LeftOut> left_out;
};

} // namespace headrace
