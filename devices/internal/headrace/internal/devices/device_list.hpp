// internal/devices/device_list.hpp - what a person wrote, as names of devices; nothing is asked of a driver
// yet.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/devices/settings.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// One entry of a device list.
struct DeviceRequest {
    std::string name;
    DeviceSettings settings = {};
    std::string where = {}; ///< "machines.toml: line 7", "HEADRACE_DEVICES"; empty: the caller's own
};

struct DeviceList {
    std::vector<DeviceRequest> devices; ///< at least one
    HostSettings host = {};
    std::string where = {};  ///< of the host's settings
    bool by_default = false; ///< nobody said which devices
};

/// The names in a request (see select_devices): follows "@file.toml" and the environment; "all" if nothing is
/// said.
[[nodiscard]] HEADRACE_EXPORT DeviceList read_device_list(std::string_view request);

/// A configuration file, for the machine of this name: see select_devices. Errors: throws not_found for a
/// file that is not there, else invalid_argument with the file, the line and the key.
[[nodiscard]] HEADRACE_EXPORT DeviceList read_device_file(const std::string& path, std::string_view machine);

/// HEADRACE_NODE, else the host's name.
[[nodiscard]] HEADRACE_EXPORT std::string name_of_this_machine();

} // namespace headrace
