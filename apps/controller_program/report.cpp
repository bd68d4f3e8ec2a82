// apps/controller_program/report.cpp - see report.hpp. The one unit that sees the JSON library.
#include "controller_program/report.hpp"
#include <headrace/core/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace controller_program {

using Json = nlohmann::ordered_json;

// Found by the JSON library.
static void to_json(Json& json, const DevicePart& device) {
    json = {{"id", device.id},
            {"name", device.name},
            {"technology", device.technology},
            {"kind", headrace::to_string(device.kind)},
            {"busy_seconds", device.busy_seconds},
            {"requests", device.requests},
            {"bytes_in", device.bytes_in},
            {"bytes_out", device.bytes_out}};
}

static void to_json(Json& json, const UnitPart& unit) {
    json = {{"device", unit.device},
            {"name", unit.name},
            {"requests", unit.requests},
            {"busy_seconds", unit.busy_seconds}};
}

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
    json.update({{"devices", devices}, {"left_out", left_out}, {"units", units}});
    if (const UnitPart* slowest = bottleneck())
        json["bottleneck"] = {
            {"device", slowest->device}, {"name", slowest->name}, {"share", bottleneck_share()}};
    return headrace::report_json(json);
}

std::string Report::table() const {
    headrace::ReportText out(
        fmt::format("{}: {:.3f} s, {}", program, seconds, asynchronous ? "async" : "sync"),
        {{"requests", 9}, {"busy [s]", 9}, {"in [MiB]", 10}, {"out [MiB]", 10}});
    for (const DevicePart& device : devices)
        out.device(device.id, device.name,
                   {std::to_string(device.requests), fmt::format("{:.3f}", device.busy_seconds),
                    headrace::mebibytes(device.bytes_in), headrace::mebibytes(device.bytes_out)});
    for (const headrace::LeftOut& device : left_out) out.left_out(device.id, device.why);
    if (const UnitPart* slowest = bottleneck())
        out.line(fmt::format("  busiest: {} of {}, {:.1f} % of the time", slowest->name, slowest->device,
                             100 * bottleneck_share()));
    for (const auto& [name, value] : fields)
        if (!std::holds_alternative<std::vector<double>>(value)) // one number for each step is for the file
            out.line("  " + name + " " +
                     std::visit([](const auto& held) { return Json(held).dump(); }, value));
    return out.text();
}

} // namespace controller_program
