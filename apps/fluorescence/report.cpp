// apps/fluorescence/report.cpp - see report.hpp.
#include "report.hpp"
#include "program/printable.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

namespace fluorescence {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Estimate& estimate) {
    Json json{{"value", estimate.value}, {"standard_error", nullptr}};
    if (estimate.standard_error) json["standard_error"] = *estimate.standard_error;
    return json;
}

Json json_of(const std::vector<Estimate>& estimates) {
    Json json = Json::array();
    for (const Estimate& estimate : estimates) json.push_back(json_of(estimate));
    return json;
}

Json json_of(const Detected& detected) {
    Json json{
        {"packets", detected.packets}, {"part", json_of(detected.part)}, {"mean_path_per_layer", nullptr}};
    if (!detected.path_per_layer.empty()) json["mean_path_per_layer"] = detected.path_per_layer;
    return json;
}

Json detectors_of(const Problem& problem, const Totals& totals) {
    Json detectors = Json::array();
    for (std::size_t i = 0; i < problem.detectors.size(); ++i) {
        const DetectorSpec& spec = problem.detectors[i];
        Json json{{"position", {spec.x, spec.y}},
                  {"radius", spec.radius},
                  {"numerical_aperture", nullptr},
                  {"side", spec.is_below ? "below" : "above"}};
        if (std::isfinite(spec.numerical_aperture)) json["numerical_aperture"] = spec.numerical_aperture;
        json.update(json_of(totals.detectors[0][i]));
        json["fluorescence"] = json_of(totals.detectors[1][i]);
        detectors.push_back(json);
    }
    return detectors;
}

std::string line(const char* name, const Estimate& estimate) {
    char text[100];
    if (estimate.standard_error)
        std::snprintf(text, sizeof text, "  %-28s %.6f +- %.6f\n", name, estimate.value,
                      *estimate.standard_error);
    else
        std::snprintf(text, sizeof text, "  %-28s %.6f\n", name, estimate.value);
    return text;
}

} // namespace

std::string json_of(const Problem& problem, const Settings& settings, const Totals& totals,
                    const headrace::JobReport& job) {
    Json json{{"name", problem.name},
              {"photons", settings.photons},
              {"seed", settings.seed},
              {"kernel", settings.kernel == KernelChoice::consumer ? "consumer" : "producer"},
              {"grid", settings.grid == GridChoice::rz ? "rz" : "xyz"},
              {"specular", json_of(totals.specular)},
              {"Rd", json_of(totals.reflectance)},
              {"Tt", json_of(totals.transmittance)},
              {"A", json_of(totals.absorbed)},
              {"A_per_layer", json_of(totals.absorbed_per_layer)},
              {"cut_off", json_of(totals.cut_off)}};
    json["fluorescence"] = Json{{"emitted", json_of(totals.fluorescence.emitted)},
                                {"escaped_top", json_of(totals.fluorescence.escaped_top)},
                                {"escaped_bottom", json_of(totals.fluorescence.escaped_bottom)},
                                {"absorbed", json_of(totals.fluorescence.absorbed)},
                                {"absorbed_per_layer", json_of(totals.fluorescence.absorbed_per_layer)}};
    if (!problem.detectors.empty()) json["detectors"] = detectors_of(problem, totals);
    json.update(Json::parse(job.json()));
    return json.dump(2) + '\n';
}

std::string json_of(const std::vector<std::string>& runs) {
    if (runs.size() == 1) return runs.front();
    Json json{{"runs", Json::array()}};
    for (const std::string& run : runs) json["runs"].push_back(Json::parse(run));
    return json.dump(2) + '\n';
}

std::string table_of(const Problem& problem, const Settings& settings, const Totals& totals) {
    std::string text =
        program::printable(problem.name) + ": " + std::to_string(settings.photons) + " packets\n";
    text += line("specular reflectance", totals.specular);
    text += line("diffuse reflectance", totals.reflectance);
    text += line("transmittance", totals.transmittance);
    text += line("absorbed", totals.absorbed);
    if (totals.absorbed_per_layer.size() > 1)
        for (std::size_t i = 0; i < totals.absorbed_per_layer.size(); ++i)
            text += line(("  in layer " + std::to_string(i + 1)).c_str(), totals.absorbed_per_layer[i]);
    for (std::size_t i = 0; i < problem.detectors.size(); ++i)
        text += line(("detector " + std::to_string(i + 1)).c_str(), totals.detectors[0][i].part);
    const auto& fluorescence = totals.fluorescence;
    if (fluorescence.emitted.value == 0) return text;
    text += line("fluorescence emitted", fluorescence.emitted);
    text += line("  escaped above", fluorescence.escaped_top);
    text += line("  escaped below", fluorescence.escaped_bottom);
    text += line("  absorbed", fluorescence.absorbed);
    return text;
}

} // namespace fluorescence
