// internal/domains/launch_slot.hpp - one launch slot of a device. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/checked_task.hpp>
#include <headrace/internal/domains/device_slots.hpp>
#include <headrace/internal/domains/held_tasks.hpp>
#include <headrace/internal/domains/launch_metrics.hpp>
#include <headrace/internal/domains/launch_state.hpp>
#include <headrace/internal/domains/slot_engine.hpp>
#include <headrace/internal/domains/small_tasks.hpp>
#include <headrace/internal/domains/task_submission.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headrace {

// Of donor and recipient: a thread that sleeps wakes later than a launch takes to pause.
inline constexpr std::chrono::milliseconds awake_for_exchange{2};

/// A stream and an engine, which launches here use one after another: at most one launch, of one task, or
/// with many injected tasks of one job. launch_state.hpp has the states and the order between them.
///
/// Threads: the device's; task_waits() and task_goes_on() any.
class HEADRACE_EXPORT LaunchSlot final : TaskScope::Device {
public:
    using Clock = std::chrono::steady_clock;

    explicit LaunchSlot(DeviceSlots& slots);

    // What the device loop calls.

    /// Begins a task, in a free slot. `is_transferred`: from another device.
    void start(const std::shared_ptr<JobExecution>& job, const WorkRange& work_range, bool is_transferred);
    /// Goes on if what the slot waits for has ended: its launch, or a request that frees memory.
    void advance();
    /// Injects small tasks into a launch that takes them; asks another launch to pause if devices without
    /// work want some of it.
    void tend();
    /// Another launch is to have the device: an injected launch pauses, and goes on behind that one.
    void make_way();
    /// Keeps the engine for another job, if its own job has ended.
    void set_engine_aside();

    [[nodiscard]] const LaunchState& state() const noexcept { return state_; }
    [[nodiscard]] bool is_free() const noexcept { return state_.is<LaunchState::Free>(); }
    /// Null: the slot is free.
    [[nodiscard]] const std::shared_ptr<JobExecution>& job() const noexcept { return job_; }
    /// The task does not count in the window: another job has the device beside it. It is a host function
    /// that waits for another job, or it cannot end early.
    [[nodiscard]] bool lets_others_in() const {
        // relaxed, all: the signal orders
        return steps_aside_ || waiting_threads_.load(std::memory_order_relaxed) > 0;
    }
    [[nodiscard]] bool is_injecting() const noexcept { return state_.is<LaunchState::Injecting>(); }
    /// The launch takes more tasks of the job.
    [[nodiscard]] bool wants_tasks_of(const JobExecution& job) const noexcept;
    /// The launch had not enough work a moment ago: a sleep would take longer than what it has.
    [[nodiscard]] bool is_hurried() const { return is_injecting() && small_.is_hurried(Clock::now()); }
    /// What the slot waits for has ended.
    [[nodiscard]] bool can_advance() const;
    /// Before this time no launch is asked to pause again; nothing: any may be asked.
    [[nodiscard]] std::optional<Clock::time_point> asks_again() const;

    // The device is full.

    [[nodiscard]] bool waits_for_memory() const noexcept {
        return state_.is<LaunchState::WaitingForMemory>();
    }
    bool free_unused_queues() { return engine_.free_unused(is_free()); }
    void want_no_more_tasks() noexcept;

    // The device is lost.

    void ask_to_end();
    [[nodiscard]] bool has_launch_under_way() const;
    void wait_for_launch(std::chrono::nanoseconds limit) const;
    /// Tells those that wait for the tasks' data.
    void fail_tasks(const ErrorPtr& error);
    /// Frees the slot; returns what its tasks were.
    [[nodiscard]] std::vector<WorkRange> lose_tasks();

private:
    void task_waits() override;
    void task_goes_on() override;
    [[nodiscard]] const DeviceInfo& info() const { return slots_.device().info(); }

    // A launch begins or resumes, or gets small tasks: launch_slot.cpp.
    void go();
    void begin();
    [[nodiscard]] Event enqueue(const TaskSubmission::Inputs& inputs, bool opens, bool& is_open);
    void resume();
    [[nodiscard]] Event call_host_function(std::span<const Event> ready);
    void watch();
    void inject(LaunchState::Injecting& launch);
    void end_injection();

    // The device is full: slot_memory.cpp.
    void continue_with_memory();
    void make_memory(const Error& lack);
    [[nodiscard]] bool goes_elsewhere();

    // A launch pauses or ends: slot_end.cpp.
    void ask_to_pause(LaunchState::Running& launch);
    void settle();
    [[nodiscard]] bool goes_on_after_pause();
    void collect();
    void begin_held_tasks();
    void check();
    void fail(const ErrorPtr& error);
    void clear();

    DeviceSlots& slots_;
    const std::unique_ptr<Stream> stream_;
    std::atomic<unsigned> waiting_threads_ = 0;
    SlotEngine engine_;
    SmallTasks small_;
    TaskSubmission submission_;

    // Of the launch. A free slot has nothing of this.
    LaunchState state_;
    std::shared_ptr<JobExecution> job_;
    HeldTasks held_; ///< the first began the launch
    LaunchMetrics metrics_;
    std::unique_ptr<CheckedTask> check_; ///< null: the task is not checked
    Clock::time_point begun_with_;       ///< the first task
    bool steps_aside_ = false;           ///< until its next pause
    Clock::time_point asks_again_;       ///< a pause came to nothing: no other one before
    ErrorPtr failure_;                   ///< of a task that could not be injected
};

} // namespace headrace
