// persistent/detail/inbox_group.hpp - a lane group of a kernel whose units gather: lanes walk through units
// in steps, and all that comes before and after a walk is done for a whole group of units. docs/engine.md,
// Resumable kinds.
//
// A slot of the inbox is unused; or its unit is ready, walks (a lane has its number), waits to be resolved,
// or is done:
//
//     unused -> ready -> walks -> done -> unused       take_in, begin, end_walks, finish
//                        walks -> unresolved -> done   end_walks, resolve
//
// Steps are nearly all of the time, and they need few registers. So the loop of steps works on copies of what
// lanes have, and the rest is a function that is called, with all that the group has in memory.
#pragma once
#include <headrace/persistent/detail/phase_steps.hpp>
#include <headrace/persistent/detail/phase_votes.hpp>
#include <headrace/persistent/detail/unit_sharing.hpp>

#include <type_traits>

namespace headrace {

/// In `active_` are lanes with a unit that is on its way to the inbox: there are slots for all of them.
template <class Sync, class Lanes, class Kernel, class Seeds>
class InboxGroup : UnitSharing<Sync, Lanes, Kernel, Seeds> {
    using Base = UnitSharing<Sync, Lanes, Kernel, Seeds>;
    using Base::active_, Base::control_, Base::counters_, Base::empty_, Base::gaps_alone_, Base::inbox_,
        Base::kernel_, Base::lanes_, Base::liq_, Base::paused_, Base::ranges_follow_, Base::running_,
        Base::state_;
    using Base::collect, Base::end_round, Base::enough, Base::enough_walks, Base::is_asked, Base::look_around,
        Base::note_completed, Base::refill, Base::units_held, Base::units_with_room, Base::wait_for_work;
    using Base::has_gaps, Base::has_queues, Base::has_ranges, Base::lane_count, Base::least, Base::walked;
    using typename Base::Inbox, typename Base::Mask, typename Base::Traits;
    using List = InboxList;

    using KindOf = typename Traits::template KindAt<walked>;
    using Unit = typename KindOf::Unit;
    static constexpr std::uint32_t phases = KindOf::phases;
    static constexpr std::uint32_t spawned_at_end = Traits::beyond_continuation(KindOf::max_spawns);
    using Finisher = SpawningLane<Traits, walked, KindOf::max_spawns, typename Base::State>;

    using Walk = PhaseWalk<KindOf>;
    using Walks = typename Lanes::template PerLane<Walk>;
    using Scratches = typename Lanes::template PerLane<typename ScratchOf<typename KindOf::Walk>::type>;

public:
    using Base::queue_lanes, Base::kinds, Base::unit_words, Base::max_spawns, Base::ranges, Base::scratch;

    HEADRACE_GROUP_CODE InboxGroup(Lanes lanes, const Kernel& kernel, const Seeds& seeds,
                                   const EngineView& view, std::uint32_t group, std::uint32_t* local,
                                   const LocalSums& sums = {}, std::uint32_t* pace = nullptr)
        : Base(lanes, kernel, seeds, view, group, local, sums, pace) {
        this->look_for_pause(); // a group that begins during a pause must not take what it would save
        progress_.wanted = this->paced(lane_count);
        progress_.enough = enough_walks();
    }

