// domains/jobs/report.cpp - see report.hpp.
#include <headrace/core/report.hpp>
#include <headrace/domains/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace headrace {

using Json = nlohmann::ordered_json;

// Found by the JSON library.
static void to_json(Json& json, const DeviceReport& device) {
    json = {
        {"id", device.id},
        {"name", device.name},
        {"kind", to_string(device.kind)},
        {"share", device.share},
        {"tasks", device.tasks},
        {"work_units", device.work_units},
        {"busy_seconds", device.busy_seconds},
        {"finished_seconds", device.finished_seconds},
        {"slowdown", device.slowdown},
        {"bytes_in", device.bytes_in},
        {"bytes_out", device.bytes_out},
        {"seeds_given", device.seeds_transferred},
        {"units_given", device.units_transferred},
        {"units_received", device.units_received},
        {"capability", device.capability},
        {"energy_joules", device.energy_joules},
        {"energy_delay_product", device.energy_delay_product},
        {"engine",
         {{"launches", device.engine.launches},
          {"units", device.engine.units},
          {"spawned", device.engine.spawned},
          {"lanes_at_work", device.engine.lanes_at_work()},
          {"lanes", device.engine.choice.lanes},
          {"groups", device.engine.choice.groups},
          {"refill_lanes", device.engine.choice.refill_lanes},
          {"inbox_units", device.engine.choice.inbox_units},
          {"bundles", device.engine.choice.bundles}}},
    };
    if (!device.reserve.empty()) json["reserve"] = device.reserve;
    if (!device.failure.empty()) json["failure"] = device.failure;
}

namespace cluster { // found in the namespace of its type

static void to_json(Json& json, const MessageCount& count) {
    json = {{"messages", count.messages}, {"bytes", count.bytes}};
}
static void to_json(Json& json, const RankTraffic& one) {
    json = {{"rank", one.rank},
            {"host", one.host},
            {"work", one.work},
            {"results", one.results},
            {"exchanges", one.exchanges},
            {"other", one.other},
            {"least_result_bytes", one.least_result_bytes}};
}

} // namespace cluster

namespace {

constexpr double much_slower = 10; // a larger factor than usual between the tasks of a job

std::string text(const Figure& figure, std::string_view unit = "") {
    return figure.value ? fmt::format("{:.3f}{}", *figure.value, unit) : "- (" + figure.why_absent + ")";
}

std::string text(const std::vector<cluster::RankTraffic>& ranks) {
    cluster::MessageCount work, results;
    std::uint64_t least = 0;
    for (const cluster::RankTraffic& one : ranks) {
        work.messages += one.work.messages;
        work.bytes += one.work.bytes;
        results.bytes += one.results.bytes;
        least += one.least_result_bytes;
    }
    return fmt::format("{} ranks so far: {} MiB of results (at least {}), {} MiB of work in {} messages",
                       ranks.size(), mebibytes(results.bytes), mebibytes(least), mebibytes(work.bytes),
                       work.messages);
}

} // namespace

EngineMetrics& EngineMetrics::operator+=(const EngineMetrics& other) {
    launches += other.launches;
    units += other.units;
    spawned += other.spawned;
    lane_turns += other.lane_turns;
    if (other.choice.lanes != 0) choice = other.choice;
    return *this;
}

DeviceReport& DeviceReport::operator+=(const DeviceReport& later) {
    capability = later.capability;
    tasks += later.tasks;
    work_units += later.work_units;
    busy_seconds += later.busy_seconds;
    slowdown = std::max(slowdown, later.slowdown);
    bytes_in += later.bytes_in;
    bytes_out += later.bytes_out;
    seeds_transferred += later.seeds_transferred;
    units_transferred += later.units_transferred;
    units_received += later.units_received;
    engine += later.engine;
    energy_joules += later.energy_joules;
    reserve = later.reserve;
    if (failure.empty()) failure = later.failure;
    return *this;
}

