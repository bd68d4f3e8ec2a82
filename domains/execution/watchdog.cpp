// domains/execution/watchdog.cpp - see watchdog.hpp.
#include <headrace/core/log.hpp>
#include <headrace/internal/core/compiling.hpp>
#include <headrace/internal/domains/watchdog.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

std::string what_it_does(const TaskInFlight& task) {
    if (task.launches == 0) return "it is being prepared";
    if (task.awaited > 0) return fmt::format("it waits for {} requests on its data", task.awaited);
    return fmt::format("launch {} has not ended, which began with {} work units", task.launches,
                       task.units_left);
}

void add(std::string& report, const std::string& clause) {
    if (!report.empty()) report += "; ";
    report += clause;
}

} // namespace

std::string who_waits_for_what(std::span<const ExecutionStatus> unfinished, Clock::time_point now,
                               std::chrono::nanoseconds patience) {
    const auto seconds_since = [now](Clock::time_point then) {
        return fmt::format("{:.1f} s", std::chrono::duration<double>(now - then).count());
    };
    // A task that waits for a compiler reports nothing.
    const Clock::time_point compiled = Compiling::last_sign();
    const auto is_silent = [&](Clock::time_point last_sign) {
        return now - std::max(last_sign, compiled) >= patience;
    };
    const bool any_in_flight =
        std::ranges::any_of(unfinished, [](const ExecutionStatus& job) { return !job.tasks.empty(); });

    std::string hangs, waits;
    for (const ExecutionStatus& job : unfinished) {
        const std::string who = fmt::format("job '{}'", job.job);
        const std::string how_far = fmt::format("{} of {} work units finished", job.finished, job.work_units);
        for (const TaskInFlight& task : job.tasks)
            if (is_silent(task.last_sign))
                add(hangs, fmt::format("{}, {}: task {} on {} has given no sign of life for {}: {}", who,
                                       how_far, task.work_range.text(), task.device,
                                       seconds_since(task.last_sign), what_it_does(task)));
        if (!job.started)
            add(waits, who + " waits for jobs before it");
        else if (job.tasks.empty() && job.waits_for_ranks)
            add(waits, fmt::format("{}, {}, waits for other ranks", who, how_far));
        else if (job.tasks.empty() && any_in_flight) // devices may be busy with other jobs
            add(waits, who + ", " + how_far + ", waits for a device");
        else if (job.tasks.empty() && is_silent(job.last_sign))
            add(hangs, fmt::format("{}, {}: no device has taken the rest for {}", who, how_far,
                                   seconds_since(job.last_sign)));
    }
    if (!hangs.empty() && !waits.empty()) add(hangs, waits);
    return hangs;
}

Watchdog::Watchdog(std::chrono::nanoseconds patience, Jobs unfinished, std::function<void()> on_hang)
    : patience_(patience),
      unfinished_(std::move(unfinished)),
      on_hang_(std::move(on_hang)),
      thread_([this](const std::stop_token& stop) { look(stop); }) {}

void Watchdog::look(const std::stop_token& stop) {
    const std::chrono::nanoseconds often = patience_ / 8; // the delay with which a hang is noticed
    std::chrono::nanoseconds pause = often;
    bool passes_over = false; // never two in a row
    std::unique_lock lock(mutex_);
    for (;;) {
        const auto since = Clock::now();
        never_.wait_for(lock, stop, pause, [] { return false; });
        if (stop.stop_requested()) return;
        // If this thread was delayed, the workers may have been too: they get time until the next check.
        const bool comes_late = Clock::now() - since > pause + often;
        pause = often;
        if (passes_over = comes_late && !passes_over; passes_over) continue;
        std::vector<ExecutionStatus> statuses;
        for (const auto& job : unfinished_()) statuses.push_back(job->status());
        const std::string report = who_waits_for_what(statuses, Clock::now(), patience_);
        if (report.empty()) continue;
        pause = patience_;
        log_error(report);
        if (on_hang_) on_hang_();
    }
}

} // namespace headrace