    /// Runs until no unit is left anywhere, or all groups pause. `kernel`: that of the group. On a GPU, the
    /// steps read its members from where parameters are, and not by way of the group's memory.
    HEADRACE_GROUP_LOOP void run(const Kernel& kernel) {
        const Lanes lanes = lanes_;
        const Inbox inbox = inbox_;
        Walks walks;
        Scratches scratches;
#if !defined(__CUDACC__) && !defined(__HIPCC__)
        asm("" : "=m"(scratches)); // begin sets what it likes: compilers should not guess what
#endif
        lanes.each([&](std::uint32_t lane) { walks[lane].phase = no_phase; });
        progress_.left = moves();
        Progress now = progress_;
        for (bool goes = true; goes;) {
            if (now.begun != 0)
                walk(kernel, lanes, walks, scratches, now,
                     std::make_integer_sequence<std::uint32_t, phases>{});
            end_walks(kernel, lanes, inbox, walks, scratches, now);
            if (now.left == 0 || now.drains || inbox.count(List::ready) + now.busy < now.wanted) {
                typename Lanes::template PerLane<Kept> kept;
                lanes.each([&](std::uint32_t lane) { kept[lane].put(walks[lane]); });
                progress_ = now;
                goes = goes_on();
                now = progress_;
                lanes.each([&](std::uint32_t lane) { kept[lane].take(walks[lane]); });
                if (!goes || now.drains) continue;
            }
            begin(kernel, lanes, inbox, walks, scratches, now);
            now.dry = now.dry && now.busy < now.enough;
        }
        leave();
    }

private:
    static constexpr std::uint32_t unresolved = static_cast<std::uint32_t>(Phase::unresolved);

    /// What the loop of steps needs to know and changes.
    struct Progress {
        Mask begun = 0;               ///< lanes that walk
        std::uint32_t busy = 0;       ///< how many they are
        std::uint32_t wanted = 0;     ///< how many may walk
        std::uint32_t enough = 0;     ///< lanes are refilled if fewer wait for a phase
        std::uint32_t left = 0;       ///< moves of the round; of the drain, while the group drains
        std::uint32_t turn = 0;       ///< steps so far
        std::uint64_t lane_steps = 0; ///< the same, of each lane
        bool dry = false;             ///< lanes are idle, and there was nothing for them
        bool drains = false;          ///< a pause follows
        bool is_wrong = false;        ///< a step named a phase that there is not
    };

    /// A lane's walk while the group does something else: in memory, on a GPU. The compiler would keep it in
    /// registers, which are then lacking in the loop of steps, too.
    class Kept {
    public:
        HEADRACE_GROUP_CODE void put(const Walk& walk) {
            if constexpr (LanesTakeTurns<Lanes>) return;
            const auto words = __builtin_bit_cast(Words, walk);
            HEADRACE_UNROLL
            for (std::uint32_t i = 0; i < count; ++i) words_[i] = words.word[i];
        }
        HEADRACE_GROUP_CODE void take(Walk& walk) {
            if constexpr (LanesTakeTurns<Lanes>) return;
            Words words;
            HEADRACE_UNROLL
            for (std::uint32_t i = 0; i < count; ++i) words.word[i] = words_[i];
            walk = __builtin_bit_cast(Walk, words);
        }

    private:
        static constexpr std::uint32_t count = sizeof(Walk) / 4;
        using Words = UnitWords<count>;
        volatile std::uint32_t words_[count];
    };

    /// Moves of a round. A look is seldom needed, and the walks have to be put aside for it.
    HEADRACE_GROUP_CODE std::uint32_t moves() const {
        if constexpr (LanesTakeTurns<Lanes>) return step_pace_.moves();
        return 4 * step_pace_.moves();
    }

    // ---- steps ----------------------------------------------------------------------------------

    /// Does steps until lanes are to be refilled, or the moves of a round are over.
    template <std::uint32_t... P>
    static HEADRACE_GROUP_LOOP void walk(const Kernel& kernel, const Lanes& lanes, Walks& walks,
                                         Scratches& scratches, Progress& now,
                                         std::integer_sequence<std::uint32_t, P...>) {
        const PhaseLimits<phases> limits{now.drains ? 0 : now.enough,
                                         {least_waiting<KindOf, P>(lane_count)...}};
        for (;;) {
            PhaseVotes<phases> votes{
                {Lanes::count(lanes.ballot([&](std::uint32_t lane) { return walks[lane].phase == P; }))...},
                0,
                now.turn,
                now.dry};
            const std::uint32_t busy = (0 + ... + votes.waiting[P]);
            votes.done = now.busy - busy;
            const std::uint32_t next = next_phase(votes, limits, lane_count);
            if (next == phases) return;
            ++now.turn;
            now.lane_steps += (0 + ... + (next == P ? votes.waiting[P] : 0));
            static_cast<void>(
                ((next == P ? (step<P>(kernel, lanes, walks, scratches), true) : false) || ...));
            lanes.sync(); // the lanes may have diverged in the step
            if (--now.left == 0) return;
        }
    }

