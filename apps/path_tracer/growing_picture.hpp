// apps/path_tracer/growing_picture.hpp - a picture that gets more samples pass by pass, and can be seen
// between passes.
#pragma once
#include "film_sums.hpp"
#include "job_program/job_sum.hpp"
#include "passes.hpp"
#include "render.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace path_tracer {

/// Threads   one at a time
/// Lifetime  what the domains borrow outlives it
class GrowingPicture {
public:
    /// Runs a job to its end. Errors: what went wrong with it
    using Run = std::function<headrace::JobReport(const headrace::Job&)>;

    GrowingPicture(const Frame& frame, KernelChoice kernel, const SceneDomains& scene, Run run);

    /// So many samples more of each pixel. Errors: of the job; then it has as many as before
    void add(std::uint32_t samples);

    [[nodiscard]] std::uint32_t samples() const { return samples_; } ///< of each pixel, so far
    /// Linear radiance, [height x width], the top row first; black without samples.
    [[nodiscard]] std::vector<Rgb> pixels() const;
    /// Of the jobs of all passes together.
    [[nodiscard]] const headrace::JobReport& report() const { return jobs_.total(); }
    /// The same, with the sums.
    [[nodiscard]] Rendered rendered() const;

private:
    const Frame frame_;
    const KernelChoice kernel_;
    const SceneDomains scene_;
    const Run run_;
    const headrace::Domain<Rgb> film_;
    FilmSums sums_;
    job_program::JobSum jobs_;
    std::uint32_t samples_ = 0;
};

} // namespace path_tracer
