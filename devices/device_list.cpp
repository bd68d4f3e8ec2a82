// devices/device_list.cpp - see device_list.hpp.
#include <headrace/core/error.hpp>
#include <headrace/devices/device_list.hpp>

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

DeviceList split(std::string_view list, const std::string& where) {
    DeviceList names;
    for (std::size_t begin = 0; begin <= list.size();) {
        const auto comma = std::min(list.find(',', begin), list.size());
        const std::string_view name = trimmed(list.substr(begin, comma - begin));
        if (name.empty())
            throw Error{ErrorKind::invalid_argument,
                        (where.empty() ? "" : where + ": ") + "an empty name in the device list \"" +
                            std::string(list) + "\": write for example \"cpu,cuda:0\""};
        names.devices.push_back({.name = std::string(name), .where = where});
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
    request = trimmed(request);
    std::string where;
    if (request.empty())
        if (const char* const environment = std::getenv(variable)) {
            request = trimmed(environment);
            where = variable;
        }
    if (request.empty()) return {.devices = {{"all"}}, .by_default = true};
    if (request.starts_with('@'))
        return read_device_file(std::string(request.substr(1)), name_of_this_machine());
    if (request.ends_with(".toml")) return read_device_file(std::string(request), name_of_this_machine());
    return split(request, where);
}

} // namespace headrace