    template <std::uint32_t P>
    static HEADRACE_GROUP_LOOP void step(const Kernel& kernel, const Lanes& lanes, Walks& walks,
                                         Scratches& scratches) {
        lanes.each([&](std::uint32_t lane) { step_phase<P>(kernel, walks[lane], scratches[lane]); });
    }

    static HEADRACE_GROUP_LOOP void begin(const Kernel& kernel, const Lanes& lanes, const Inbox& inbox,
                                          Walks& walks, Scratches& scratches, Progress& now) {
        if (now.busy >= now.wanted) return;
        const Mask idle = static_cast<Mask>(Lanes::all & ~now.begun);
        const std::uint32_t units = least(inbox.count(List::ready), now.wanted - now.busy);
        if (units == 0) return;
        now.begun |= lanes.ballot([&](std::uint32_t lane) {
            const std::uint32_t rank = lanes.count_below(idle, lane);
            if (!Lanes::has(idle, lane) || rank >= units) return false;
            const std::uint32_t slot = inbox.newest(List::ready, rank);
            inbox.slot_of(lane) = static_cast<std::uint8_t>(slot);
            const auto unit = from_words<Unit>(inbox.unit(slot));
            WalkingLane handle;
            if constexpr (BeginsWithScratch<Kernel, KindOf>)
                walks[lane].state = kernel.begin(handle, unit, scratches[lane]);
            else
                walks[lane].state = kernel.begin(handle, unit);
            walks[lane].phase = 0;
            return true;
        });
        lanes.sync(); // the lanes may have diverged in the functor
        inbox.drop(List::ready, units);
        now.busy += units;
    }

    static HEADRACE_GROUP_LOOP void end_walks(const Kernel& kernel, const Lanes& lanes, const Inbox& inbox,
                                              Walks& walks, Scratches& scratches, Progress& now) {
        const Mask ended = lanes.ballot(
            [&](std::uint32_t lane) { return Lanes::has(now.begun, lane) && walks[lane].phase >= phases; });
        if (ended == 0) return;
        const Mask done = lanes.ballot(
            [&](std::uint32_t lane) { return Lanes::has(ended, lane) && walks[lane].phase == no_phase; });
        const Mask other = static_cast<Mask>(ended & ~done);
        if (other != 0 && (!ResolvesUnits<Kernel, KindOf> || lanes.ballot([&](std::uint32_t lane) {
                return Lanes::has(other, lane) && walks[lane].phase != unresolved;
            }) != 0)) {
            now.is_wrong = true;
            now.left = 0;
            return;
        }
        lanes.each([&](std::uint32_t lane) {
            if (!Lanes::has(ended, lane)) return;
            WalkingLane handle;
            kernel.end(handle, walks[lane].state, scratches[lane], inbox.result(inbox.slot_of(lane)));
            walks[lane].phase = no_phase;
        });
        lanes.sync(); // the lanes may have diverged in the functor
        inbox.append_lanes(List::done, done);
        if (other != 0) inbox.append_lanes(List::unresolved, other);
        now.begun = static_cast<Mask>(now.begun & ~ended);
        now.busy -= Lanes::count(ended);
    }

    // ---- between steps --------------------------------------------------------------------------

