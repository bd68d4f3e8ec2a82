// core/policy.hpp - how much work a device gets next: arithmetic, without locks, clocks or devices.
// The policies that there are: policies.hpp, adaptive_policy.hpp.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// What is known of one device's part in a job.
struct DeviceProgress {
    /// Work units per unit of time, in numbers that compare with the other devices'; 0: it takes part no
    /// more.
    double capability = 0;
    bool measured = false;       ///< running this kernel, now or in an earlier job; else it is a guess
    bool certain = false;        ///< the last measurements agree, now or in earlier jobs
    bool in_reserve = false;     ///< the others have proven to be faster without it
    bool gives_back = false;     ///< what it has not begun with can go to others as soon as they want it
    std::uint64_t in_flight = 0; ///< work units that it was given and, as far as that is known, has not done
    std::uint64_t finished = 0;  ///< work units
    std::uint64_t least = 1;     ///< work units of a lane group: a smaller task leaves lanes idle
    std::uint64_t full = 1;      ///< work units that give each of its lanes one
};

/// Where a job stands.
struct Progress {
    std::uint64_t total = 0;     ///< work units of the job
    std::uint64_t remaining = 0; ///< not yet given to any device
    std::span<const DeviceProgress> devices;
    bool moves_data = false; ///< a task has data of its own: the next one's moves while it runs
    /// What a task costs beside its work, where capabilities are in units per second; 0: nobody knows.
    double task_seconds = 0;
};

/// Decides the sizes of one job's tasks. One object per job, so a policy may remember what it gave.
///
/// One's own needs `next` alone; `Job::policy` takes it. docs/scheduling.md has an example.
///
/// Threads: one at a time.
class HEADRACE_EXPORT Policy {
public:
    virtual ~Policy() = default;
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;

    /// Work units for `device` (an index into Progress::devices), which has room for a task. At most what
    /// remains; 0: none, now. It is asked again when something of the device's has ended. Where nothing is in
    /// flight and everybody is refused, whoever asked last gets the least there is; those whom it lets take
    /// over what others have come first.
    [[nodiscard]] virtual std::uint64_t next(std::size_t device, const Progress& progress) = 0;
    /// Told when tasks have ended, one or several of a launch, with their time as the device measured it.
    virtual void completed(std::size_t device, std::uint64_t units, std::chrono::nanoseconds time) {
        static_cast<void>(device), static_cast<void>(units), static_cast<void>(time);
    }
    /// Whether `device`, when it has nothing to do, takes over what others have been given and have not
    /// begun.
    [[nodiscard]] virtual bool takes_over(std::size_t device, const Progress& progress) const {
        static_cast<void>(device), static_cast<void>(progress);
        return true;
    }

protected:
    Policy() = default;
};

using MakePolicy = std::function<std::unique_ptr<Policy>()>;

/// A policy by name, with its parameter after a colon: "adaptive", "demand:20". Throws not_found for an
/// unknown name, with the known ones, and invalid_argument for a parameter that is none.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<Policy> make_policy(std::string_view name);
/// The names that make_policy knows, each with its parameter: "static, dynamic:PACKAGES, ...".
[[nodiscard]] HEADRACE_EXPORT std::string known_policies();

} // namespace headrace
