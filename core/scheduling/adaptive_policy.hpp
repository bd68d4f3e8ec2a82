// core/scheduling/adaptive_policy.hpp - all devices are to end together, by what is measured while the job
// runs.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/policy.hpp>

namespace headrace {

/// Sizes tasks so that all devices end at one time, and keeps away from the job whoever would delay that.
///
/// The end T that all devices would reach together follows from what remains, what each has in flight and how
/// fast each is: those who have more in flight than they can do until T keep out of it, the others share what
/// remains. Of its share a device gets a third at a time, so that tasks shrink towards the end while
/// capabilities become known; half, if its speed is certain, for each task costs something, and nearly all of
/// it if besides what is too much comes back; and at least what takes it a 128th of the job's time: so much
/// may one device end behind another. A slow one, below a quarter of the best, gets a twelfth: others would
/// wait long for its last. One that is alone, or beside which the others hardly count, gets halves until its
/// speed is certain, and a quarter of the job at least: where lanes of one task have ended, the next one's
/// begin. Where every task has data of its own none is larger than an eighth of the job, for transfers to
/// overlap.
///
/// Who was not measured with this kernel begins with little, a 4096th of the job or what fills its lanes, and
/// gets at most four times as much as it has finished: a guess may be wrong a thousand times over. A device
/// is refused if the least it can do would end after T of the others alone. Left out, as if they were not
/// there, are those in reserve; those that certainly do less than a fortieth of what the best one does,
/// unless there are so many that together they do more; and, before its first task, who certainly saves the
/// others less than two tasks cost: what these save is less than what it costs the others to be ready for
/// them (smaller tasks, pauses, memory). So, as far as these numbers tell, a job is never later for a device
/// that takes part, but for one such beginning (scheduling_test simulates it). What a device costs the others
/// beyond them, whole jobs tell: teams.hpp.
class HEADRACE_EXPORT AdaptivePolicy final : public Policy {
public:
    [[nodiscard]] std::uint64_t next(std::size_t device, const Progress& progress) override;
    [[nodiscard]] bool takes_over(std::size_t device, const Progress& progress) const override;
};

} // namespace headrace
