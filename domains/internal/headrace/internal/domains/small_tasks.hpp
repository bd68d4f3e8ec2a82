// internal/domains/small_tasks.hpp - which tasks of a job are injected into a running launch, and how many
// of them a device holds. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/internal/domains/prefetch_window.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace headrace {

inline constexpr std::chrono::microseconds look_period{
    100}; // at what a launch has begun, while tasks are injected into it

/// What a launch slot knows of its job's tasks. Threads: one.
class HEADRACE_EXPORT SmallTasks {
public:
    using Clock = std::chrono::steady_clock;

    /// A job begins. If the speed of the device is known from earlier jobs, the first launch need not find
    /// out whether tasks are small, nor how many of them should be held. If there are only a few tasks, each
    /// has a launch of its own.
    void expect(const JobExecution& job, std::size_t device, const WorkRange& first);
    /// So many tasks with so many work units took `took`. Some of them may have lost their ends to other
    /// devices, so what counts is the time of a unit. `lanes`: of a consumer's engine; 0: others.
    void learn(std::uint64_t tasks, std::uint64_t units, std::chrono::nanoseconds took, std::uint64_t lanes);
    /// The next task is not small. From a launch with injected tasks nothing can come back.
    void expect_none() noexcept { short_units_ = 0; }
    /// Tasks of the job have kernels that differ: none is injected.
    void note_that_kernels_differ() noexcept { kernels_differ_ = true; }

    /// Each task of the work range is short, or has hardly anything for the lanes to do. What is injected
    /// does not come back, neither for other jobs nor for other devices, so only little is injected where
    /// other devices take part.
    [[nodiscard]] bool may_inject(const JobExecution& job, const WorkRange& work_range) const;
    /// How many tasks the slot should hold that have not begun.
    [[nodiscard]] std::uint64_t wanted() const noexcept;
    [[nodiscard]] bool can_grow() const noexcept { return window_.can_grow(); }
    /// The launch has begun more than half of what is held. `alone`: the job has no other device.
    void grow(bool alone, bool is_cpu, Clock::time_point now) noexcept;
    /// The launch has begun all that it was given.
    void note_starving(Clock::time_point now) noexcept;
    /// The launch had not enough work a moment ago: a sleep would take longer than what it has.
    [[nodiscard]] bool is_hurried(Clock::time_point now) const noexcept { return now < look_closely_until_; }
    /// How many tasks may be made one.
    [[nodiscard]] std::uint64_t made_at_once() const noexcept { return window_.made_at_once(); }

private:
    double short_units_ = 0; ///< tasks of no more units are short, as far as known
    bool kernels_differ_ = false;
    PrefetchWindow window_;                               ///< so many tasks should be held
    std::uint64_t largest_window_ = PrefetchWindow::most; ///< but no more: they are long
    Clock::time_point look_closely_until_;                ///< the launch had not enough tasks a moment ago
};

} // namespace headrace
