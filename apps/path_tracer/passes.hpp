// apps/path_tracer/passes.hpp - how the samples of a picture come together: all of them, as many as there is
// time for, or where there is noise; and how the picture is written.
#pragma once
#include "adaptive.hpp"
#include "options.hpp"
#include "render.hpp"
#include <headrace/headrace.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace path_tracer {

/// What was rendered; the sums are in the film.
struct Rendered {
    headrace::JobReport report;
    std::vector<uint32_t> counts; ///< samples of each pixel
    std::optional<AdaptiveSampling::Reached> reached{};
};

/// Renders into a film of zeros as the options say, and writes the picture as it grows if they do.
///
/// `identity`: of a checkpoint
/// Errors  those of job_program::run_job, and of writing
[[nodiscard]] Rendered render(headrace::Runtime& runtime, const Options& options, const Frame& frame,
                              const SceneDomains& scene, const headrace::Domain<Rgb>& film,
                              const std::string& identity);

/// Samples of each pixel when so many paths of a picture are done, in the order of their indices.
[[nodiscard]] std::vector<uint32_t> counts_after(const Frame& frame, std::uint64_t paths);

/// Writes the picture, exposed and with its tones. A pixel without samples is black.
void write_picture(const Options& options, const Frame& frame, std::span<const Rgb> sums,
                   std::span<const uint32_t> counts);

} // namespace path_tracer
