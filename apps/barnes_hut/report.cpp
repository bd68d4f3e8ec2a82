// apps/barnes_hut/report.cpp - see report.hpp.
#include "report.hpp"
#include <headrace/core/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace barnes_hut {
namespace {

using Json = nlohmann::ordered_json;
using headrace::DeviceReport;

/// Of jobs that took so many seconds, a figure that is in inverse proportion to them. Absent if one of them
/// is.
void add_gain(headrace::Figure& to, double to_seconds, const headrace::Figure& from, double from_seconds) {
    if (to.value && from.value)
        to.value = (*to.value * to_seconds + *from.value * from_seconds) / (to_seconds + from_seconds);
    else if (to.value)
        to = from;
}

/// First device to finish / last, of the sums.
headrace::Figure balance_of(const std::vector<DeviceReport>& devices, const headrace::Figure& otherwise) {
    double first = 0, last = 0;
    unsigned at_work = 0;
    for (const DeviceReport& device : devices) {
        if (device.tasks == 0) continue;
        first = at_work == 0 ? device.finished_seconds : std::min(first, device.finished_seconds);
        last = std::max(last, device.finished_seconds);
        ++at_work;
    }
    if (at_work < 2 || last == 0) return otherwise;
    return {first / last, {}};
}

Json json_of(const Vector& v) { return Json::array({v.x, v.y, v.z}); }

Json json_of(const Totals& totals, double begin, double dt) {
    return {{"step", totals.step},
            {"time", begin + static_cast<double>(totals.step) * dt},
            {"kinetic", totals.kinetic},
            {"potential", totals.potential},
            {"total", totals.energy()},
            {"momentum", json_of(totals.momentum)},
            {"angular_momentum", json_of(totals.angular_momentum)}};
}

} // namespace

JobSum::JobSum() {
    for (headrace::Figure* const figure :
         {&total_.balance, &total_.gpu_over_cpu, &total_.heterogeneous_speed_up,
          &total_.heterogeneous_efficiency, &total_.energy_joules, &total_.energy_delay_product})
        figure->why_absent = "no forces were computed";
}

void JobSum::add(const headrace::JobReport& job) {
    if (jobs_++ == 0) {
        total_ = job;
        return;
    }
    add_gain(total_.heterogeneous_speed_up, total_.seconds, job.heterogeneous_speed_up, job.seconds);
    add_gain(total_.heterogeneous_efficiency, total_.seconds, job.heterogeneous_efficiency, job.seconds);
    total_.seconds += job.seconds;
    total_.work_units += job.work_units;
    for (const DeviceReport& device : job.devices) {
        const auto known = std::ranges::find(total_.devices, device.id, &DeviceReport::id);
        if (known == total_.devices.end())
            total_.devices.push_back(device);
        else
            (*known += device).finished_seconds += device.finished_seconds;
    }
    for (DeviceReport& device : total_.devices)
        device.share = total_.work_units == 0
                           ? 0
                           : static_cast<double>(device.work_units) / static_cast<double>(total_.work_units);
    total_.balance = balance_of(total_.devices, job.balance);
    total_.energy_joules += job.energy_joules;
    const auto delayed = [this](const headrace::Figure& joules) {
        return joules.value ? headrace::Figure{*joules.value * total_.seconds, {}} : joules;
    };
    for (DeviceReport& device : total_.devices) device.energy_delay_product = delayed(device.energy_joules);
    total_.energy_delay_product = delayed(total_.energy_joules);
}

std::string json_of(const Options& options, const Simulation& simulation, const std::vector<Totals>& history,
                    const JobSum& jobs) {
    const Settings& settings = options.settings;
    const Times& times = simulation.times();
    Json json{{"bodies", simulation.size()},
              {"kernel", name_of(settings.kernel)},
              {"order", settings.quadrupole ? "quadrupole" : "monopole"},
              {"theta", settings.theta},
              {"accuracy", settings.accuracy},
              {"softening", settings.softening},
              {"G", settings.gravity},
              {"synthetic_load", settings.load},
              {"steps", simulation.steps()},
              {"dt", options.dt}};
    json["energies"] = Json::array();
    for (const Totals& totals : history)
        json["energies"].push_back(json_of(totals, simulation.begin(), options.dt));
    const std::optional<double> drift = energy_drift(history);
    json["energy_drift"] = drift ? Json(*drift) : Json(nullptr);
    if (!options.restart.empty()) json["restarted_from"] = options.restart.string();
    json["forces_computed"] = jobs.jobs();
    json["interactions"] = {{"body_node", simulation.interactions().with_nodes},
                            {"body_body", simulation.interactions().with_bodies}};
    json["seconds_of"] = {{"tree", times.tree}, {"forces", times.forces}, {"motion", times.motion}};
    json.update(Json(jobs.total()));
    return headrace::report_json(json) + '\n';
}

std::string table_of(const Simulation& simulation, const std::vector<Totals>& history, const JobSum& jobs) {
    std::string text = fmt::format("{} bodies, {} steps\n", simulation.size(), simulation.steps());
    const auto add = std::back_inserter(text);
    for (const Totals& totals : history)
        fmt::format_to(add, "  step {:<10} energy {:.9g} (kinetic {:.9g}, potential {:.9g})\n", totals.step,
                       totals.energy(), totals.kinetic, totals.potential);
    if (const auto drift = energy_drift(history)) fmt::format_to(add, "  energy drift    {:.3g}\n", *drift);
    const Vector &p = history.back().momentum, &l = history.back().angular_momentum;
    fmt::format_to(add, "  momentum        {:.9g} {:.9g} {:.9g}, angular {:.9g} {:.9g} {:.9g}\n", p.x, p.y,
                   p.z, l.x, l.y, l.z);
    if (jobs.jobs() == 0) return text + "  no forces were computed\n";
    const double pairs = static_cast<double>(simulation.size()) * static_cast<double>(jobs.jobs());
    fmt::format_to(add, "  each body met {:.0f} nodes and {:.0f} bodies\n",
                   static_cast<double>(simulation.interactions().with_nodes) / pairs,
                   static_cast<double>(simulation.interactions().with_bodies) / pairs);
    const Times& times = simulation.times();
    fmt::format_to(add, "  trees {:.3f} s, forces {:.3f} s, motion {:.3f} s\n", times.tree, times.forces,
                   times.motion);
    return text + jobs.total().table();
}

} // namespace barnes_hut
