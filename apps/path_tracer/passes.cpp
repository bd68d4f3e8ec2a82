// apps/path_tracer/passes.cpp - see passes.hpp.
#include "passes.hpp"
#include "image_order.h"
#include "job_program/checkpoint.hpp"
#include "job_program/job_sum.hpp"
#include <headrace/core/log.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace path_tracer {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
}

/// Writes the picture as it grows, if that is wanted. One that cannot be written now may be the next time.
class Saver {
public:
    Saver(const Options& options, const Picture& picture) : every_(options.save_every), picture_(picture) {}

    [[nodiscard]] bool is_wanted() const { return every_ > 0; }
    [[nodiscard]] double every() const { return every_; }
    /// Gets sums and counts only if it is time.
    template <class Sums, class Counts>
    void look(const Sums& sums, const Counts& counts) {
        if (!is_wanted() || seconds_since(last_) < every_) return;
        try {
            picture_.write(sums(), counts());
        } catch (const headrace::Error& error) {
            if (error.kind() != headrace::ErrorKind::io) throw;
            if (!std::exchange(has_failed_, true)) headrace::log_warning(error.message());
        }
        last_ = Clock::now();
    }

private:
    double every_;
    const Picture& picture_;
    bool has_failed_ = false;
    Clock::time_point last_ = Clock::now();
};

/// Watches a job that adds to a film: takes the film along before floats go astray, and saves the picture.
///
/// `counts_with(paths)`: samples of each pixel when so many paths of the job are done
template <class Counts>
job_program::Watch watch_film(FilmSums& sums, Saver& saver, std::uint64_t pixels, const Counts& counts_with) {
    job_program::Watch watch;
    if (saver.is_wanted()) watch.every = saver.every();
    watch.most_units = most_film_samples * pixels;
    watch.look = [&sums, &saver, counts_with](std::uint64_t paths) {
        sums.take_film();
        saver.look([&] { return sums.taken(); }, [&] { return counts_with(paths); });
    };
    return watch;
}

/// Samples until noise is low enough everywhere, or there is no time left. All ranks of a cluster make the
/// same rounds: they have the same sums, and rank 0 says when time is up.
Rendered render_adaptively(headrace::Runtime& runtime, const Options& options, Frame frame,
                           const SceneDomains& scene, const headrace::Domain<Rgb>& film,
                           const Picture& picture) {
    AdaptiveSampling sampling(frame.width, frame.height, options.adaptive, options.samples);
    headrace::Domain<uint32_t> chosen("chosen pixels", {film.size()});
    job_program::JobSum jobs("nothing was rendered");
    FilmSums sums(film);
    Saver saver(options, picture);
    const Clock::time_point begin = Clock::now();
    while (!sampling.pixels().empty()) {
        frame.first_sample = sampling.samples();
        frame.chosen = static_cast<uint32_t>(sampling.pixels().size());
        std::ranges::copy(sampling.pixels(), chosen.fill().begin());
        job_program::Watch watch = watch_film(
            sums, saver, frame.chosen, [&](std::uint64_t paths) { return sampling.counts_with(paths); });
        if (options.seconds > 0) {
            constexpr double least = 1e-3; // one epoch takes place in any case
            watch.time_limit = std::max(options.seconds - seconds_since(begin), least);
            if (sampling.samples() == 0) watch.least_units = frame.chosen;
        }
        const headrace::Job job =
            render_job(options.kernel, frame, sampling.next_samples(), scene, chosen, film);
        const headrace::JobReport report =
            job_program::run_job(runtime, job, {}, {}, options.shows_progress(), watch);
        jobs.add(report);
        sampling.add_round(sums.taken(), report.work_units);
    }
    return {jobs.total(),
            {sums.taken().begin(), sums.taken().end()},
            {sampling.counts().begin(), sampling.counts().end()},
            sampling.reached()};
}

} // namespace

Rendered render(headrace::Runtime& runtime, const Options& options, const Frame& frame,
                const SceneDomains& scene, const headrace::Domain<Rgb>& film, const Picture& picture,
                const std::string& identity) {
    if (options.adaptive > 0) return render_adaptively(runtime, options, frame, scene, film, picture);
    const headrace::Job job = render_job(options.kernel, frame, options.samples, scene, film);
    FilmSums sums(film);
    Saver saver(options, picture);
    const auto counts = [&](std::uint64_t paths) { return counts_after(frame, paths); };
    const bool is_stored = options.checkpoints.are_given(); // the film is what a checkpoint has
    job_program::Watch watch;
    if (is_stored && saver.is_wanted()) {
        watch.every = saver.every();
        watch.look = [&](std::uint64_t paths) {
            saver.look([&] { return sums.with_film(); }, [&] { return counts(paths); });
        };
    } else if (!is_stored &&
               (saver.is_wanted() || options.seconds > 0 || options.samples > most_film_samples)) {
        watch = watch_film(sums, saver, film.size(), counts);
    }
    watch.time_limit = options.seconds;
    watch.least_units = film.size();
    if (is_stored && options.samples > most_film_samples && !options.quiet)
        headrace::log_warning(
            "--checkpoint: sums of more than " + std::to_string(most_film_samples) +
            " samples a pixel are floats in a checkpoint; at 65536 they may be off by 0.4 %");
    Rendered rendered{
        job_program::run_job(runtime, job, options.checkpoints, identity, options.shows_progress(), watch),
        sums.with_film(),
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
