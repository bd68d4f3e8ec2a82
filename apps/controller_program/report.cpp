// apps/controller_program/report.cpp - see report.hpp. The one unit that sees the JSON library.
#include "controller_program/report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace controller_program {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const DevicePart& device) {
    return {{"id", device.id},
            {"name", device.name},
            {"technology", device.technology},
            {"kind", headrace::to_string(device.kind)},
            {"busy_seconds", device.busy_seconds},
            {"requests", device.requests},
            {"bytes_in", device.bytes_in},
            {"bytes_out", device.bytes_out}};
}

Json to_json(const UnitPart& unit) {
    return {{"device", unit.device},
            {"name", unit.name},
            {"requests", unit.requests},
            {"busy_seconds", unit.busy_seconds}};
}

__attribute__((format(printf, 1, 2))) std::string line(const char* format, ...) {
    char text[256];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

} // namespace

void Report::set(const std::string& name, Value value) {
    const auto same = std::ranges::find(fields, name, &std::pair<std::string, Value>::first);
    if (same == fields.end())
        fields.emplace_back(name, std::move(value));
    else
        same->second = std::move(value);
}

const UnitPart* Report::bottleneck() const {
    const auto slowest = std::ranges::max_element(units, {}, &UnitPart::busy_seconds);
    return slowest == units.end() || slowest->busy_seconds <= 0 ? nullptr : &*slowest;
}

double Report::bottleneck_share() const {
    const UnitPart* const slowest = bottleneck();
    return slowest == nullptr || seconds <= 0 ? 0 : slowest->busy_seconds / seconds;
}

std::string Report::json() const {
    Json json{{"program", program}, {"mode", asynchronous ? "async" : "sync"}, {"seconds", seconds}};
    for (const auto& [name, value] : fields)
        std::visit([&json, &name = name](const auto& held) { json[name] = held; }, value);
    json["devices"] = Json::array();
    for (const DevicePart& device : devices) json["devices"].push_back(to_json(device));
    json["left_out"] = Json::array();
    for (const headrace::LeftOut& device : left_out)
        json["left_out"].push_back({{"id", device.id}, {"name", device.name}, {"why", device.why}});
    json["units"] = Json::array();
    for (const UnitPart& unit : units) json["units"].push_back(to_json(unit));
    if (const UnitPart* slowest = bottleneck())
        json["bottleneck"] = {
            {"device", slowest->device}, {"name", slowest->name}, {"share", bottleneck_share()}};
    return json.dump(2) + "\n";
}

std::string Report::table() const {
    std::string out = line("%s: %.3f s, %s\n", program.c_str(), seconds, asynchronous ? "async" : "sync");
    out += line("  %-12s %-34s %9s %9s %10s %10s\n", "device", "name", "requests", "busy [s]", "in [MiB]",
                "out [MiB]");
    for (const DevicePart& device : devices)
        out += line("  %-12s %-34.34s %9llu %9.3f %10.1f %10.1f\n", device.id.c_str(), device.name.c_str(),
                    static_cast<unsigned long long>(device.requests), device.busy_seconds,
                    mebibytes(device.bytes_in), mebibytes(device.bytes_out));
    for (const headrace::LeftOut& device : left_out)
        out += line("  %-12s left out: ", device.id.c_str()) + device.why + "\n"; // which may be long
    if (const UnitPart* slowest = bottleneck())
        out += line("  busiest: %s of %s, %.1f %% of the time\n", slowest->name.c_str(),
                    slowest->device.c_str(), 100 * bottleneck_share());
    for (const auto& [name, value] : fields)
        if (!std::holds_alternative<std::vector<double>>(value)) // one number for each step is for the file
            out += "  " + name + " " + std::visit([](const auto& held) { return Json(held).dump(); }, value) +
                   "\n";
    return out;
}

} // namespace controller_program