    /// Between steps, where there is more to do than to begin ready units. False: the group leaves.
    HEADRACE_GROUP_APART bool goes_on() {
        Progress& now = progress_;
        if (now.is_wrong) {
            this->fail(HR_NO_SUCH_PHASE);
            return false;
        }
        if (now.drains) return drains_on();
        if (paused_) return stops(); // begun during a pause: it must not take what it would save
        if (now.left == 0) {
            end_moves();
        } else {
            now.dry = inbox_.count(List::ready) == 0 && !supply();
            if (!paused_ && now.begun == 0 && active_ == 0 && inbox_.units() == 0) {
                const bool skips = has_gaps && gaps_alone_;
                end_moves(); // before a look, units may move to the LIQ
                if (!skips && !paused_) {
                    if (!wait_for_work()) return stops();
                    step_pace_.note_wait();
                }
            } else if (--now.left == 0) {
                end_moves();
            }
        }
        now.wanted = this->paced(lane_count);
        now.enough = enough_walks();
        return !paused_ || stops();
    }

    /// The group pauses, or nothing is left. True: it does more steps before.
    HEADRACE_GROUP_CODE bool stops() {
        if (!paused_ || progress_.begun == 0 || this->failed()) return false;
        progress_.drains = true;
        progress_.left = most_drain_steps<Kernel>;
        return true;
    }

    /// Before a pause: few units should have to begin again. Each launch finishes a unit, or a unit that
    /// takes longer than a launch would never end. But what groups hold after a failure is lost.
    HEADRACE_GROUP_CODE bool drains_on() {
        if (this->failed()) return false;
        const bool has_one = has_finished_ || inbox_.count(List::done) + inbox_.count(List::unresolved) != 0;
        if (has_one || progress_.begun == 0) return false;
        progress_.left = most_drain_steps<Kernel>;
        return true;
    }

    /// A round of moves is over.
    HEADRACE_GROUP_APART void end_moves() {
        progress_.dry = false;
        const bool is_due = end_round();
        const bool asked = is_asked();
        if (asked || (is_due && !this->template goes_on_unseen<true>())) {
            if (sees_idle_groups()) {
                finish_all(); // what they spawn can be shared
                set_ready_aside();
            }
            look_around();
        }
        if (asked || is_due) step_pace_.note_look();
        progress_.left = moves();
    }

    HEADRACE_GROUP_CODE bool sees_idle_groups() const {
        if constexpr (!has_queues) return false; // there is nothing to share
        return lanes_.by_leader([&] { return Sync::load(control_.idle_groups, Sync::relaxed); }) !=
               0; // relaxed: a hint
    }
    /// Units that have not begun go to the LIQ, from which they are shared. One stays if no lane walks: it
    /// would only come back.
    HEADRACE_GROUP_CODE void set_ready_aside() {
        if constexpr (has_queues) {
            const std::uint32_t own = progress_.begun == 0 ? 1 : 0;
            while (inbox_.count(List::ready) > own && liq_.room(walked) != 0) {
                const std::uint32_t units =
                    least(least(inbox_.count(List::ready) - own, liq_.room(walked)), lane_count);
                this->append(
                    walked, static_cast<Mask>(Lanes::all >> (lane_count - units)),
                    [&](std::uint32_t lane) { return inbox_.unit(inbox_.newest(List::ready, lane)); });
                inbox_.move_newest(List::ready, List::unused, units);
            }
        }
    }

    /// Makes units ready. True if it may make more.
    HEADRACE_GROUP_CODE bool supply() {
        constexpr std::uint32_t least_unresolved = enough_lanes(lane_count, resolve_percent_of<Kernel>());
        if (inbox_.count(List::unresolved) >= least_unresolved) resolve();
        if (inbox_.count(List::done) >= lane_count) return finish() && take_in();
        if (take_in()) return true;
        // There is nothing new, or there are no slots for it. Fewer units than would be best are better than
        // idle lanes.
        const std::uint32_t waits_for = inbox_.count(List::unused) < lane_count ? 0 : progress_.busy;
        if (inbox_.count(List::unresolved) > waits_for &&
            inbox_.count(List::unresolved) >= inbox_.count(List::done))
            resolve();
        return inbox_.count(List::done) > waits_for && finish() && take_in();
    }

