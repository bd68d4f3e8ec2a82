// domains/jobs/report.cpp - see report.hpp. The only unit that uses the JSON library for reports.
#include <headrace/domains/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace headrace {
namespace {

nlohmann::ordered_json to_json(const Figure& figure) {
    if (figure.value) return *figure.value;
    return {{"absent", figure.why_absent}};
}

nlohmann::ordered_json to_json(const DeviceReport& device) {
    nlohmann::ordered_json json{
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
        {"energy_joules", to_json(device.energy_joules)},
        {"energy_delay_product", to_json(device.energy_delay_product)},
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
    return json;
}

constexpr double much_slower = 10; // a larger factor than usual between the tasks of a job

std::string mebibytes(std::uint64_t bytes) {
    return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20));
}

std::string text(const Figure& figure, std::string_view unit = "") {
    return figure.value ? fmt::format("{:.3f}{}", *figure.value, unit) : "- (" + figure.why_absent + ")";
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
    std::string out =
        fmt::format("{}: {} work units in {:.3f} s, policy {}\n", job, work_units, seconds, policy);
    fmt::format_to(std::back_inserter(out), "  {:<12} {:<34} {:>7} {:>6} {:>9} {:>8} {:>8} {:>10}\n",
                   "device", "name", "share", "tasks", "busy [s]", "in [MiB]", "out", "energy [J]");
    for (const DeviceReport& device : devices) {
        fmt::format_to(std::back_inserter(out),
                       "  {:<12} {:<34.34} {:>6.1f}% {:>6} {:>9.3f} {:>8} {:>8} {:>10}\n", device.id,
                       device.name, 100 * device.share, device.tasks, device.busy_seconds,
                       mebibytes(device.bytes_in), mebibytes(device.bytes_out),
                       device.energy_joules.value ? fmt::format("{:.3f}", *device.energy_joules.value) : "-");
        if (const EngineChoice& choice = device.engine.choice; choice.lanes != 0)
            fmt::format_to(std::back_inserter(out),
                           "    {} lane groups of {}, refilled below {}, inboxes of {} units, {} bundles; "
                           "{:.1f} % of lanes at work\n",
                           choice.groups, choice.lanes, choice.refill_lanes, choice.inbox_units,
                           choice.bundles, 100 * device.engine.lanes_at_work());
        if (device.seeds_transferred + device.units_transferred + device.units_received > 0)
            fmt::format_to(std::back_inserter(out),
                           "    transferred {} seeds and {} units to other devices, received {} units\n",
                           device.seeds_transferred, device.units_transferred, device.units_received);
        if (device.slowdown >= much_slower)
            fmt::format_to(
                std::back_inserter(out),
                "    a unit took it {:.0f} times as long in the end as when it was quickest: units "
                "differ, or it slowed down\n",
                device.slowdown);
        if (!device.reserve.empty())
            fmt::format_to(std::back_inserter(out), "    on standby: {}\n", device.reserve);
        if (!device.failure.empty())
            fmt::format_to(std::back_inserter(out), "    retired: {}\n", device.failure);
    }
    for (const LeftOut& device : left_out)
        fmt::format_to(std::back_inserter(out), "  {:<12} left out: {}\n", device.id, device.why);
    fmt::format_to(std::back_inserter(out), "  balance {}{}   speed-up {}   efficiency {}\n", text(balance),
                   gpu_over_cpu.value ? "   GPU / CPU " + text(gpu_over_cpu) : std::string{},
                   text(heterogeneous_speed_up), text(heterogeneous_efficiency));
    fmt::format_to(std::back_inserter(out), "  energy {}", text(energy_joules, " J"));
    if (energy_delay_product.value)
        fmt::format_to(std::back_inserter(out), "   energy-delay product {}",
                       text(energy_delay_product, " J s"));
    out += '\n';
    return out;
}

std::string JobReport::json() const {
    nlohmann::ordered_json json{
        {"job", job}, {"policy", policy}, {"seconds", seconds}, {"work_units", work_units}};
    json["devices"] = nlohmann::ordered_json::array();
    for (const DeviceReport& device : devices) json["devices"].push_back(to_json(device));
    json["left_out"] = nlohmann::ordered_json::array();
    for (const LeftOut& device : left_out)
        json["left_out"].push_back({{"id", device.id}, {"name", device.name}, {"why", device.why}});
    json["balance"] = to_json(balance);
    json["gpu_over_cpu"] = to_json(gpu_over_cpu);
    json["heterogeneous_speed_up"] = to_json(heterogeneous_speed_up);
    json["heterogeneous_efficiency"] = to_json(heterogeneous_efficiency);
    json["energy_joules"] = to_json(energy_joules);
    json["energy_delay_product"] = to_json(energy_delay_product);
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace headrace
