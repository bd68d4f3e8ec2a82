// domains/execution/small_tasks.cpp - see small_tasks.hpp.
#include <headrace/internal/domains/small_tasks.hpp>

#include <algorithm>

namespace headrace {
namespace {

constexpr std::chrono::milliseconds short_task{5};        // longer ones do not notice what a launch costs
constexpr std::chrono::microseconds very_short_task{500}; // to launch it costs a tenth of that
constexpr std::uint64_t several_tasks = 8, many_tasks = 64;
constexpr auto still_growing = 5 * look_period; // since it last did: what is held may not last a sleep

} // namespace

void SmallTasks::expect(const JobExecution& job, std::size_t device, const WorkRange& first) {
    const auto seconds = job.forecast().expected_seconds(device, first);
    const std::chrono::duration<double> expected(seconds.value_or(0));
    const bool many = first.work_units() <= job.job().work_units() / several_tasks;
    const bool are_small = many && seconds && expected < very_short_task;
    short_units_ = are_small ? static_cast<double>(first.work_units()) : 0;
    kernels_differ_ = false;
    window_ = are_small ? PrefetchWindow(expected, !job.participants().are_several()) : PrefetchWindow();
    largest_window_ = PrefetchWindow::most;
}

void SmallTasks::learn(std::uint64_t tasks, std::uint64_t units, std::chrono::nanoseconds took,
                       std::uint64_t lanes) {
    const auto all = static_cast<double>(units);
    took = std::max(took, std::chrono::nanoseconds(1));
    if (took < short_task * tasks) {
        largest_window_ = PrefetchWindow::most;
        short_units_ = all * (std::chrono::duration<double>(short_task) / took);
    } else {
        // So many fill the lanes. That is not known of a producer: many more units may spring from its seeds.
        largest_window_ = std::max<std::uint64_t>(lanes * tasks / std::max<std::uint64_t>(units, 1), 1);
        short_units_ = largest_window_ >= 2 ? all / static_cast<double>(tasks) : 0;
    }
}

bool SmallTasks::may_inject(const JobExecution& job, const WorkRange& work_range) const {
    const std::uint64_t tasks = std::max<std::uint64_t>(work_range.tasks, 1);
    const bool is_small =
        static_cast<double>(work_range.work_units()) <= short_units_ * static_cast<double>(tasks);
    if (kernels_differ_ || !is_small) return false;
    return !job.participants().are_several() ||
           work_range.work_units() / tasks <= job.job().work_units() / many_tasks;
}

void SmallTasks::grow(bool alone, bool is_cpu, Clock::time_point now) noexcept {
    window_.grow(alone);
    if (!is_cpu) look_closely_until_ = now + still_growing;
}

void SmallTasks::note_starving(Clock::time_point now) noexcept {
    look_closely_until_ = std::max(look_closely_until_, now + look_period);
}

std::uint64_t SmallTasks::wanted() const noexcept { return std::min(window_.tasks(), largest_window_); }

} // namespace headrace
