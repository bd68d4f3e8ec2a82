// apps/path_tracer/report.cpp - see report.hpp.
#include "report.hpp"
#include <headrace/core/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace path_tracer {
namespace {

using Json = nlohmann::ordered_json;

/// Of paths, from one hit to the next. Only units that are segments are counted.
std::optional<std::uint64_t> segments_of(const Options& options, const headrace::JobReport& report) {
    if (options.kernel != KernelChoice::producer || !report.ranks.empty()) return std::nullopt;
    std::uint64_t segments = 0;
    for (const headrace::DeviceReport& device : report.devices) segments += device.engine.units;
    return segments;
}

struct Samples {
    std::uint32_t least, most;
    double mean;
};
Samples samples_of(const std::vector<uint32_t>& counts) {
    const auto [least, most] = std::ranges::minmax_element(counts);
    double sum = 0;
    for (const uint32_t count : counts) sum += count;
    return {*least, *most, sum / static_cast<double>(counts.size())};
}

} // namespace

SceneFigures figures_of(const Scene& scene, const PreparedScene& prepared) {
    return {.triangles = scene.triangles.size(),
            .instances = scene.shown_instances,
            .lights = prepared.light_count + (prepared.environment_columns > 0 ? 1u : 0u),
            .textures = scene.images.size()};
}

std::string json_of(const Options& options, const SceneFigures& scene, const Rendered& rendered) {
    const headrace::JobReport& report = rendered.report;
    const auto segments = segments_of(options, report);
    const Samples samples = samples_of(rendered.counts);
    Json json{{"triangles", scene.triangles},
              {"instances", scene.instances},
              {"lights", scene.lights},
              {"textures", scene.textures},
              {"segments", segments ? Json(*segments) : Json(nullptr)},
              {"segments_per_second", segments && report.seconds > 0
                                          ? Json(static_cast<double>(*segments) / report.seconds)
                                          : Json(nullptr)},
              {"samples", {{"least", samples.least}, {"most", samples.most}, {"mean", samples.mean}}},
              {"seconds_of", {{"loading", scene.loading}, {"building", scene.building}}}};
    if (rendered.reached)
        json["adaptive"] = {{"wanted_error", options.adaptive},
                            {"tiles", rendered.reached->tiles},
                            {"good_tiles", rendered.reached->good_tiles},
                            {"worst_error", rendered.reached->worst_error
                                                ? Json(*rendered.reached->worst_error)
                                                : Json(nullptr)}};
    json.update(Json(report));
    return headrace::report_json(json) + '\n';
}

std::string table_of(const Options& options, const SceneFigures& scene, const Rendered& rendered) {
    const headrace::JobReport& report = rendered.report;
    std::string text = report.table();
    text += fmt::format(
        "  {} triangles, {} instances, {} lights, {} textures: loaded in {:.2f} s, built in {:.2f} s\n",
        scene.triangles, scene.instances, scene.lights, scene.textures, scene.loading, scene.building);
    if (const auto segments = segments_of(options, report); segments && report.seconds > 0)
        text += fmt::format("  {} segments of paths, {:.1f} million a second\n", *segments,
                            static_cast<double>(*segments) / report.seconds / 1e6);
    const Samples samples = samples_of(rendered.counts);
    if (samples.least != samples.most || options.seconds > 0 || rendered.reached)
        text += fmt::format("  {} to {} samples a pixel, {:.1f} on average\n", samples.least, samples.most,
                            samples.mean);
    if (rendered.reached)
        text +=
            fmt::format("  {} of {} tiles have a relative error of {} or less; the worst has {}\n",
                        rendered.reached->good_tiles, rendered.reached->tiles, options.adaptive,
                        rendered.reached->worst_error ? fmt::format("{:.3g}", *rendered.reached->worst_error)
                                                      : "too few samples to tell");
    return text;
}

} // namespace path_tracer
