// internal/devices/device_list.hpp - reads the device names that a person wrote, without asking a
// driver.
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
    std::string where = {}; ///< place: "machines.toml: line 7", "HEADRACE_DEVICES"; empty: the caller's list
};

struct DeviceList {
    std::vector<DeviceRequest> devices; ///< at least one
    HostSettings host = {};
    std::string where = {};  ///< place of the host's settings
    bool by_default = false; ///< neither the request nor the environment named devices
};

/// Reads the names in a request (see select_devices). Follows "@file.toml" and, if the request is empty, the
/// environment. If that is empty too, the list is "all".
[[nodiscard]] HEADRACE_EXPORT DeviceList read_device_list(std::string_view request);

/// Reads a configuration file for the machine of this name: see select_devices. Errors: throws not_found if
/// the file cannot be opened, else invalid_argument with the file, the line and the key.
[[nodiscard]] HEADRACE_EXPORT DeviceList read_device_file(const std::string& path, std::string_view machine);

/// HEADRACE_NODE, else the host's name.
[[nodiscard]] HEADRACE_EXPORT std::string name_of_this_machine();

} // namespace headrace
