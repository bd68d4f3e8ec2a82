// devices/device_file.cpp - the configuration file: which devices each machine has, and how to use them.
#include <headrace/core/error.hpp>
#include <headrace/internal/devices/device_list.hpp>

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>

namespace headrace {
namespace {

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string joined(std::initializer_list<std::string_view> words) {
    std::string text;
    for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
}

void append(std::string& name, char separator, std::string_view part) {
    name += separator;
    name += part;
}

/// Reads one file. Every error message names the file, the line and the key.
class Reader {
public:
    Reader(const std::string& path, std::string_view machine) : path_(path), machine_(machine) {
        try {
            file_ = toml::parse_file(path);
        } catch (const toml::parse_error& error) {
            // toml++ reports a file that it cannot open as a parse error without a line.
            if (!error.source().begin)
                throw Error{ErrorKind::not_found, path + ": " + std::string(error.description())};
            refuse(error.source().begin.line, error.description());
        }
    }

    [[nodiscard]] DeviceList read() const {
        allow(file_, "", {"devices", "node"});
        const toml::node* const names = file_.get("devices");
        const toml::node* const nodes = file_.get("node");
        if (names && nodes) refuse(*names, "devices", "either a list of devices or [[node]]s, not both");
        if (nodes) return of_this_machine(*nodes);
        if (!names)
            throw Error{ErrorKind::invalid_argument,
                        path_ + ": no list of devices: write for example devices = [\"cpu\", \"cuda:0\"], or "
                                "[[node]] with [[node.device]] below it"};
        return plain_names(*names);
    }

private:
    [[nodiscard]] std::string at(toml::source_index line) const {
        return path_ + ": line " + std::to_string(line);
    }
    [[noreturn]] void refuse(toml::source_index line, std::string_view why) const {
        throw Error{ErrorKind::invalid_argument, at(line) + ": " + std::string(why)};
    }
    [[noreturn]] void refuse(const toml::node& node, std::string_view key, std::string_view why) const {
        refuse(node.source().begin.line, "key " + quoted(key) + ": " + std::string(why));
    }

    /// Refuses an unknown key, because a misspelt key would otherwise be ignored silently.
    void allow(const toml::table& table, std::string_view of,
               std::initializer_list<std::string_view> known) const {
        for (const auto& [key, value] : table)
            if (std::ranges::find(known, key.str()) == known.end())
                refuse(value, key.str(),
                       (of.empty() ? "means nothing here" : "means nothing for " + std::string(of)) +
                           "; known are " + joined(known));
    }

    [[nodiscard]] std::optional<std::string> text(const toml::table& table, std::string_view key) const {
        const toml::node* const node = table.get(key);
        if (!node) return std::nullopt;
        const auto value = node->value_exact<std::string>();
        if (!value || value->empty()) refuse(*node, key, "must be a text in quotes");
        return value;
    }

    [[nodiscard]] unsigned number(const toml::node& node, std::string_view key, unsigned least) const {
        const auto value = node.value_exact<std::int64_t>();
        if (!value || *value < least || *value > std::numeric_limits<std::int32_t>::max())
            refuse(node, key, "must be a whole number, " + std::to_string(least) + " or more");
        return static_cast<unsigned>(*value);
    }

    [[nodiscard]] std::optional<unsigned> number(const toml::table& table, std::string_view key,
                                                 unsigned least = 0) const {
        const toml::node* const node = table.get(key);
        return node ? std::optional(number(*node, key, least)) : std::nullopt;
    }

    /// Reads a node or a range: numa = 1, numa = "0-1", numa = [0, 1].
    [[nodiscard]] std::optional<NumaRange> numa(const toml::table& table) const {
        const toml::node* const node = table.get("numa");
        if (!node) return std::nullopt;
        NumaRange range;
        if (const toml::array* const ends = node->as_array(); ends && ends->size() == 2) {
            range = {number(*ends->get(0), "numa", 0), number(*ends->get(1), "numa", 0)};
        } else if (const auto written = node->value_exact<std::string>()) {
            const char* const end = written->data() + written->size();
            const auto first = std::from_chars(written->data(), end, range.first);
            auto last = first;
            range.last = range.first;
            if (first.ec == std::errc{} && first.ptr != end && *first.ptr == '-')
                last = std::from_chars(first.ptr + 1, end, range.last);
            if (first.ec != std::errc{} || last.ec != std::errc{} || last.ptr != end)
                refuse(*node, "numa", "must be a NUMA node or a range of them, as in \"0-1\"");
        } else {
            range.first = range.last = number(*node, "numa", 0);
        }
        if (range.first > range.last) refuse(*node, "numa", "must begin before it ends");
        return range;
    }

