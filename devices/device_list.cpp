// devices/device_list.cpp - see device_list.hpp.
#include <headrace/core/error.hpp>
#include <headrace/devices/device_list.hpp>

#include <toml++/toml.h>

#include <cstdlib>

namespace headrace {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= list.size();) {
        const auto comma = std::min(list.find(',', begin), list.size());
        const std::string_view name = trimmed(list.substr(begin, comma - begin));
        if (name.empty())
            throw Error{ErrorKind::invalid_argument, "an empty name in the device list \"" +
                                                         std::string(list) +
                                                         "\": write for example \"cpu,cuda:0\""};
        names.emplace_back(name);
        begin = comma + 1;
    }
    return names;
}

std::vector<std::string> read_file(const std::string& path) {
    const auto refuse = [&path](std::string_view why) {
        throw Error{ErrorKind::invalid_argument, path + ": " + std::string(why)};
    };
    toml::table file;
    try {
        file = toml::parse_file(path);
    } catch (const toml::parse_error& error) {
        // A file that cannot be opened comes as a parse error without a line.
        if (!error.source().begin)
            throw Error{ErrorKind::not_found, path + ": " + std::string(error.description())};
        refuse("line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
    }
    const toml::array* const list = file["devices"].as_array();
    if (!list) refuse(R"(no list of devices: write for example devices = ["cpu", "cuda:0"])");
    std::vector<std::string> names;
    for (const toml::node& node : *list) {
        const auto name = node.value<std::string>();
        if (!name || trimmed(*name).empty()) refuse("every entry of devices must be a name in quotes");
        names.emplace_back(trimmed(*name));
    }
    if (names.empty()) refuse("the list of devices is empty");
    return names;
}

} // namespace

std::vector<std::string> read_device_list(std::string_view request) {
    request = trimmed(request);
    if (request.empty())
        if (const char* const environment = std::getenv("HEADRACE_DEVICES")) request = trimmed(environment);
    if (request.empty()) return {"all"};
    if (request.starts_with('@')) return read_file(std::string(request.substr(1)));
    if (request.ends_with(".toml")) return read_file(std::string(request));
    return split(request);
}

} // namespace headrace
