// internal/domains/device_slots.hpp - the launch slots of one device, and what they share. Internal to
// domains/.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/auto_reset_signal.hpp>
#include <headrace/internal/domains/job_execution.hpp>
#include <headrace/internal/domains/job_source.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace {

class LaunchSlot;

/// The slots of a device: each has at most one launch. While a task runs, the inputs of the next one move.
///
/// Threads: the device's; retired() and wake() any.
class HEADRACE_EXPORT DeviceSlots {
public:
    using Clock = std::chrono::steady_clock;

    /// `window`: how many tasks have the device at once.
    DeviceSlots(std::size_t number, Device& device, Controller& controller, std::size_t window,
                JobSource& jobs);
    ~DeviceSlots();
    DeviceSlots(const DeviceSlots&) = delete; // slots refer to it
    DeviceSlots& operator=(const DeviceSlots&) = delete;

    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    [[nodiscard]] Device& device() const noexcept { return device_; }
    [[nodiscard]] Controller& controller() const noexcept { return controller_; }
    [[nodiscard]] JobSource& jobs() const noexcept { return jobs_; }
    [[nodiscard]] const std::shared_ptr<AutoResetSignal>& signal() const noexcept { return signal_; }
    void wake() const { signal_->notify(); }
    [[nodiscard]] const std::vector<std::unique_ptr<LaunchSlot>>& all() const noexcept { return slots_; }

    /// True if another task may have the device.
    [[nodiscard]] bool have_room() const { return tasks_at_work() < window_; }
    [[nodiscard]] bool are_all_free() const;
    /// A host function that waits for a job may wait for what this device has to do, and so may a job that is
    /// behind long tasks. Adds a slot beside each task of that kind.
    void make_up_for_tasks_that_let_others_in();

    /// The thread polls for so long before it sleeps, except on a processor, which has better things to do.
    void stay_awake_for(Clock::duration time);
    [[nodiscard]] Clock::time_point awake_until() const noexcept { return awake_until_; }

    // The device is full.

    /// A task waits for memory.
    [[nodiscard]] bool is_short_of_memory() const;
    /// Frees queues that no task uses. False: there are none.
    [[nodiscard]] bool free_unused_queues();
    void want_no_more_tasks();

    // What the other slots and jobs mean for a launch.

    /// The time after which a launch of the job pauses by itself.
    [[nodiscard]] std::chrono::nanoseconds launch_time(const JobExecution& job) const;
    /// A job of higher priority has work for this device.
    [[nodiscard]] bool another_is_more_urgent(const JobExecution& job) const;
    /// It is the turn of a job that has no slot, and long tasks have them all.
    [[nodiscard]] bool have_none_for_next() const;

    // The device's data, and its loss.

    /// The domain may have a replica on this device from now on.
    void note(const std::shared_ptr<DomainData>& domain);
    /// Brings what only this device has to the host. After all jobs.
    void forget_domains();
    /// Null while the device can be relied upon.
    [[nodiscard]] ErrorPtr retired() const;
    /// The device is lost: takes it out of use, and returns its work to the jobs.
    void retire(const ErrorPtr& error);

private:
    void add();
    [[nodiscard]] std::size_t tasks_at_work() const;
    [[nodiscard]] bool have_work_of_another(const JobExecution& job) const;
    void join_private_replicas();
    void bring_replicas_to_host();
    void end_launches(const ErrorPtr& error);

    const std::size_t number_;
    Device& device_;
    Controller& controller_;
    const std::size_t window_;
    JobSource& jobs_;
    /// An event's late continuation may ring it after the slots have gone.
    const std::shared_ptr<AutoResetSignal> signal_ = std::make_shared<AutoResetSignal>();
    std::vector<std::unique_ptr<LaunchSlot>> slots_; ///< more than the window, while tasks let others in
    std::vector<std::weak_ptr<DomainData>> domains_; ///< that may have a replica here
    Clock::time_point awake_until_;
    mutable std::mutex mutex_;
    ErrorPtr retired_;
};

} // namespace headrace
