// core/scheduling/adaptive_policy.hpp - lets all devices end at the same time, by measurements while the job
// runs.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/policy.hpp>

namespace headrace {

/// Sizes tasks so that all devices end at the same time. Leaves out devices that would delay this end.
///
/// T is the time at which all devices can end together. It follows from the remaining work, the work in
/// flight and the capabilities. If the work in flight of a device lasts beyond T, it gets nothing; the
/// others share the remaining work. A task is this part of the share of its device:
/// - a third, so that tasks shrink towards the end while capabilities become known;
/// - half if the capability is certain, because each task has a cost; nearly all if excess work comes back;
/// - a twelfth if the capability is below a quarter of the best: others would wait long for the last task;
/// - at least the work for a 128th of the job's time, which is the accepted difference between two ends.
/// A device that does all or nearly all of the work gets half until its capability is certain, and at least a
/// quarter of the job: lanes of the next task begin when lanes of a task end. If each task has its own data,
/// a task is at most an eighth of the job, so that transfers overlap.
///
/// A device that was not measured with this kernel first gets a 4096th of the job, or what fills its lanes.
/// Then it gets at most 4 times what it has finished: an estimate may be wrong by a factor of 1000. A device
/// gets nothing if its smallest task would end after the T of the others alone. These are left out entirely:
/// - devices on standby;
/// - devices with certainly less than a fortieth of the best capability, unless together they have more;
/// - before its first task, a device that certainly saves the others less than two tasks cost: being ready
///   for it costs the others more (smaller tasks, pauses, memory).
/// By these numbers, a device never delays a job, except by the first task without a measurement
/// (scheduling_test simulates this). Only whole jobs show other costs of a device: coexecution_sets.hpp.
class HEADRACE_EXPORT AdaptivePolicy final : public Policy {
public:
    [[nodiscard]] std::uint64_t next(std::size_t device, const Progress& progress) override;
    [[nodiscard]] bool takes_over(std::size_t device, const Progress& progress) const override;
};

} // namespace headrace
