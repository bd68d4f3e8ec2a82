// internal/core/coexecution_sets.hpp - the co-execution set of a job: which devices do it, by the times of
// earlier jobs.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace headrace {

/// A co-execution set: the devices that do a job, as ascending indices into the devices that could run it.
using CoexecutionSet = std::vector<std::size_t>;

/// The time of a set is known after this many jobs: the first ones may load kernels or touch new memory.
inline constexpr std::size_t jobs_that_tell = 3;

/// What is known about jobs of a set; nothing: there were none.
using KnownJobs = std::function<std::optional<WholeJobs>(const CoexecutionSet&)>;

/// All devices, unless a smaller set has proven to be as fast. A device costs the others smaller tasks and
/// divided data. Rates do not show this cost; only the time of a whole job does.
///
/// All devices do a problem 3 times first; 6 times if their rates promise a time 1.25 times shorter, because
/// the first jobs may have been disturbed. Then the fastest device, the fastest two and so on get a probe run
/// each. Condition: the rates promise at most 1.25 times the time of all devices, or 0.1 s more, and at most
/// twice that time. (Without the others, a set may be faster than its rates.) Then the second fastest alone
/// gets a probe run, if the best time is at most 0.25 s and its rate promises 8 times that, or 0.01 s, at
/// most. A set that comes near the best time, or takes at most 0.01 s, gets 3 jobs.
/// If a rate promised too much, the standby devices join after twice the time of all devices. (If a kernel
/// cannot pause, for example a host function, they join after its launch.)
/// The set with the least median time gets the next job. A disturbance of the first jobs of all devices may
/// be over. If their rates promise a time 1.25 times shorter than the best one, they get another job, after
/// 100 times its duration has passed. They get at most 3 of these, and more while these jobs take less than
/// the best time.
[[nodiscard]] HEADRACE_EXPORT CoexecutionSet choose_coexecution_set(std::span<const Estimate> devices,
                                                                    std::uint64_t work_units,
                                                                    const KnownJobs& known);

} // namespace headrace
