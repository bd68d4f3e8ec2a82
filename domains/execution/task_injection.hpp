// domains/execution/task_injection.hpp - small tasks go to a launch that runs. Private to domains/.
#pragma once
#include <headrace/internal/domains/held_tasks.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/internal/domains/launch_metrics.hpp>
#include <headrace/internal/domains/launch_state.hpp>
#include <headrace/internal/domains/small_tasks.hpp>
#include <headrace/internal/domains/task_submission.hpp>
#include <headrace/persistent/engine.hpp>

#include <cstdint>

namespace headrace {

/// One look at an open launch. References to what a launch slot has.
///
/// Threads   the device's
class TaskInjection {
public:
    TaskInjection(JobExecution& job, DeviceSlots& slots, Engine& engine, HeldTasks& held, SmallTasks& small,
                  TaskSubmission& submission, LaunchMetrics& metrics)
        : job_(job),
          slots_(slots),
          engine_(engine),
          held_(held),
          small_(small),
          submission_(submission),
          metrics_(metrics) {}

    /// Keeps the launch supplied with tasks while there are any, and closes it in time: what it has done is
    /// reported when it has ended. False: it is closed. Throws what a task failed with.
    [[nodiscard]] bool goes_on(LaunchState::Injecting& launch);

private:
    [[nodiscard]] bool hold_more(std::uint64_t tasks);
    void inject_what_is_ready();
    [[nodiscard]] std::uint64_t most_at_once() const;

    JobExecution& job_;
    DeviceSlots& slots_;
    Engine& engine_;
    HeldTasks& held_;
    SmallTasks& small_;
    TaskSubmission& submission_;
    LaunchMetrics& metrics_;
};

} // namespace headrace
