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

std::string json_of(const Options& options, const Simulation& simulation, const std::vector<Totals>& history,
                    const job_program::JobSum& jobs) {
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

std::string table_of(const Simulation& simulation, const std::vector<Totals>& history,
                     const job_program::JobSum& jobs) {
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
