// devices/device_list.cpp - see device_list.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/devices/device_list.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <unistd.h>

namespace headrace {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

constexpr const char* variable = "HEADRACE_DEVICES";

DeviceList split(std::string_view list) {
    DeviceList names;
    for (std::size_t begin = 0; begin <= list.size();) {
        const auto comma = std::min(list.find(',', begin), list.size());
        const std::string_view name = trimmed(list.substr(begin, comma - begin));
        if (name.empty())
            throw Error{ErrorKind::invalid_argument, "an empty name in the device list \"" +
                                                         std::string(list) +
                                                         "\": write for example \"cpu,cuda:0\""};
        names.devices.push_back({.name = std::string(name)});
        begin = comma + 1;
    }
    return names;
}

} // namespace

std::string name_of_this_machine() {
    if (const char* const named = std::getenv("HEADRACE_NODE"); named && *named) return named;
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

DeviceList read_device_list(std::string_view request) {
    const auto read = [](std::string_view list) {
        const bool is_marked = list.starts_with('@');
        if (!is_marked && !list.ends_with(".toml")) return split(list);
        return read_device_file(std::string(list.substr(is_marked ? 1 : 0)), name_of_this_machine());
    };
    request = trimmed(request);
    if (!request.empty()) return read(request);
    const char* const environment = std::getenv(variable);
    const std::string_view said = trimmed(environment ? environment : "");
    if (said.empty()) return {.devices = {{"all"}}, .by_default = true};
    try {
        DeviceList list = read(said);
        for (DeviceRequest& device : list.devices)
            if (device.where.empty()) device.where = variable;
        return list;
    } catch (const Error& error) {
        throw Error{error.kind(), variable + (": " + error.message())};
    }
}

} // namespace headrace
