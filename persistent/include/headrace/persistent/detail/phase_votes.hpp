// persistent/detail/phase_votes.hpp - what a lane group with a resumable kind does next: a step of one phase,
// or a refill. The rule is here alone, as a function of numbers. resumable_group.hpp counts the lanes.
#pragma once
#include <headrace/persistent/sync.hpp>

#include <cstdint>

namespace headrace {

/// What the lanes of a group are in the middle of.
template <std::uint32_t Phases>
struct PhaseVotes {
    std::uint32_t waiting[Phases]; ///< lanes that wait for each phase
    std::uint32_t done = 0;        ///< lanes whose unit waits to be finished
    std::uint32_t turn = 0;        ///< steps and calls of the group so far
    bool dry = false;              ///< the last refill left lanes idle, and nothing has changed since
};

/// Numbers of lanes, from shares of a group.
template <std::uint32_t Phases>
struct PhaseLimits {
    std::uint32_t enough;        ///< a group refills if fewer lanes wait for a phase
    std::uint32_t least[Phases]; ///< lanes that should wait for each phase before the group does it
};

/// So many turns of a group, steps and calls, pass until one is given to a phase that the rule may not
/// choose.
inline constexpr std::uint32_t phase_patience = 32;

/// The phase that the group does a step of; `Phases`: it refills. The first rule that applies decides.
/// 1. No lane waits for a phase: a refill.
/// 2. Every 32nd turn: the phases in turn, if a lane waits for the one whose turn it is.
/// 3. Fewer than `enough` lanes wait for a phase: a refill. But if the last one left lanes idle, only once
///    as many lanes are done as a full group would lack at that limit.
/// 4. The last phase for which at least `least` lanes wait.
/// 5. The phase for which the most lanes wait, the last of them.
/// By rule 2, a lane that waits does a step within 32 turns per phase, whatever the other lanes do, and
/// however many units refills call.
template <std::uint32_t Phases>
HEADRACE_HOST_DEVICE constexpr std::uint32_t
next_phase(const PhaseVotes<Phases>& votes, const PhaseLimits<Phases>& limits, std::uint32_t lanes) {
    // No index that is known only at run time, or a GPU's compiler puts the numbers into memory.
    std::uint32_t busy = 0, most = 0, fullest = 0, chosen = Phases;
    HEADRACE_UNROLL
    for (std::uint32_t phase = 0; phase < Phases; ++phase) {
        const std::uint32_t waiting = votes.waiting[phase];
        busy += waiting;
        if (waiting >= most) {
            most = waiting;
            fullest = phase;
        }
        if (waiting >= (limits.least[phase] == 0 ? 1 : limits.least[phase])) chosen = phase;
    }
    if (busy == 0) return Phases;
    if (votes.turn % phase_patience == phase_patience - 1) {
        const std::uint32_t phase = votes.turn / phase_patience % Phases;
        HEADRACE_UNROLL
        for (std::uint32_t other = 0; other < Phases; ++other)
            if (other == phase && votes.waiting[other] > 0) return phase;
    }
    if (busy < limits.enough && (!votes.dry || votes.done > lanes - limits.enough)) return Phases;
    return chosen < Phases ? chosen : fullest;
}

/// Lanes that should wait for a phase of a kind before a group of `lanes` does it.
template <class KindOf, std::uint32_t PhaseNumber>
constexpr std::uint32_t least_waiting(std::uint32_t lanes) {
    return (lanes * KindOf::Walk::phase_percent[PhaseNumber] + 99) / 100;
}

} // namespace headrace
