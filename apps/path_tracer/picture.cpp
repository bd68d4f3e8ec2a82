// apps/path_tracer/picture.cpp - see picture.hpp.
#include "picture.hpp"
#include "commit.hpp"
#include "image.hpp"
#include "job_program/checkpoint.hpp"
#include "program/output_file.hpp"
#include "program/quiet_process.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace path_tracer {

void Picture::write(std::span<const RgbSum> sums, std::span<const uint32_t> counts) const {
    if (program::is_quiet()) return; // another rank writes
    std::vector<Rgb> pixels(sums.size());
    const double exposure = std::exp2(double{options_.exposure});
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        if (counts[i] == 0) continue;
        const double factor = exposure / counts[i];
        pixels[i] = {static_cast<float>(sums[i].r * factor), static_cast<float>(sums[i].g * factor),
                     static_cast<float>(sums[i].b * factor)};
    }
    map_tones(options_.tone_map, pixels);
    const auto [least, most] = std::ranges::minmax(counts);
    const std::string samples =
        least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
    const ImageExtras extras{first_hits_,
                             {{"software", std::string("headrace-path-tracer ") + HEADRACE_VERSION},
                              {"commit", commit},
                              {"command", options_.command},
                              {"samples", samples}}};
    program::write_whole(
        options_.out, encode_image(image_format(options_.out), frame_.width, frame_.height, pixels, extras));
    was_written_ = true;
}

std::vector<FirstHit> find_first_hits(headrace::Runtime& runtime, const Options& options, const Frame& frame,
                                      const Placement& placement, const SceneDomains& scene) {
    if (image_format(options.out) != ImageFormat::exr) return {};
    constexpr uint32_t enough = 16; // edges are smooth then
    const uint32_t samples = std::min(options.samples, enough);
    const headrace::Domain<FirstHit> hits("first hits", {frame.height, frame.width});
    static_cast<void>(
        job_program::run_job(runtime, first_hits_job(frame, samples, scene, hits), {}, {}, false));
    std::vector<FirstHit> means(hits.gather().begin(), hits.gather().end());
    const float share = 1 / static_cast<float>(samples);
    for (FirstHit& mean : means) {
        mean.albedo = mean.albedo * share;
        mean.normal = mean.normal * share;
        mean.distance =
            mean.hits > 0 ? static_cast<float>(double{mean.distance} / (double{mean.hits} * placement.scale))
                          : std::numeric_limits<float>::infinity();
    }
    return means;
}

} // namespace path_tracer
