// internal/domains/job_execution.hpp - a job from its submission to its end. Internal to domains/: programs
// see it as JobHandle.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/trace.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/domains/report.hpp>
#include <headrace/internal/domains/cluster/local_work.hpp>
#include <headrace/internal/domains/job_forecast.hpp>
#include <headrace/internal/domains/job_state.hpp>
#include <headrace/internal/domains/job_transfers.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// The progress of a job, for a report about why it does not end.
struct ExecutionStatus {
    std::string job;
    std::uint64_t work_units = 0, finished = 0;
    bool started = false;         ///< its predecessors have ended
    bool waits_for_ranks = false; ///< ranks below have work of it, or the rank above may send some
    std::chrono::steady_clock::time_point last_sign;
    std::vector<TaskInFlight> tasks;
};

/// A submitted job. The runtime starts it; workers ask for tasks and report on them; handles wait.
/// Devices have the numbers that the runtime uses.
///
/// Threads   any. Only report() may block.
class HEADRACE_EXPORT JobExecution {
public:
    using Clock = std::chrono::steady_clock;
    using Participant = JobParticipant;
    using Observer = JobObserver;
    using Scheduling = JobScheduling;

    /// As the constructor. Continuations of events may drop the last reference: the job's data and kernels
    /// are destroyed in another thread then, because that waits for requests and calls drivers.
    [[nodiscard]] static std::shared_ptr<JobExecution>
    make(Job job, Scheduling scheduling, std::vector<Participant> participants,
         std::shared_ptr<const std::vector<LeftOut>> left_out = nullptr);
    /// `left_out`: devices that take no part, for the report; null: none. Jobs share the list.
    JobExecution(Job job, Scheduling scheduling, std::vector<Participant> participants,
                 std::shared_ptr<const std::vector<LeftOut>> left_out = nullptr);

    // As it was submitted.

    [[nodiscard]] const Job& job() const noexcept { return state_.job; }
    [[nodiscard]] const JobParticipants& participants() const noexcept { return state_.participants; }
    [[nodiscard]] const Scheduling& scheduling() const noexcept { return state_.scheduling(); }
    [[nodiscard]] const Event& event() const noexcept { return state_.event; }
    /// The job as other jobs wait for it.
    [[nodiscard]] const JobNodePtr& node() const noexcept { return state_.node; }
    /// Its span in a trace; for all parts of the job.
    [[nodiscard]] SpanId span() const noexcept { return span_; }

    // Views of it.

    [[nodiscard]] JobTransfers transfers() { return JobTransfers(state_); }
    [[nodiscard]] JobForecast forecast() const { return JobForecast(state_); }

    // Its life.

    /// The last handle is gone: from now on only the log can report a failure.
    void forget_handles();
    /// The job does not end before `start` or `release`; one of these calls must follow. False: it has ended.
    [[nodiscard]] bool hold_for_start();
    void release();
    /// From now on workers get ranges.
    void start();
    /// Keeps a new job from going before jobs of its priority that began earlier: raises its charge.
    void charge_at_least(double seconds);
    /// Ends the job early, never with success.
    void stop(ErrorPtr why);
    [[nodiscard]] bool stopping() const;
    /// Another job used the devices at the same time.
    void disturb() noexcept { state_.was_disturbed = true; }

    // Its tasks.

    /// The next range for this device. Nothing if the device takes no part, if no range is left, or if the
    /// job is stopping.
    [[nodiscard]] std::optional<IndexRange> next(std::size_t device);
    /// The same for several tasks at once, if they are adjacent.
    [[nodiscard]] std::optional<WorkRange> next(std::size_t device, std::uint64_t most_tasks);
    /// Progress of a task: a launch with `units_left` remaining units is enqueued behind `awaited` unfinished
    /// requests (launched); these requests have ended (inputs_came). To report a launch cannot fail: what
    /// would free the task's memory then would do so under the launch.
    void launched(std::size_t device, const WorkRange& work_range, std::uint64_t units_left,
                  std::size_t awaited = 0) noexcept;
    void inputs_came(std::size_t device, const WorkRange& work_range);
    /// The launches of the task took `busy` so far; a further one follows.
    void ran(std::size_t device, const WorkRange& work_range, Clock::duration busy);
    /// So many units of the task have begun, in a launch that has paused or that contains other tasks too.
    void begun(std::size_t device, const WorkRange& work_range, std::uint64_t units);
    /// The same. The device worked on nothing else since its last report.
    void paused(std::size_t device, const WorkRange& work_range, std::uint64_t units, Clock::duration busy);
    /// Tasks that ended together, as the tasks of one launch do. `next`: the device also worked on this task,
    /// of which so many units have begun.
    struct Begun {
        WorkRange work_range;
        std::uint64_t units;
    };
    void finished(std::size_t device, const std::vector<WorkRange>& work_ranges, const TaskMetrics& metrics,
                  const std::optional<Begun>& next = {});
    /// The task will not be finished. `error` is null if the job is being stopped.
    void abandoned(std::size_t device, const WorkRange& work_range, const ErrorPtr& error);
    /// How the next task uses a domain: it also fetches what earlier tasks wrote in another memory.
    [[nodiscard]] Access access_of(const Job::Use& use) const;
    /// In checked mode: a task has written these elements of its part of a domain, which holds `contents`.
    /// The job fails at once if two tasks scattered different values to one element. It fails at its end if
    /// no task wrote an element of a part.
    void note_written(const Job::Use& use, IndexRange part, const std::vector<bool>& written,
                      std::span<const std::byte> contents);

    // A job that the ranks of a cluster share: domains/cluster/.

    /// More work units, of a job whose work comes later. Its devices should ask again.
    void extend(IndexRange units);
    /// No more work units come.
    void close();
    [[nodiscard]] cluster::LocalWork::Supply supply() const;
    /// A rank below, as a device, has nothing to do: others look for work to transfer to it.
    void note_idle(std::size_t device);

    // Its devices are lost or full: job_losses.cpp.

    /// The device will retire soon; the job does not end before that.
    void hold_for(std::size_t device);
    /// The device is lost. Other devices repeat its finished and unfinished work. The job fails if this is
    /// impossible: updated data are already overwritten, units of its tasks were transferred to other
    /// devices, or no device is left.
    void retire(std::size_t device, const ErrorPtr& error, const std::vector<WorkRange>& in_flight);
    /// The device is full, and this task has not begun there. True: the job, with this task, continues in
    /// another memory. False: there is no other memory.
    [[nodiscard]] bool leave_memory(std::size_t device, const WorkRange& work_range);

    // What is told of it.

    [[nodiscard]] std::uint64_t finished_units() const;
    [[nodiscard]] ExecutionStatus status() const;
    [[nodiscard]] JobOutcome outcome() const;
    /// May wait some milliseconds for energy meters.
    [[nodiscard]] JobReport report() const;

private:
    JobState state_;
    SpanId span_ = 0; // set before any device gets a range
};

} // namespace headrace
