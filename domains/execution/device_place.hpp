// domains/execution/device_place.hpp - what a device's worker knows of one launch: see device_worker.hpp.
// Private to it.
#pragma once
#include "execution/device_worker.hpp"
#include <headrace/core/performance_model.hpp>
#include <headrace/internal/domains/checked_task.hpp>
#include <headrace/internal/domains/tasks_ahead.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace headrace {

inline constexpr std::chrono::microseconds look_period{100}; // at what an open launch has begun with
// Of donor and recipient: a thread that sleeps wakes later than a launch takes to pause.
inline constexpr std::chrono::milliseconds awake_for_exchange{2};

/// One place in the window, with the stream and engines that launches here use one after another: at most one
/// launch, of one task, or fed with many of one job.
struct DeviceWorker::Place final : TaskScope::Device {
    explicit Place(std::shared_ptr<Doorbell> of_worker) : bell(std::move(of_worker)) {}
    void task_waits() override {
        waiting_threads.fetch_add(1, std::memory_order_relaxed); // relaxed, all: the bell orders
        bell->ring();
    }
    void task_goes_on() override { waiting_threads.fetch_sub(1, std::memory_order_relaxed); }
    /// Its task is a host function that waits for another job, and lets that have the device.
    [[nodiscard]] bool task_is_waiting() const { return waiting_threads.load(std::memory_order_relaxed) > 0; }
    /// Its task does not count in the window: another job has the device meanwhile.
    [[nodiscard]] bool lets_others_in() const { return task_is_waiting() || steps_aside; }

    const std::shared_ptr<Doorbell> bell;
    std::atomic<unsigned> waiting_threads = 0;
    std::unique_ptr<Stream> stream;
    std::shared_ptr<JobExecution> job;        ///< null: free
    std::vector<Held> held;                   ///< the first began the launch
    std::shared_ptr<JobExecution> engine_job; ///< whose tasks `engine` was made for
    std::unique_ptr<Engine> engine;           ///< null for host functions
    std::unique_ptr<Engine> kept; ///< of a job that has ended, for the next one that is tuned alike
    EngineOptions kept_tuning;
    KernelKey kept_kernel;
    Event event;             ///< of the launch in flight, or of what makes room
    Step waits_to = nullptr; ///< what it does when there is room; null: it does not wait for any
    TaskFigures figures;
    EngineFigures engine_before; ///< an engine counts over all its tasks

    std::unique_ptr<CheckedTask> check; ///< null: the task is not checked

    /// Its launch pauses, but the task cannot end early. Until its next pause another job may use the device
    /// beside it.
    bool steps_aside = false;
    bool in_windows = false;       ///< the job has data that the device cannot hold at once
    Clock::time_point begun_with;  ///< the launch's first task
    bool asked_to_pause = false;   ///< the launch, since it was enqueued
    Clock::time_point asked_again; ///< at the earliest: a pause came to nothing
    double short_units = 0;        ///< tasks of no more units are short, by what is known: they may be fed
    bool kernels_differ = false;   ///< from task to task: none is to be fed

    bool open = false;     ///< the launch can be fed
    bool wanting = false;  ///< it is to get tasks beside those that are held
    std::size_t fed = 0;   ///< of `held`; the others wait for their inputs
    std::size_t begun = 0; ///< of `held`: the launch does not want for work because of these
    TasksAhead ahead;      ///< so many tasks should be held that are not begun
    std::uint64_t most_ahead = TasksAhead::most; ///< nor more: they are long
    std::uint64_t filled = 0; ///< seeds that it had and had not begun with, after the last look
    Clock::time_point opened;
    Clock::time_point look_closely_until; ///< it had nothing left a moment ago, or not enough
    ErrorPtr failure;                     ///< of a task that could not be fed

    [[nodiscard]] std::uint64_t tasks(std::size_t first, std::size_t last) const {
        std::uint64_t tasks = 0;
        for (; first < last; ++first) tasks += held[first].portion.tasks;
        return tasks;
    }
    [[nodiscard]] std::uint64_t units(std::size_t first, std::size_t last) const {
        std::uint64_t units = 0;
        for (; first < last; ++first) units += held[first].portion.work_units();
        return units;
    }
    /// How many tasks such as these fill the engine's lanes; 1 if that cannot be told: of a producer's seeds
    /// many more units may spring.
    [[nodiscard]] std::uint64_t fill_lanes(std::size_t first, std::size_t last) const {
        if (!engine || engine->shape().kinds > 0) return 1;
        const std::uint64_t lanes = std::uint64_t{engine->shape().groups} * engine->shape().lanes;
        return std::max<std::uint64_t>(
            lanes * tasks(first, last) / std::max<std::uint64_t>(units(first, last), 1), 1);
    }
    /// Each of the portion's tasks is short, or has hardly anything for the lanes to do.
    [[nodiscard]] bool is_small(const Portion& portion) const {
        const std::uint64_t tasks = std::max<std::uint64_t>(portion.tasks, 1);
        return static_cast<double>(portion.work_units()) <= short_units * static_cast<double>(tasks);
    }
    [[nodiscard]] std::vector<Portion> portions() const {
        std::vector<Portion> portions;
        for (const Held& one : held) portions.push_back(one.portion);
        return portions;
    }
    void forget_launch() {
        check.reset(); // it refers to the task
        held.clear();
        waits_to = nullptr;
        open = wanting = steps_aside = false;
        fed = begun = 0;
        failure = nullptr;
        asked_again = {};
    }
};

/// How long they took.
inline std::chrono::steady_clock::duration sum(std::span<const EventTimes> launches) {
    std::chrono::steady_clock::duration sum{0};
    for (const EventTimes& launch : launches) sum += launch.end - launch.begin;
    return sum;
}

} // namespace headrace