    /// Moves units from the LIQ, ranges, records, seeds and bundles to the inbox. True if there were some.
    HEADRACE_GROUP_APART bool take_in() {
        running_ = walked;
        // No more than there are slots for: else they would be in lanes that are needed to finish others.
        while (inbox_.count(List::unused) >= lane_count && Lanes::count(active_) < enough()) {
            refill();
            if (!has_ranges || !ranges_follow_ || gaps_alone_) break;
        }
        put_into_inbox();
        return inbox_.count(List::ready) != 0;
    }
    /// Moves the lanes' units to the inbox.
    HEADRACE_GROUP_CODE void put_into_inbox() {
        lanes_.each([&](std::uint32_t lane) {
            if (Lanes::has(active_, lane))
                inbox_.write_unit(inbox_.newest(List::unused, lanes_.count_below(active_, lane)),
                                  state_[lane].unit);
        });
        inbox_.move_newest(List::unused, List::ready, Lanes::count(active_)); // all lanes see the units
        active_ = 0;
    }

    HEADRACE_GROUP_APART void resolve() {
        if constexpr (ResolvesUnits<Kernel, KindOf>) {
            const std::uint32_t units = least(inbox_.count(List::unresolved), lane_count);
            lanes_.each([&](std::uint32_t lane) {
                if (lane >= units) return;
                const std::uint32_t slot = inbox_.newest(List::unresolved, lane);
                WalkingLane handle;
                kernel_.resolve(handle, inbox_.result(slot), from_words<Unit>(inbox_.unit(slot)));
            });
            lanes_.sync(); // the lanes may have diverged in the functor
            inbox_.move_newest(List::unresolved, List::done, units);
        }
    }

    /// Finishes done units with the lanes that are not in `active_`. False if no unit may spawn.
    HEADRACE_GROUP_APART bool finish() {
        const Mask free = static_cast<Mask>(Lanes::all & ~active_);
        std::uint32_t units = least(inbox_.count(List::done), Lanes::count(free));
        if (units != 0 && spawned_at_end != 0) units = units_with_room(units, spawned_at_end);
        if (units == 0) return false;
        const std::uint32_t held = units_held();
        const Mask chosen = lanes_.ballot([&](std::uint32_t lane) {
            auto& state = state_[lane];
            state.continues = state.too_many = false;
            state.staged = 0;
            const std::uint32_t rank = lanes_.count_below(free, lane);
            if (!Lanes::has(free, lane) || rank >= units) return false;
            const std::uint32_t slot = inbox_.newest(List::done, rank);
            Finisher handle(state, this->sums_);
            const typename Inbox::Result& result = inbox_.result(slot);
            kernel_.finish(handle, result, from_words<Unit>(inbox_.unit(slot)));
            return true;
        });
        lanes_.sync(); // the lanes may have diverged in the functor
        running_ = walked;
        collect(chosen);
        inbox_.move_newest(List::done, List::unused, units);
        has_finished_ = true;
        note_completed(chosen, held);
        return true;
    }

    // ---- leaving --------------------------------------------------------------------------------

    HEADRACE_GROUP_APART void leave() {
        if (paused_ && !this->failed()) {
            finish_all();
            // What was begun begins again.
            inbox_.append_lanes(List::ready, progress_.begun);
            inbox_.move_newest(List::done, List::ready, inbox_.count(List::done));
            inbox_.move_newest(List::unresolved, List::ready, inbox_.count(List::unresolved));
            if (!this->failed()) this->save();
        }
        this->flush();
        this->keep_spare();
        this->add_counters(
            empty_, [&] { return mean_rounds(counters_.units, progress_.turn, progress_.lane_steps); });
    }

    /// Finishes what is done or unresolved, as far as there is room for what it spawns.
    HEADRACE_GROUP_CODE void finish_all() {
        while (inbox_.count(List::unresolved) != 0) resolve();
        while (inbox_.count(List::done) != 0 && finish()) put_into_inbox();
    }

    StepPace<Sync, Lanes> step_pace_;
    Progress progress_;         ///< as the loop of steps left it
    bool has_finished_ = false; ///< a unit, in this launch
};

} // namespace headrace
