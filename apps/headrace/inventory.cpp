// apps/headrace/inventory.cpp - see inventory.hpp. The one unit that sees the JSON library.
#include "inventory.hpp"
#include "commands.hpp"

#include <headrace/core/report.hpp>
#include <headrace/devices/energy/meter_of.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <iterator>

namespace headrace_program {

using Json = nlohmann::ordered_json;

// Found by the JSON library.
static void to_json(Json& json, const DeviceEntry& device) {
    const headrace::DeviceInfo& info = device.info;
    json = {{"id", info.id},
            {"name", info.name},
            {"technology", info.technology},
            {"architecture", info.architecture},
            {"driver", info.driver},
            {"physical_id", info.physical_id},
            {"kind", headrace::to_string(info.kind)},
            {"memory", info.memory},
            {"free_memory", device.free_memory},
            {"largest_allocation", info.largest_allocation},
            {"compute_units", info.compute_units},
            {"lane_group", info.lane_group},
            {"peak_gflops", info.peak_gflops},
            {"shares_host_memory", info.shares_host_memory},
            {"hears_host", info.fine_grained_host_coherence},
            {"reaches", device.reaches},
            {"energy_meter", device.energy_meter.empty() ? Json{{"absent", device.why_no_meter}}
                                                         : Json(device.energy_meter)}};
}

namespace {

std::string gibibytes(headrace::Bytes bytes) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string age(std::chrono::seconds seconds) {
    const double hours = static_cast<double>(seconds.count()) / 3600;
    return hours < 48 ? fmt::format("{:.1f} h", hours) : fmt::format("{:.0f} days", hours / 24);
}

Json to_json(const headrace::Calibrations::Entry& entry) {
    return {{"device", entry.device},
            {"driver", entry.driver},
            {"kernel", entry.kernel},
            {"work_units", entry.work_units},
            {"bytes", entry.bytes},
            {entry.whole ? "seconds" : "units_per_second", entry.median()},
            {"spread", entry.spread()},
            {"measurements", entry.measurements.size()},
            {"age_seconds", entry.age().count()}};
}

} // namespace

std::string calibrations_table(const std::vector<headrace::Calibrations::Entry>& entries) {
    if (entries.empty())
        return "calibrations: none; jobs measure for the next ones, or: headrace calibrate\n";
    std::string out = fmt::format("calibrations:\n  {:<30} {:<30} {:>12} {:>20} {:>8} {:>9}\n", "device",
                                  "kernel", "work units", "median", "spread", "age");
    for (const auto& entry : entries)
        fmt::format_to(std::back_inserter(out), "  {:<30.30} {:<30.30} {:>12} {:>20} {:>6.0f} % {:>9}\n",
                       entry.device, entry.kernel, entry.work_units,
                       entry.whole ? fmt::format("{:.4g} s a job", entry.median())
                                   : fmt::format("{:.4g} units/s", entry.median()),
                       100 * entry.spread(), age(entry.age()));
    return out;
}

Inventory take_inventory(const headrace::DeviceSelection& selection) {
    Inventory all;
    all.left_out = selection.left_out;
    all.calibrations = headrace::Calibrations().entries();
    for (const auto& device : selection.devices) {
        DeviceEntry& entry = all.devices.emplace_back();
        entry.info = device->info();
        entry.free_memory = device->free_memory();
        for (const auto& other : selection.devices)
            if (other != device && device->reaches(*other)) entry.reaches.push_back(other->info().id);
        const auto meter = headrace::energy_meter_of(entry.info);
        if (const headrace::Figure joules = meter->joules(); joules.value)
            entry.energy_meter = meter->name();
        else
            entry.why_no_meter = joules.why_absent;
    }
    return all;
}

std::string Inventory::table() const {
    std::string out;
    const auto line = [&out](std::string_view what, std::string_view text) {
        fmt::format_to(std::back_inserter(out), "  {:<14} {}\n", what, text);
    };
    for (const DeviceEntry& device : devices) {
        const headrace::DeviceInfo& info = device.info;
        fmt::format_to(std::back_inserter(out), "{}: {}\n", info.id, info.name);
        line("technology", info.technology + (info.architecture.empty() ? "" : ", " + info.architecture));
        line("driver", info.driver);
        line("hardware", info.physical_id == headrace::to_string(info.kind)
                             ? info.physical_id
                             : fmt::format("{} at {}", headrace::to_string(info.kind), info.physical_id));
        line("memory", fmt::format("{}, {} free, {} at once", gibibytes(info.memory),
                                   gibibytes(device.free_memory), gibibytes(info.largest_allocation)));
        line("compute units", fmt::format("{}, lane groups of {}", info.compute_units, info.lane_group));
        line("peak", fmt::format("{:.0f} GFLOP/s in single precision", info.peak_gflops));
        line("host",
             fmt::format("{}; {}",
                         info.shares_host_memory ? "kernels work in place on its memory"
                                                 : "data is copied to and from its memory",
                         info.fine_grained_host_coherence ? "injects seeds into kernels while they run"
                                                          : "cannot speak to kernels while they run"));
        if (devices.size() > 1)
            line("reaches", device.reaches.empty() ? "no other device: copies pass by the host"
                                                   : fmt::format("{}", fmt::join(device.reaches, ", ")));
        line("energy", device.energy_meter.empty() ? "not known: " + device.why_no_meter
                                                   : "counted by " + device.energy_meter);
    }
    for (const headrace::LeftOut& device : left_out)
        fmt::format_to(std::back_inserter(out), "{}{}: left out: {}\n", device.id,
                       device.name.empty() ? "" : " (" + device.name + ")", device.why);
    out += calibrations_table(calibrations);
    return out;
}

std::string Inventory::json() const {
    Json known = Json::array();
    for (const auto& entry : calibrations) known.push_back(to_json(entry));
    const Json json{{"devices", devices}, {"left_out", left_out}, {"calibrations", known}};
    return headrace::report_json(json) + "\n";
}

} // namespace headrace_program
