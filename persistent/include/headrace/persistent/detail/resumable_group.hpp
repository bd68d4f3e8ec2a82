// persistent/detail/resumable_group.hpp - a lane group of a kernel with a resumable kind: lanes walk through
// their units in steps, and the group votes which step comes next. docs/engine.md, Resumable kinds.
//
// What a lane needs for its steps are local objects of run(), passed by reference to inlined functions. As
// members of the group, a Scratch with an index known only at run time would put the whole group into memory.
#pragma once
#include <headrace/persistent/detail/phase_steps.hpp>
#include <headrace/persistent/detail/phase_votes.hpp>
#include <headrace/persistent/detail/producer_group.hpp>
#include <headrace/persistent/detail/unit_sharing.hpp>

#include <type_traits>

namespace headrace {

/// A lane walks from the begin of a unit until finish has returned. Lanes that walk are in `walking_`, and
/// their units count as held. Lanes that are in `active_` hold a unit that has not begun. Units of called
/// kinds are in lanes only while no lane walks, or for the time of one call.
template <class Sync, class Lanes, class Kernel, class Seeds>
class ResumableGroup : UnitSharing<Sync, Lanes, Kernel, Seeds> {
    using Base = UnitSharing<Sync, Lanes, Kernel, Seeds>;
    using Base::active_, Base::counters_, Base::empty_, Base::expand_, Base::gaps_alone_, Base::kernel_,
        Base::lanes_, Base::liq_, Base::pace_, Base::paused_, Base::ranges_follow_, Base::running_,
        Base::seeds_, Base::state_, Base::walking_;
    using Base::call_kernel, Base::collect, Base::end_round, Base::enough, Base::is_asked,
        Base::lanes_with_room, Base::look_around, Base::narrowed, Base::note_completed, Base::occupied,
        Base::refill, Base::set_lanes_aside, Base::units_held, Base::wait_for_work;
    using Base::called, Base::has_gaps, Base::has_ranges, Base::lane_count, Base::least, Base::seed_kind,
        Base::walked;
    using typename Base::Mask, typename Base::Traits, typename Base::Words;

    using KindOf = typename Traits::template KindAt<walked>;
    using Unit = typename KindOf::Unit;
    static constexpr std::uint32_t phases = KindOf::phases;
    static constexpr std::uint32_t spawned_at_end = Traits::beyond_continuation(KindOf::max_spawns);
    using Finisher = SpawningLane<Traits, walked, KindOf::max_spawns, typename Base::State>;
    static constexpr bool rebuilds = RebuildsUnits<Kernel, KindOf>;

    using Walk = PhaseWalk<KindOf>;
    /// What a lane needs seldom. It is beside the scratch, so that it is in memory where the scratch is: as
    /// 32 neighbouring words, which are written once and read once.
    struct WithUnit {
        Words unit; ///< that has begun: for a pause, and for finish
        typename ScratchOf<typename KindOf::Walk>::type scratch;
    };
    struct WithoutUnit {
        typename ScratchOf<typename KindOf::Walk>::type scratch;
    };
    using Aside = std::conditional_t<rebuilds, WithoutUnit, WithUnit>;
    using Walks = typename Lanes::template PerLane<Walk>;
    using Asides = typename Lanes::template PerLane<Aside>;

public:
    using Base::queue_lanes, Base::kinds, Base::unit_words, Base::max_spawns, Base::ranges, Base::scratch;

    HEADRACE_GROUP_CODE ResumableGroup(Lanes lanes, const Kernel& kernel, const Seeds& seeds,
                                       const EngineView& view, std::uint32_t group, std::uint32_t* local,
                                       const LocalSums& sums = {}, std::uint32_t* pace = nullptr)
        : Base(lanes, kernel, seeds, view, group, local, sums, pace) {
        this->look_for_pause(); // a group that begins during a pause must not take what it would save
    }

