// internal/domains/device_worker.hpp - the thread of one device: asks jobs for tasks, and keeps the launch
// slots busy. Internal to domains/.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/device_slots.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>

namespace headrace {

/// An event loop. Events are notifications of one signal: a launch has ended, memory is free, a job has work
/// again. Each round looks at all slots, gives tasks to free ones, and sleeps or polls until the next
/// notification.
///
/// Threads   the public calls from any; everything else on the worker's own
class HEADRACE_EXPORT DeviceWorker {
public:
    DeviceWorker(std::size_t number, std::unique_ptr<Device> device, ControllerOptions options,
                 unsigned window, JobSource& jobs);
    ~DeviceWorker();
    /// After every job has ended, and before the first worker is destroyed: they wake each other.
    void stop();

    [[nodiscard]] Device& device() const noexcept { return *device_; }
    [[nodiscard]] Controller& controller() noexcept { return *controller_; }
    /// Null while the device can be relied upon.
    [[nodiscard]] ErrorPtr retired() const { return slots_.retired(); }
    /// Something may have changed: a new job, ranges returned, a task's event.
    void wake() { slots_.wake(); }

private:
    using Clock = std::chrono::steady_clock;

    void run(const std::stop_token& stop);
    void look_at(LaunchSlot& slot);
    void start_a_task(LaunchSlot& slot);
    void start(LaunchSlot& slot, const std::shared_ptr<JobExecution>& job, const WorkRange& work_range,
               bool is_transferred);
    void report_idleness();
    void report_idleness(bool idle);
    void wait();
    void stay_awake();
    [[nodiscard]] std::optional<Clock::time_point> asks_again() const;
    [[nodiscard]] std::optional<Clock::time_point> looks_again() const;

    std::unique_ptr<Device> device_;
    std::unique_ptr<Controller> controller_;
    JobSource& jobs_;
    DeviceSlots slots_;
    bool told_idle_ = false; ///< jobs
    std::jthread thread_;
};

} // namespace headrace
