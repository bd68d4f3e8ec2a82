// devices/device_list.hpp - what a person wrote, as names of devices; nothing is asked of a driver yet.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// The names in a request (see select_devices): follows "@file.toml" and the environment; {"all"} if nothing
/// is said.
[[nodiscard]] std::vector<std::string> read_device_list(std::string_view request);

} // namespace headrace
