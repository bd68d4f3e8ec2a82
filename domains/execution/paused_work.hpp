// domains/execution/paused_work.hpp - what the launch of a task has not begun may go to other devices.
// Private to domains/.
#pragma once
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/persistent/engine.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace headrace {

/// The task of an engine on device `device`. A reference to what a launch slot has. All calls but
/// `would_be_taken` are for a paused launch.
///
/// Threads: the device's.
class PausedWork {
public:
    using Duration = std::chrono::steady_clock::duration;

    /// `task`: loses its end when that goes to others.
    PausedWork(JobExecution& job, std::size_t device, Engine& engine, WorkRange& task)
        : job_(job), device_(device), engine_(engine), task_(task) {}

    /// True if others want the task's seeds from `claimed` on, which it has not begun after `busy`.
    [[nodiscard]] bool would_be_taken(std::uint64_t claimed, Duration busy) const;
    /// Reports how far it is, by the seeds that lane groups have claimed. `is_shared`: the launch has other
    /// tasks too, which are reported when they begin.
    void report_progress(bool is_shared) const;
    /// What no lane group has begun waits until it is this job's turn again. False if there is no such work.
    [[nodiscard]] bool transfer_seeds();
    /// Transfers to other devices some of its seeds that no lane group has claimed. False if there are none,
    /// or no device for them.
    [[nodiscard]] bool share_seeds();
    /// The same with units of a producer. A task that has taken the time of a launch, `launch_time`, is
    /// expected to take another one.
    [[nodiscard]] bool share_units(std::chrono::nanoseconds launch_time);

private:
    JobExecution& job_;
    const std::size_t device_;
    Engine& engine_;
    WorkRange& task_;
};

} // namespace headrace
