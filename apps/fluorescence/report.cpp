// apps/fluorescence/report.cpp - see report.hpp.
#include "report.hpp"
#include "program/printable.hpp"
#include <headrace/core/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace fluorescence {

using Json = nlohmann::ordered_json;

// Found by the JSON library.
static void to_json(Json& json, const Estimate& estimate) {
    const auto& error = estimate.standard_error;
    json = {{"value", estimate.value}, {"standard_error", error ? Json(*error) : Json()}};
}

static void to_json(Json& json, const Detected& detected) {
    const auto& paths = detected.path_per_layer;
    json = {{"packets", detected.packets},
            {"part", detected.part},
            {"mean_path_per_layer", paths.empty() ? Json() : Json(paths)}};
}

namespace {

Json detectors_of(const Problem& problem, const Totals& totals) {
    Json detectors = Json::array();
    for (std::size_t i = 0; i < problem.detectors.size(); ++i) {
        const DetectorSpec& spec = problem.detectors[i];
        Json json{{"position", {spec.x, spec.y}},
                  {"radius", spec.radius},
                  {"numerical_aperture", spec.numerical_aperture}, // infinite: null
                  {"side", spec.is_below ? "below" : "above"}};
        json.update(Json(totals.detectors[0][i]));
        json["fluorescence"] = totals.detectors[1][i];
        detectors.push_back(json);
    }
    return detectors;
}

std::string line(std::string_view name, const Estimate& estimate) {
    return fmt::format("  {:<28} {:.6f}", name, estimate.value) +
           (estimate.standard_error ? fmt::format(" +- {:.6f}\n", *estimate.standard_error) : "\n");
}

} // namespace

std::string json_of(const Problem& problem, const Settings& settings, const Totals& totals,
                    const headrace::JobReport& job) {
    Json json{{"name", problem.name},
              {"photons", settings.photons},
              {"seed", settings.seed},
              {"kernel", settings.kernel == KernelChoice::consumer ? "consumer" : "producer"},
              {"grid", settings.grid == GridChoice::rz ? "rz" : "xyz"},
              {"specular", totals.specular},
              {"Rd", totals.reflectance},
              {"Tt", totals.transmittance},
              {"A", totals.absorbed},
              {"A_per_layer", totals.absorbed_per_layer},
              {"cut_off", totals.cut_off}};
    json["fluorescence"] = Json{{"emitted", totals.fluorescence.emitted},
                                {"escaped_top", totals.fluorescence.escaped_top},
                                {"escaped_bottom", totals.fluorescence.escaped_bottom},
                                {"absorbed", totals.fluorescence.absorbed},
                                {"absorbed_per_layer", totals.fluorescence.absorbed_per_layer}};
    if (!problem.detectors.empty()) json["detectors"] = detectors_of(problem, totals);
    json.update(Json(job));
    return headrace::report_json(json) + '\n';
}

std::string json_of(const std::vector<std::string>& runs) {
    if (runs.size() == 1) return runs.front();
    Json json{{"runs", Json::array()}};
    for (const std::string& run : runs) json["runs"].push_back(Json::parse(run));
    return headrace::report_json(json) + '\n';
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