    /// Runs until no unit is left anywhere, or all groups pause.
    HEADRACE_GROUP_LOOP void run() {
        Walks walks;
        Asides asides;
        lanes_.each([&](std::uint32_t lane) { walks[lane].phase = no_phase; });
        moves_left_ = step_pace_.moves();
        while (!paused_ || drains_ || begins_drain()) {
            if (!walk(walks, asides)) { // the round is over
                if (!drains_) {
                    end_moves();
                    continue;
                }
                // Each launch finishes a unit, or a unit that takes longer than a launch would never end. But
                // what groups hold after a failure is lost.
                if (!has_finished_ && done_lanes(walks) == 0 && !this->failed()) {
                    moves_left_ = most_drain_steps<Kernel>;
                    continue;
                }
            }
            refill_lanes(walks, asides);
            if (drains_) break;
            // Before a look, which may move units from lanes to the LIQ.
            const bool has_nothing = !paused_ && occupied() == 0;
            // Indices without a unit: there may be more of them than a launch has time for.
            const bool skips = has_gaps && has_nothing && gaps_alone_;
            if (moves_left_ > 1 && !skips)
                --moves_left_;
            else
                end_moves();
            if (!has_nothing || skips || paused_) continue;
            if (!wait_for_work()) break;
            step_pace_.note_wait();
        }
        leave(walks, asides);
    }

private:
    // ---- steps ----------------------------------------------------------------------------------

    /// Does steps until lanes are to be refilled, or the moves of a round are over. True: a refill is due.
    HEADRACE_GROUP_CODE bool walk(Walks& walks, Asides& asides) {
        return walk(walks, asides, std::make_integer_sequence<std::uint32_t, phases>{});
    }
    template <std::uint32_t... P>
    HEADRACE_GROUP_CODE bool walk(Walks& walks, Asides& asides, std::integer_sequence<std::uint32_t, P...>) {
        const PhaseLimits<phases> limits{drains_ ? 0 : enough(), {least_waiting<KindOf, P>(lane_count)...}};
        for (;;) {
            PhaseVotes<phases> votes{
                {Lanes::count(lanes_.ballot([&](std::uint32_t lane) { return walks[lane].phase == P; }))...},
                0,
                turn_,
                dry_ && !calls_due_};
            busy_ = (0 + ... + votes.waiting[P]);
            votes.done = Lanes::count(walking_) - busy_;
            const std::uint32_t next = next_phase(votes, limits, lane_count);
            if (next == phases) return true;
            note_step((0 + ... + (next == P ? votes.waiting[P] : 0)));
            static_cast<void>(((next == P ? (step<P>(walks, asides), true) : false) || ...));
            lanes_.sync(); // the lanes may have diverged in the step
            if (--moves_left_ == 0) return false;
        }
    }

    template <std::uint32_t P>
    HEADRACE_GROUP_CODE void step(Walks& walks, Asides& asides) {
        lanes_.each([&](std::uint32_t lane) { step_phase<P>(kernel_, walks[lane], asides[lane].scratch); });
    }
    /// Counts a step of so many lanes.
    HEADRACE_GROUP_CODE void note_step(std::uint32_t lanes) {
        ++turn_;
        lane_steps_ += lanes;
    }

    /// A round of moves is over.
    HEADRACE_GROUP_CODE void end_moves() {
        dry_ = false;
        const bool is_due = end_round();
        if (is_asked() || (is_due && !this->template goes_on_unseen<true>())) {
            look_around();
            step_pace_.note_look();
        } else if (is_due) {
            step_pace_.note_look();
        }
        moves_left_ = step_pace_.moves();
    }

    // ---- refills --------------------------------------------------------------------------------

    /// Calls units of called kinds, finishes units, takes new ones and begins them.
    HEADRACE_GROUP_CODE void refill_lanes(Walks& walks, Asides& asides) {
        const Mask done = done_lanes(walks);
        if constexpr (called != 0)
            if (!drains_) call_units(Lanes::count(done));
        if (holds_called()) return;
        if (done != 0) finish(done, walks, asides);
        if (paused_) return;
        running_ = walked;
        while (Lanes::count(occupied()) < enough()) {
            refill();
            if (!has_ranges || !ranges_follow_ || gaps_alone_) break;
        }
        if (holds_called()) return;
        begin(walks, asides);
        busy_ = Lanes::count(walking_); // but for lanes that are done and have no room
        dry_ = busy_ < enough();
        if constexpr (called != 0) {
            if (dry_ && walking_ != 0 && active_ == 0 && !is_call_due(0)) take_called_in();
            calls_due_ = is_call_due(0);
        }
    }

    /// True if the lanes' units are of a called kind.
    HEADRACE_GROUP_CODE bool holds_called() const {
        return called != 0 && active_ != 0 && running_ != walked;
    }

