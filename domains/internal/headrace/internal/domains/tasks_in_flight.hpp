// internal/domains/tasks_in_flight.hpp - the tasks of a job that devices have, as their workers last reported
// them. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/work_range.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace headrace {

/// A task that a device has, as its worker last reported it.
struct TaskInFlight {
    std::size_t number; ///< of the device
    std::string device; ///< id of the device
    WorkRange work_range;
    std::chrono::steady_clock::time_point last_sign; ///< of progress
    std::uint64_t launches = 0;                      ///< begun; 0: it is being prepared
    std::uint64_t units_left = 0;                    ///< when the last of them began
    std::size_t awaited = 0;                         ///< requests that must end before the first launch
};

/// Signs of life, for the watchdog. How far a task is, the schedule knows.
///
/// Threads   one at a time: the job's lock
class HEADRACE_EXPORT TasksInFlight {
public:
    /// The device, whose id this is, has this task from now on. If memory is short, throws and notes nothing.
    void add(std::size_t device, const std::string& id, const WorkRange& work_range);
    /// The task has ended, or has gone elsewhere.
    void remove(std::size_t device, const WorkRange& work_range) noexcept;
    /// The task ends there from here on.
    void shorten(std::size_t device, const WorkRange& work_range, std::uint64_t end) noexcept;

    /// A launch with `units_left` remaining units is enqueued behind `awaited` unfinished requests.
    void launched(std::size_t device, const WorkRange& work_range, std::uint64_t units_left,
                  std::size_t awaited) noexcept;
    /// These requests have ended. It may be told late: after the task, or after its first launch.
    void inputs_came(std::size_t device, const WorkRange& work_range) noexcept;
    /// The task has done something. False: it has ended.
    bool lives(std::size_t device, const WorkRange& work_range) noexcept;
    /// The job has just started.
    void note_start() noexcept;

    [[nodiscard]] std::chrono::steady_clock::time_point last_sign() const noexcept { return last_sign_; }
    [[nodiscard]] std::vector<TaskInFlight> all() const;

private:
    using Key = std::tuple<std::size_t, bool, std::uint64_t>; ///< device, are transferred units, first unit

    static Key key(std::size_t device, const WorkRange& work_range) noexcept {
        return {device, work_range.units != nullptr, work_range.range.begin};
    }
    /// Null: the task has ended.
    TaskInFlight* find(std::size_t device, const WorkRange& work_range) noexcept;

    std::map<Key, TaskInFlight> tasks_;
    std::chrono::steady_clock::time_point last_sign_; ///< at which something began or ended
};

} // namespace headrace
