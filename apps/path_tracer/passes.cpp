// apps/path_tracer/passes.cpp - see passes.hpp.
#include "passes.hpp"
#include "image_order.h"
#include "job_program/checkpoint.hpp"
#include "job_program/job_sum.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <chrono>

namespace path_tracer {
namespace {

using Clock = std::chrono::steady_clock;

/// Samples until noise is low enough everywhere, or there is no time left. All ranks of a cluster make the
/// same rounds: they have the same sums, and rank 0 says when time is up.
Rendered render_adaptively(headrace::Runtime& runtime, const Options& options, Frame frame,
                           const SceneDomains& scene, const headrace::Domain<Rgb>& film,
                           const Picture& picture) {
    AdaptiveSampling sampling(frame.width, frame.height, options.adaptive, options.samples);
    headrace::Domain<uint32_t> chosen("chosen pixels", {film.size()});
    job_program::JobSum jobs("nothing was rendered");
    const Clock::time_point begin = Clock::now();
    Clock::time_point last_saved = begin;
    const auto seconds_since = [](Clock::time_point then) {
        return std::chrono::duration<double>(Clock::now() - then).count();
    };
    while (!sampling.pixels().empty()) {
        frame.first_sample = sampling.samples();
        frame.chosen = static_cast<uint32_t>(sampling.pixels().size());
        std::ranges::copy(sampling.pixels(), chosen.fill().begin());
        job_program::Watch watch;
        if (options.seconds > 0) {
            constexpr double least = 1e-3; // one epoch takes place in any case
            watch.time_limit = std::max(options.seconds - seconds_since(begin), least);
        }
        const headrace::Job job =
            render_job(options.kernel, frame, sampling.next_samples(), scene, chosen, film);
        const headrace::JobReport report =
            job_program::run_job(runtime, job, {}, {}, options.shows_progress(), watch);
        jobs.add(report);
        sampling.add_round(film.gather(), report.work_units);
        if (options.save_every > 0 && seconds_since(last_saved) >= options.save_every) {
            picture.write(film.gather(), sampling.counts());
            last_saved = Clock::now();
        }
    }
    return {jobs.total(), {sampling.counts().begin(), sampling.counts().end()}, sampling.reached()};
}

} // namespace

Rendered render(headrace::Runtime& runtime, const Options& options, const Frame& frame,
                const SceneDomains& scene, const headrace::Domain<Rgb>& film, const Picture& picture,
                const std::string& identity) {
    if (options.adaptive > 0) return render_adaptively(runtime, options, frame, scene, film, picture);
    const headrace::Job job = render_job(options.kernel, frame, options.samples, scene, film);
    job_program::Watch watch;
    watch.time_limit = options.seconds;
    watch.every = options.save_every;
    watch.look = [&](std::uint64_t paths) { picture.write(film.gather(), counts_after(frame, paths)); };
    Rendered rendered{
        job_program::run_job(runtime, job, options.checkpoints, identity, options.shows_progress(), watch),
        {}};
    rendered.counts = counts_after(frame, rendered.report.work_units + rendered.report.resumed_units);
    return rendered;
}

std::vector<uint32_t> counts_after(const Frame& frame, std::uint64_t paths) {
    std::vector<uint32_t> counts(std::size_t{frame.width} * frame.height);
    const std::uint64_t whole = paths / counts.size();
    std::ranges::fill(counts, static_cast<uint32_t>(whole));
    for (std::uint64_t index = whole * counts.size(); index < paths; ++index) {
        uint32_t pixel, key, sample;
        place_path(&frame, headrace::View<const uint32_t>{}, index, &pixel, &key, &sample);
        ++counts[pixel];
    }
    return counts;
}

} // namespace path_tracer