    [[nodiscard]] std::optional<bool> private_copies(const toml::table& table) const {
        const auto written = text(table, "copies");
        if (!written) return std::nullopt;
        if (*written == "zero") return false;
        if (*written == "private") return true;
        refuse(*table.get("copies"), "copies",
               R"(must be "zero" (kernels work in place on host memory) or "private")");
    }

    [[nodiscard]] DeviceList plain_names(const toml::node& names) const {
        const toml::array* const list = names.as_array();
        if (!list || list->empty())
            refuse(names, "devices", list ? "is empty" : R"(must be a list, as in ["cpu", "cuda:0"])");
        DeviceList read;
        for (const toml::node& node : *list) {
            auto name = node.value_exact<std::string>();
            if (name) std::erase_if(*name, [](char c) { return c == ' ' || c == '\t'; });
            if (!name || name->empty()) refuse(node, "devices", "every entry must be a name in quotes");
            read.devices.push_back({*name, {}, at(node.source().begin.line)});
        }
        return read;
    }

    /// True if `name` equals the machine's whole name, or its part before the domain.
    [[nodiscard]] bool is_ours(std::string_view name) const {
        return name == machine_ || name == machine_.substr(0, machine_.find('.'));
    }

    [[nodiscard]] DeviceList of_this_machine(const toml::node& nodes) const {
        const toml::array* const all = nodes.as_array();
        if (!all || !all->is_array_of_tables()) refuse(nodes, "node", "write it as [[node]]");
        const toml::table *ours = nullptr, *anybodys = nullptr;
        std::string others;
        for (const toml::node& entry : *all) {
            const toml::table& node = *entry.as_table();
            allow(node, "a node", {"name", "host_numa", "device"});
            const auto name = text(node, "name");
            const toml::table*& place = name ? ours : anybodys;
            if (name) others += (others.empty() ? "" : ", ") + *name;
            if (name && !is_ours(*name)) continue;
            if (place) refuse(entry, "name", "a second node for this machine");
            place = &node;
        }
        const toml::table* const node = ours ? ours : anybodys;
        if (!node)
            refuse(nodes, "name",
                   "no node is for this machine, " + quoted(machine_) + "; there are " + others +
                       " (HEADRACE_NODE says which one to be)");
        return devices_of(*node);
    }

    [[nodiscard]] DeviceList devices_of(const toml::table& node) const {
        const toml::node* const entries = node.get("device");
        if (!entries) refuse(node, "device", "a node needs at least one [[node.device]]");
        const toml::array* const list = entries->as_array();
        if (!list || !list->is_array_of_tables()) refuse(*entries, "device", "write it as [[node.device]]");
        DeviceList read;
        read.host.numa = number(node, "host_numa");
        if (read.host.numa)
            read.where = at(node.get("host_numa")->source().begin.line) + ": key \"host_numa\"";
        for (const toml::node& entry : *list) read.devices.push_back(device(*entry.as_table()));
        return read;
    }

    [[nodiscard]] DeviceRequest device(const toml::table& entry) const {
        const auto kind = text(entry, "kind");
        if (!kind) refuse(entry, "kind", R"(is missing: "cpu", "cuda", "hip" or "opencl")");
        DeviceRequest request{*kind, {}, at(entry.source().begin.line)};
        const auto index = number(entry, "index");
        if (*kind == "cpu") {
            allow(entry, "a cpu", {"kind", "threads", "numa", "copies"});
            request.settings = {number(entry, "threads", 1), numa(entry), private_copies(entry)};
        } else if (*kind == "cuda" || *kind == "hip") {
            allow(entry, "a GPU of CUDA or HIP", {"kind", "index"});
            if (index) append(request.name, ':', std::to_string(*index));
        } else if (*kind == "opencl") {
            allow(entry, "an OpenCL device", {"kind", "platform", "index", "threads"});
            request.settings.threads = number(entry, "threads", 1);
            if (const toml::node* const platform = entry.get("platform")) { // "pocl" or a number
                append(request.name, ':',
                       platform->is_string() ? *text(entry, "platform")
                                             : std::to_string(number(*platform, "platform", 0)));
                append(request.name, '.', std::to_string(index.value_or(0)));
            } else if (index) {
                append(request.name, ':', std::to_string(*index));
            }
        } else {
            refuse(*entry.get("kind"), "kind", R"(must be "cpu", "cuda", "hip" or "opencl")");
        }
        return request;
    }

    const std::string& path_;
    const std::string_view machine_;
    toml::table file_;
};

} // namespace

DeviceList read_device_file(const std::string& path, std::string_view machine) {
    return Reader(path, machine).read();
}

} // namespace headrace