    /// Lanes whose unit waits to be finished.
    HEADRACE_GROUP_CODE Mask done_lanes(Walks& walks) {
        return lanes_.ballot(
            [&](std::uint32_t lane) { return Lanes::has(walking_, lane) && walks[lane].phase >= phases; });
    }

    HEADRACE_GROUP_CODE void begin(Walks& walks, Asides& asides) {
        const Mask chosen = narrowed(active_, Lanes::count(walking_));
        if (chosen == 0) return;
        lanes_.each([&](std::uint32_t lane) {
            if (!Lanes::has(chosen, lane)) return;
            if constexpr (!rebuilds) asides[lane].unit = state_[lane].unit;
            WalkingLane handle;
            walks[lane].state = kernel_.begin(handle, from_words<Unit>(state_[lane].unit));
            walks[lane].phase = 0;
        });
        lanes_.sync(); // the lanes may have diverged in the functor
        walking_ |= chosen;
        active_ = static_cast<Mask>(active_ & ~chosen);
    }

    HEADRACE_GROUP_CODE void finish(Mask done, Walks& walks, Asides& asides) {
        const Mask chosen = lanes_with_room(done, spawned_at_end);
        if (chosen == 0) return;
        if (lanes_.ballot([&](std::uint32_t lane) {
                return Lanes::has(chosen, lane) && walks[lane].phase != no_phase;
            }) != 0)
            return this->fail(HR_NO_SUCH_PHASE);
        const std::uint32_t held = units_held();
        lanes_.each([&](std::uint32_t lane) {
            auto& state = state_[lane];
            state.continues = state.too_many = false;
            state.staged = 0;
            if (!Lanes::has(chosen, lane)) return;
            Finisher handle(state, this->sums_);
            if constexpr (FinishesWithUnit<Kernel, Finisher, KindOf>)
                kernel_.finish(handle, walks[lane].state, from_words<Unit>(unit_of(lane, walks, asides)));
            else
                kernel_.finish(handle, walks[lane].state);
        });
        lanes_.sync(); // the lanes may have diverged in the functor
        running_ = walked;
        collect(chosen);
        walking_ = static_cast<Mask>(walking_ & ~chosen);
        has_finished_ = true;
        note_completed(chosen, held);
    }

    HEADRACE_GROUP_CODE Words unit_of(std::uint32_t lane, Walks& walks, Asides& asides) {
        if constexpr (rebuilds)
            return to_words<Base::unit_words>(kernel_.unit(walks[lane].state));
        else
            return asides[lane].unit;
    }

    // ---- called kinds: units gather in the LIQ, and are called while lanes walk ------------------

    /// Units of a called kind that are called together.
    HEADRACE_GROUP_CODE std::uint32_t gathered() const {
        constexpr std::uint32_t wanted = enough_lanes(lane_count, gather_percent_of<Kernel>());
        const std::uint32_t room = liq_.capacity() - liq_.capacity() / 4; // the rest is for one more finish
        return least(least(wanted, room), pace_.lanes());
    }

    /// True if the fullest kind is to be called: it has gathered enough, or there is little else to do, or
    /// `done` lanes need its room.
    HEADRACE_GROUP_CODE bool is_call_due(std::uint32_t done) const {
        const std::uint32_t kind = liq_.template fullest<called>(), units = liq_.size(kind);
        return units > 0 &&
               (units >= gathered() || (dry_ && units > busy_) || liq_.room(kind) < spawned_at_end * done);
    }

    HEADRACE_GROUP_CODE void call_units(std::uint32_t done) {
        Mask chosen = 0;
        if (holds_called()) { // no lane walks
            chosen = narrowed(lanes_with_room());
        } else if (is_call_due(done)) {
            if (active_ != 0) { // units that have not begun
                if (liq_.room(walked) < Lanes::count(active_)) return;
                set_lanes_aside();
            }
            take_called(liq_.template fullest<called>());
            chosen = active_;
        }
        if (chosen == 0) return;
        const std::uint32_t held = units_held();
        lanes_.each([&](std::uint32_t lane) { state_[lane].too_many = false; });
        call_kernel(chosen);
        collect(chosen);
        note_completed(chosen, held);
        note_step(Lanes::count(chosen));
        // While lanes walk, there is room: continuations are among the spawned units that had to fit.
        if (active_ != 0 && (walking_ != 0 || liq_.room(running_) >= Lanes::count(active_)))
            set_lanes_aside();
    }

