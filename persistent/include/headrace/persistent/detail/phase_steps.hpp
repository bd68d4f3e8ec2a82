// persistent/detail/phase_steps.hpp - what both loops of kernels with a resumable kind share: a lane's walk,
// a step of it, and how long a drain is.
#pragma once
#include <headrace/persistent/sync.hpp>
#include <headrace/persistent/units.hpp>

namespace headrace {

/// Where a lane is in the middle of a unit.
template <class KindOf>
struct PhaseWalk {
    typename KindOf::State state;
    std::uint32_t phase;
};

/// The phase of a lane that walks no more, or not yet.
inline constexpr std::uint32_t no_phase = static_cast<std::uint32_t>(Phase::done);

/// Does a step of phase P, if that is the lane's.
template <std::uint32_t P, class Kernel, class KindOf, class Scratch>
HEADRACE_GROUP_LOOP void step_phase(const Kernel& kernel, PhaseWalk<KindOf>& walk, Scratch& scratch) {
    if (walk.phase != P) return;
    WalkingLane handle;
    if constexpr (StepsWithScratch<Kernel, KindOf, P>)
        walk.phase = static_cast<std::uint32_t>(kernel.step(Constant<P>{}, handle, walk.state, scratch));
    else
        walk.phase = static_cast<std::uint32_t>(kernel.step(Constant<P>{}, handle, walk.state));
}

/// Steps until a group that drains looks if it may leave.
template <class Kernel>
inline constexpr std::uint32_t most_drain_steps = drain_steps_of<Kernel>() == 0 ? 1
                                                                                : drain_steps_of<Kernel>();

/// As many rounds as if each unit took the mean number of steps, so that reports tell the lanes at work.
/// `turns`: of the group. `lane_steps`: the same, of each lane
HEADRACE_GROUP_CODE inline std::uint64_t mean_rounds(std::uint64_t units, std::uint32_t turns,
                                                     std::uint64_t lane_steps) {
    return lane_steps == 0 ? 0 : (units * turns + lane_steps - 1) / lane_steps;
}

} // namespace headrace
