// apps/path_tracer/passes.hpp - how the samples of a picture come together: all of them, as many as there is
// time for, or where there is noise.
#pragma once
#include "adaptive.hpp"
#include "options.hpp"
#include "picture.hpp"
#include "render.hpp"
#include <headrace/headrace.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace path_tracer {

/// What was rendered.
struct Rendered {
    headrace::JobReport report;
    std::vector<RgbSum> sums;     ///< of all samples of each pixel
    std::vector<uint32_t> counts; ///< samples of each pixel
    std::optional<AdaptiveSampling::Reached> reached{};
};

/// Renders into a film of zeros as the options say, and writes `picture` as it grows if they do.
///
/// `identity`: of a checkpoint
/// Errors  those of job_program::run_job, and of writing
[[nodiscard]] Rendered render(headrace::Runtime& runtime, const Options& options, const Frame& frame,
                              const SceneDomains& scene, const headrace::Domain<Rgb>& film,
                              const Picture& picture, const std::string& identity);

/// Samples of each pixel when so many paths of a picture are done, in the order of their indices.
[[nodiscard]] std::vector<uint32_t> counts_after(const Frame& frame, std::uint64_t paths);

} // namespace path_tracer