    /// Takes as many units of a kind from the LIQ as may run, to any lanes: what lanes walk through is apart.
    HEADRACE_GROUP_CODE void take_called(std::uint32_t kind) {
        std::uint32_t each_may_spawn = 0;
        Traits::template dispatch<called>(kind, [&](auto, auto* tag) {
            each_may_spawn = std::remove_pointer_t<decltype(tag)>::max_spawns;
        });
        const std::uint32_t wanted = least(liq_.size(kind), pace_.lanes());
        const std::uint32_t units =
            each_may_spawn == 0 ? wanted : this->template units_with_room<true>(wanted, each_may_spawn, kind);
        if (units == 0) return;
        const std::uint32_t newest = liq_.top(kind) - 1;
        lanes_.each([&](std::uint32_t lane) {
            if (lane < units) state_[lane].unit = liq_.read(kind, newest - lane);
        });
        lanes_.sync(); // all lanes have read before one of them overwrites
        liq_.drop_newest(kind, units);
        running_ = kind;
        active_ = static_cast<Mask>(Lanes::all >> (lane_count - units));
    }

    /// Takes units of called kinds to the LIQ, from seeds or a bundle: lanes walk, and there is nothing to
    /// walk through for the others.
    HEADRACE_GROUP_CODE void take_called_in() {
        if constexpr (Traits::is_in(seed_kind, called)) take_called_seeds();
        bool taken = false;
        HEADRACE_UNROLL
        for (std::uint32_t kind = 0; kind < kinds; ++kind)
            if (Traits::is_in(kind, called) && !taken && liq_.size(kind) == 0)
                taken = this->take_bundle_to_liq(kind);
    }
    HEADRACE_GROUP_CODE void take_called_seeds() {
        if (seeds_.empty() && !this->claim_seeds(1)) return;
        const std::uint64_t left = seeds_.end - seeds_.next;
        const std::uint32_t room = least(lane_count, liq_.room(seed_kind));
        const std::uint32_t taken = left < room ? static_cast<std::uint32_t>(left) : room;
        const Mask made = lanes_.ballot([&](std::uint32_t lane) {
            if (lane >= taken) return false;
            const auto seed = expand_(seeds_.next + lane);
            if constexpr (SeedMade<Seeds>::may_be_none) {
                if (!seed) return false;
                put_words(state_[lane].unit, *seed);
            } else {
                put_words(state_[lane].unit, seed);
            }
            return true;
        });
        lanes_.sync(); // lanes may diverge when they expand
        seeds_.next += taken;
        this->append(seed_kind, made, [&](std::uint32_t lane) { return state_[lane].unit; });
        lanes_.sync(); // all lanes see the LIQ's new units
        if constexpr (SeedMade<Seeds>::may_be_none) this->complete_empty(taken - Lanes::count(made));
    }

    // ---- leaving --------------------------------------------------------------------------------

    /// True as long as a group that is to pause does steps, so that few units have to begin again.
    HEADRACE_GROUP_CODE bool begins_drain() {
        if (walking_ == 0 || this->failed()) return false;
        drains_ = true;
        moves_left_ = most_drain_steps<Kernel>;
        return true;
    }

    HEADRACE_GROUP_CODE void leave(Walks& walks, Asides& asides) {
        this->flush();
        if (paused_ && !this->failed())
            this->save([&](std::uint32_t lane) { return unit_of(lane, walks, asides); });
        this->keep_spare();
        this->add_counters(empty_, [&] { return mean_rounds(counters_.units, turn_, lane_steps_); });
    }

    StepPace<Sync, Lanes> step_pace_;
    std::uint32_t moves_left_ = 0; ///< of the round; of the drain, while the group drains
    std::uint32_t turn_ = 0;       ///< steps and calls so far
    std::uint64_t lane_steps_ = 0; ///< the same, of each lane
    std::uint32_t busy_ = 0;       ///< lanes that waited for a phase at the last vote
    bool dry_ = false;             ///< the last refill left lanes idle
    bool calls_due_ = false;       ///< the next refill has units to call
    bool drains_ = false;          ///< a pause follows
    bool has_finished_ = false;    ///< a unit, in this launch
};

} // namespace headrace