double EngineMetrics::lanes_at_work() const {
    return lane_turns == 0 ? 0 : static_cast<double>(units) / static_cast<double>(lane_turns);
}

void JobReport::compare_with(const std::vector<double>& single_device_seconds) {
    if (single_device_seconds.size() != devices.size() || devices.empty() || seconds <= 0) return;
    double rates = 0;
    for (const double alone : single_device_seconds) rates += 1 / alone;
    heterogeneous_speed_up = {std::ranges::min(single_device_seconds) / seconds, {}};
    heterogeneous_efficiency = {1 / seconds / rates, {}};
}

std::string JobReport::table() const {
    ReportText out(
        fmt::format("{}: {} work units in {:.3f} s, policy {}", job, work_units, seconds, policy),
        {{"share", 7}, {"tasks", 6}, {"busy [s]", 9}, {"in [MiB]", 8}, {"out", 8}, {"energy [J]", 10}});
    for (const DeviceReport& device : devices) {
        const std::optional<double> joules = device.energy_joules.value;
        out.device(device.id, device.name,
                   {fmt::format("{:.1f}%", 100 * device.share), std::to_string(device.tasks),
                    fmt::format("{:.3f}", device.busy_seconds), mebibytes(device.bytes_in),
                    mebibytes(device.bytes_out), joules ? fmt::format("{:.3f}", *joules) : "-"});
        if (const EngineChoice& choice = device.engine.choice; choice.lanes != 0)
            out.line(
                fmt::format("    {} lane groups of {}, refilled below {}, inboxes of {} units, {} bundles; "
                            "{:.1f} % of lanes at work",
                            choice.groups, choice.lanes, choice.refill_lanes, choice.inbox_units,
                            choice.bundles, 100 * device.engine.lanes_at_work()));
        if (device.seeds_transferred + device.units_transferred + device.units_received > 0)
            out.line(fmt::format("    transferred {} seeds and {} units to other devices, received {} units",
                                 device.seeds_transferred, device.units_transferred, device.units_received));
        if (device.slowdown >= much_slower)
            out.line(
                fmt::format("    a unit took it {:.0f} times as long in the end as when it was quickest: "
                            "units differ, or it slowed down",
                            device.slowdown));
        if (!device.reserve.empty()) out.line("    on standby: " + device.reserve);
        if (!device.failure.empty()) out.line("    retired: " + device.failure);
    }
    for (const LeftOut& device : left_out) out.left_out(device.id, device.why);
    if (resumed_units > 0)
        out.line(fmt::format("  resumed: an earlier run did {} further work units", resumed_units));
    out.line(fmt::format("  balance {}{}   speed-up {}   efficiency {}", text(balance),
                         gpu_over_cpu.value ? "   GPU / CPU " + text(gpu_over_cpu) : std::string{},
                         text(heterogeneous_speed_up), text(heterogeneous_efficiency)));
    out.line(
        "  energy " + text(energy_joules, " J") +
        (energy_delay_product.value ? "   energy-delay product " + text(energy_delay_product, " J s") : ""));
    if (!ranks.empty()) out.line("  " + text(ranks));
    return out.text();
}

std::string JobReport::json() const {
    Json json{{"job", job},
              {"policy", policy},
              {"seconds", seconds},
              {"work_units", work_units},
              {"devices", devices},
              {"left_out", left_out},
              {"balance", balance},
              {"gpu_over_cpu", gpu_over_cpu},
              {"heterogeneous_speed_up", heterogeneous_speed_up},
              {"heterogeneous_efficiency", heterogeneous_efficiency},
              {"energy_joules", energy_joules},
              {"energy_delay_product", energy_delay_product}};
    if (resumed_units > 0) json["resumed_units"] = resumed_units;
    if (!ranks.empty()) json["ranks"] = ranks;
    return report_json(json);
}

} // namespace headrace
