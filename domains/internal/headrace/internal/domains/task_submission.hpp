// internal/domains/task_submission.hpp - how tasks get their memory on a device, and how they become requests
// of its controller. Internal to domains/.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/checked_task.hpp>
#include <headrace/internal/domains/device_slots.hpp>
#include <headrace/internal/domains/held_tasks.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/internal/domains/launch_metrics.hpp>
#include <headrace/internal/domains/slot_engine.hpp>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headrace {

/// For the tasks of one launch slot, which are of one job at a time. If the device cannot hold the data of
/// the job at once, tasks have windows: memory for their own parts alone.
///
/// Threads   one at a time: the device's
class HEADRACE_EXPORT TaskSubmission {
public:
    struct Inputs {
        std::vector<TileUse> uses;
        std::vector<Event> replicas; ///< that have their first contents
    };
    /// Enqueues the task's launch behind these events.
    using Start = std::function<Event(std::span<const Event>)>;

    /// All must outlive it. Tasks are of the job of the engine.
    TaskSubmission(DeviceSlots& slots, Stream& stream, const SlotEngine& engine)
        : slots_(slots), stream_(stream), engine_(engine) {}

    /// The next tasks are of this job, which the engine is about to serve.
    void expect(const Job& job);
    [[nodiscard]] HeldTask make(const WorkRange& work_range) const;
    /// Binds the task's views to this device's memory.
    [[nodiscard]] Inputs bind(HeldTask& held);
    /// Calls `start` with what the task must wait for, and returns what it returned. If an input has failed,
    /// `start` is not called, and the event has the failure. `check`: fills the task's outputs first; null:
    /// the task is not checked.
    [[nodiscard]] Event submit(HeldTask& held, const Inputs& inputs, CheckedTask* check, const Start& start,
                               LaunchMetrics& metrics);
    /// Waits until no request fills a private replica to which a task was bound that did not start. Else the
    /// job may end, and its domains be destroyed, while the request writes.
    void wait_for_replicas();
    /// Tells the job that a launch is enqueued with this task, behind `inputs`.
    void report_launch(const HeldTask& held, std::vector<Event> inputs) const;

    // The device is full.

    /// Tasks have windows.
    [[nodiscard]] bool is_in_windows() const noexcept { return in_windows_; }
    /// Halves a task that has not begun until its windows fit the device, or until it can be cut no more.
    void fit(HeldTask& held) const;
    /// A task that has not begun needs less than it did. False if that is not possible.
    [[nodiscard]] bool makes_do_with_less(HeldTask& held);

    // Checked mode.

    /// A task of this work range is checked. Transferred units are not: jobs with outputs transfer none.
    [[nodiscard]] bool checks(const WorkRange& work_range) const {
        return is_checked_mode() && !lacks_room_to_check_ && !work_range.units;
    }
    /// No further task of the job is checked here, because the device has no room for copies of outputs, and
    /// the log says so. False if they are not checked already.
    [[nodiscard]] bool goes_unchecked();

private:
    [[nodiscard]] bool halve(HeldTask& held) const;
    [[nodiscard]] const DeviceInfo& info() const { return slots_.device().info(); }
    [[nodiscard]] JobExecution& job() const { return *engine_.job(); }

    DeviceSlots& slots_;
    Stream& stream_;
    const SlotEngine& engine_;
    bool in_windows_ = false;
    bool lacks_room_to_check_ = false;
    std::vector<Event> filled_; ///< requests that fill private replicas of tasks that have not started
};

} // namespace headrace
