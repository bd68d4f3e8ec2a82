// core/policy.hpp - how much work a device gets next: arithmetic, without locks, clocks or devices.
// The existing policies: policies.hpp, adaptive_policy.hpp.
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

/// What is known about one device in a job.
struct DeviceProgress {
    /// Work units per unit of time, on the same scale for all devices of the job. 0: the device does not
    /// take part any more.
    double capability = 0;
    bool measured = false;       ///< with this kernel, in this or an earlier job; else it is an estimate
    bool certain = false;        ///< the last measurements agree, in this or in earlier jobs
    bool on_standby = false;     ///< earlier jobs show that the others are faster without it
    bool gives_back = false;     ///< work that it has not begun can move to other devices at any time
    std::uint64_t in_flight = 0; ///< work units assigned to the device and not yet known to be done
    double away = 0;             ///< time until it is expected to ask for work, though it has none in flight
    std::uint64_t finished = 0;  ///< work units
    std::uint64_t least = 1;     ///< work units of a lane group: a smaller task leaves lanes idle
    std::uint64_t full = 1;      ///< work units that give one to each of its lanes
    unsigned devices = 1;        ///< that it stands for: a rank of a cluster has several, a unit runs on one
};

/// The progress of a job.
struct Progress {
    std::uint64_t total = 0;     ///< work units of the job
    std::uint64_t remaining = 0; ///< work units not yet assigned to a device
    std::span<const DeviceProgress> devices;
    bool moves_data = false; ///< each task has its own data; data of the next task moves while one runs
    /// Overhead of one task in seconds, if capabilities are in work units per second; 0: unknown.
    double task_seconds = 0;
};

/// Decides the sizes of one job's tasks. One object per job, so a policy may store what it has assigned.
///
/// A custom policy needs only `next`. `Job::policy` sets it for a job; docs/scheduling.md has an example.
///
/// Threads: one at a time.
class HEADRACE_EXPORT Policy {
public:
    virtual ~Policy() = default;
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;

    /// Work units for `device` (an index into Progress::devices), which has room for a task. At most
    /// `remaining`; 0: none now. The call is repeated later, for example when a task has ended. If nothing is
    /// in flight and all devices get 0, the device that asked last gets the smallest task. Devices for which
    /// `takes_over` is true come before the others in this case.
    [[nodiscard]] virtual std::uint64_t next(std::size_t device, const Progress& progress) = 0;
    /// Called when one or several tasks of a launch have ended, with their time as measured by the device.
    virtual void completed(std::size_t device, std::uint64_t units, std::chrono::nanoseconds time) {
        static_cast<void>(device), static_cast<void>(units), static_cast<void>(time);
    }
    /// Whether `device`, when it is idle, takes over work that other devices were assigned and have not
    /// begun.
    [[nodiscard]] virtual bool takes_over(std::size_t device, const Progress& progress) const {
        static_cast<void>(device), static_cast<void>(progress);
        return true;
    }

protected:
    Policy() = default;
};

using MakePolicy = std::function<std::unique_ptr<Policy>()>;

/// Makes a policy from its name, with a parameter after a colon: "adaptive", "demand:20". An unknown name
/// throws not_found with the list of known names; a wrong parameter throws invalid_argument.
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<Policy> make_policy(std::string_view name);
/// The names that make_policy knows, each with its parameter: "static, dynamic:PACKAGES, ...".
[[nodiscard]] HEADRACE_EXPORT std::string known_policies();

} // namespace headrace
