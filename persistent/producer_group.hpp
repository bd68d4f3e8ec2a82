// persistent/producer_group.hpp - a lane group that works off units and what they spawn. README.md is its
// plan.
#pragma once
#include <headrace/persistent/giq.hpp>
#include <headrace/persistent/group.hpp>
#include <headrace/persistent/liq.hpp>

namespace headrace {

template <class Sync, class Lanes, class Kernel, class Seeds>
class ProducerGroup : Group<Sync, Lanes> {
    using Base = Group<Sync, Lanes>;
    using Base::control_, Base::lanes_, Base::parked_, Base::seeds_, Base::view_;
    using Mask = typename Lanes::Mask;
    using Traits = KindTraits<typename Kernel::Units>;
    using Words = UnitWords<Traits::unit_words>;
    using State = LaneState<Traits, is_wide<Lanes> ? 0 : Traits::staged>;
    using SeedUnit = decltype(std::declval<const Seeds&>()(std::uint64_t{}));

    static constexpr std::uint32_t lane_count = Lanes::size;
    static constexpr bool has_queues = Traits::staged > 0; // else nothing but continuations is ever spawned
    static constexpr bool has_kinds = Traits::count > 1;
    static constexpr std::uint32_t seed_kind = Traits::template index_of<SeedUnit>();
    static_assert(seed_kind < Traits::count, "the seeds make a unit that is none of the kernel's Units");

public:
    static constexpr std::uint32_t queue_lanes = lane_count, kinds = Traits::count,
                                   unit_words = Traits::unit_words, max_spawns = Traits::max_spawns,
                                   least_liq_units = Traits::staged, scratch = kernel_scratch<Lanes, Kernel>;

    HEADRACE_GROUP_CODE ProducerGroup(Lanes lanes, const Kernel& kernel, const Seeds& seeds,
                                      const EngineView& view, std::uint32_t group, std::uint32_t* local,
                                      const LocalSums& sums = {})
        : Base(lanes, view, group, local, sums),
          kernel_(kernel),
          expand_(seeds),
          liq_(this->local_ + scratch, view.control->liq_units),
          giq_(lanes, view.slots, kinds, view.ring_slots, view.ways, group),
          enough_(view.control->enough),
          spare_(view.spill[group]) {
        this->look_for_park(); // a group that begins when all is over must not take what it would save at
                               // once
    }

    /// Until there is no unit left anywhere, or all groups park.
    HEADRACE_GROUP_CODE void run() {
        while (!parked_) {
            if (Lanes::count(active_) < enough_) refill();
            if (active_ == 0) {
                if (!wait_for_work()) break;
                continue;
            }
            if constexpr (has_kinds) prefer_fuller_kind();
            const Mask chosen = lanes_with_room();
            if (chosen != 0 ? run_rounds(chosen) : this->end_round()) look_around();
        }
        leave();
    }

private:
    // ---- where units come from
    // ------------------------------------------------------------------------------------

    HEADRACE_GROUP_CODE void refill() {
        if constexpr (has_queues) {
            take_from_liq(running_);
            if (has_kinds && active_ == 0) take_from_liq(liq_.fullest());
            lanes_.sync(); // all have read before anyone overwrites
            if (Lanes::count(active_) >= enough_) return;
        }
        if (active_ == 0 && seeds_.empty() && restore() && active_ != 0) return;
        take_seeds(); // of a record too: it may hold nothing else, and a group without a unit would wait
        if (Lanes::count(active_) >= enough_) return;
        if constexpr (has_queues) {
            take_bundle();
            if (Lanes::count(active_) >= enough_) return;
        }
        if (seeds_.empty() && this->claim_seeds(1)) take_seeds();
    }

    /// Newest units of `kind` to idle lanes. Needs a sync before the LIQ is written.
    HEADRACE_GROUP_CODE void take_from_liq(std::uint32_t kind) {
        const std::uint32_t taken = least(liq_.size(kind), lane_count - Lanes::count(active_));
        if (taken == 0) return;
        running_ = kind;
        const std::uint32_t newest = liq_.top(kind) - 1;
        give(taken, [&](std::uint32_t rank) { return liq_.read(kind, newest - rank); });
        liq_.drop_newest(kind, taken);
    }

    HEADRACE_GROUP_CODE void take_seeds() {
        if (seeds_.empty() || (has_kinds && active_ != 0 && running_ != seed_kind)) return;
        const std::uint64_t left = seeds_.end - seeds_.next;
        const std::uint32_t idle = lane_count - Lanes::count(active_);
        const std::uint32_t taken = left < idle ? static_cast<std::uint32_t>(left) : idle;
        running_ = seed_kind;
        give(taken, [&](std::uint32_t rank) { return to_words<unit_words>(expand_(seeds_.next + rank)); });
        lanes_.sync(); // expanding may diverge
        seeds_.next += taken;
    }

    /// A bundle from the GIQ; what finds no idle lane goes to the LIQ.
    HEADRACE_GROUP_CODE void take_bundle() {
        for (std::uint32_t step = 1; step <= kinds; ++step) {
            const std::uint32_t kind = active_ == 0 ? (last_popped_ + step) % kinds : running_;
            if (try_take_bundle(kind) || active_ != 0) return;
        }
    }

    HEADRACE_GROUP_CODE bool try_take_bundle(std::uint32_t kind) {
        const std::uint32_t idle = lane_count - Lanes::count(active_);
        if (idle + liq_.room(kind) < lane_count) return false;
        const std::uint32_t full = giq_.full(kind);
        if (full == 0 || !return_spare()) return false;
        const auto popped = giq_.try_pop(kind, full);
        if (!popped.there) return false;
        lanes_.sync(); // the leader has acquired; now all may read
        const std::uint32_t bundle = hr_entry_bundle(popped.entry);
        const std::uint32_t units = hr_entry_count(popped.entry);
        const std::uint32_t* from = view_.bundles + hr_bundle_at(bundle, lane_count, unit_words);
        const auto read = [&](std::uint32_t unit) { return read_column(from, lane_count, unit); };
        const std::uint32_t taken = least(units, idle);
        running_ = kind;
        give(taken, read);
        lanes_.each([&](std::uint32_t lane) {
            if (lane < units - taken) liq_.write(kind, liq_.top(kind) + lane, read(taken + lane));
        });
        liq_.add(kind, units - taken);
        lanes_.sync(); // all have read before the bundle is used again, and the LIQ is as all see it
        spare_ = bundle;
        last_popped_ = kind;
        this->count(&GroupTally::popped);
        return true;
    }

    /// unit(rank) to the first `taken` idle lanes.
    template <class F>
    HEADRACE_GROUP_CODE void give(std::uint32_t taken, F&& unit) {
        const Mask idle = static_cast<Mask>(Lanes::all & ~active_);
        active_ |= lanes_.ballot([&](std::uint32_t lane) {
            const std::uint32_t rank = lanes_.count_below(idle, lane);
            const bool takes = Lanes::has(idle, lane) && rank < taken;
            if (takes) state_[lane].unit = unit(rank);
            return takes;
        });
    }

    // ---- running
    // --------------------------------------------------------------------------------------------------

    /// Sets the lanes' units aside when another kind could fill the group and has more.
    HEADRACE_GROUP_CODE void prefer_fuller_kind() {
        const std::uint32_t kind = liq_.fullest();
        const std::uint32_t running = Lanes::count(active_);
        if (kind == running_ || liq_.size(kind) < lane_count ||
            liq_.size(kind) <= liq_.size(running_) + running || liq_.room(running_) < running)
            return;
        append(running_, active_, [&](std::uint32_t lane) { return state_[lane].unit; });
        lanes_.sync();
        active_ = 0;
        take_from_liq(kind);
        lanes_.sync(); // all have read before anyone overwrites
        this->count(&GroupTally::switches);
    }

    /// The active lanes whose spawns the LIQ can take, whatever they spawn.
    HEADRACE_GROUP_CODE Mask lanes_with_room() {
        if constexpr (!has_queues) {
            return active_;
        } else {
            std::uint32_t each_may_spawn = 0;
            Traits::dispatch(running_, [&](auto, auto* kind) {
                each_may_spawn =
                    Traits::beyond_continuation(std::remove_pointer_t<decltype(kind)>::max_spawns);
            });
            if (each_may_spawn == 0) return active_;
            const std::uint32_t wanted = Lanes::count(active_);
            std::uint32_t may_run = wanted;
            Push last = Push::done;
            HEADRACE_UNROLL
            for (std::uint32_t kind = 0; kind < kinds; ++kind) {
                while (liq_.room(kind) < each_may_spawn * wanted && liq_.size(kind) > 0) {
                    last = push_oldest(kind, lane_count);
                    if (last != Push::done) break;
                }
                may_run = least(may_run, liq_.room(kind) / each_may_spawn);
            }
            if (may_run == wanted) return active_;
            this->count(&GroupTally::narrow_rounds);
            if (may_run == 0 && last == Push::no_bundle) this->park(HR_PARK_POOL);
            return lanes_.ballot([&](std::uint32_t lane) {
                return Lanes::has(active_, lane) && lanes_.count_below(active_, lane) < may_run;
            });
        }
    }

    /// Rounds on end, the first with the chosen lanes, while the group's own LIQ fills them: what a round
    /// costs decides whether units of few instructions pay. True if it is time to look around.
    HEADRACE_GROUP_CODE bool run_rounds(Mask chosen) {
        const std::uint32_t held = Lanes::count(active_) + liq_.units();
        lanes_.each([&](std::uint32_t lane) { state_[lane].too_many = false; });
        while (run_until_look(chosen) && this->goes_on_unseen()) chosen = active_;
        const std::uint32_t more = Lanes::count(active_) + liq_.units() - held; // modulo 2^32: may be fewer
        this->book(0, static_cast<std::int32_t>(more));
        if (lanes_.ballot([&](std::uint32_t lane) { return state_[lane].too_many; }) != 0)
            this->fail(HR_SPAWNED_TOO_MANY);
        return this->is_look_due();
    }

    /// True if all lanes may go on when the look around that is due has been taken.
    HEADRACE_GROUP_CODE bool run_until_look(Mask chosen) {
        std::uint32_t running = Lanes::count(chosen), completed = 0;
        bool look = false, all_run = false;
        do {
            call_kernel(chosen);
            collect(chosen);
            completed += running;
            look = this->end_round();
            all_run = fill_lanes(running);
            chosen = active_;
        } while (all_run && !look);
        this->book(completed, 0); // what was spawned follows in run_rounds from what is held
        return all_run;
    }

    /// The newest units of the LIQ to idle lanes, if they are too many. True if all that are `running` then
    /// may run, whatever they spawn; says no where that is not simple. The LIQ may be written after a sync: a
    /// call of the kernel has one.
    HEADRACE_GROUP_CODE bool fill_lanes(std::uint32_t& running) {
        running = Lanes::count(active_);
        if constexpr (has_kinds) { // another kind may have become fuller
            return false;
        } else if constexpr (!has_queues) {
            return running >= enough_;
        } else {
            if (running < enough_) {
                const std::uint32_t taken = lane_count - running;
                if (liq_.size(0) < taken) return false;
                const Mask idle = static_cast<Mask>(Lanes::all & ~active_);
                const std::uint32_t newest = liq_.top(0) - 1;
                lanes_.each([&](std::uint32_t lane) {
                    if (Lanes::has(idle, lane))
                        state_[lane].unit = liq_.read(0, newest - lanes_.count_below(idle, lane));
                });
                liq_.drop_newest(0, taken);
                active_ = Lanes::all;
                running = lane_count;
            }
            return liq_.room(0) >= Traits::staged * lane_count;
        }
    }

    template <std::uint32_t Running, class KindOf>
    HEADRACE_GROUP_CODE void call_group(State& state) {
        const auto keep = [&](std::uint32_t kind, const Words& unit) {
            append(kind, Lanes::all, [&](std::uint32_t) { return unit; });
        };
        const auto idle = [&] {
            // relaxed, both: hints. Who parks is not hungry any more, and waits for this unit all the same.
            return lanes_.by_leader([&] {
                return Sync::load(control_.hungry, Sync::relaxed) | Sync::load(control_.park, Sync::relaxed);
            }) != 0;
        };
        lanes_.sync(); // all have read the unit from where the first one that is spawned goes
        SpawningGroup<Traits, Running, KindOf::max_spawns, decltype(keep), decltype(idle)> spawner(
            state, this->sums_, keep, idle);
        KernelGroup handle(lanes_.lanes, spawner, this->local_);
        kernel_(handle, from_words<typename KindOf::Unit>(state.unit));
    }

    HEADRACE_GROUP_CODE void call_kernel(Mask chosen) {
        Traits::dispatch(running_, [&](auto running, auto* kind_tag) {
            using KindOf = std::remove_pointer_t<decltype(kind_tag)>;
            lanes_.each([&](std::uint32_t lane) {
                State& state = state_[lane];
                state.continues = false;
                state.staged = 0;
                if (!Lanes::has(chosen, lane)) return;
                if constexpr (is_wide<Lanes>) {
                    call_group<decltype(running)::value, KindOf>(state);
                } else {
                    SpawningLane<Traits, decltype(running)::value, KindOf::max_spawns> handle(state,
                                                                                              this->sums_);
                    kernel_(handle, from_words<typename KindOf::Unit>(state.unit));
                }
            });
        });
        lanes_.sync(); // the functor may have parted the lanes
    }

    /// Continuations stay in their lanes; the rest of what was spawned goes to the LIQ.
    HEADRACE_GROUP_CODE void collect(Mask chosen) {
        const Mask next = lanes_.ballot([&](std::uint32_t lane) { return state_[lane].continues; });
        if constexpr (has_queues && !is_wide<Lanes>) {
            HEADRACE_UNROLL
            for (std::uint32_t place = 0; place < Traits::staged; ++place) {
                const Mask have =
                    lanes_.ballot([&](std::uint32_t lane) { return state_[lane].staged > place; });
                if (place > 0 && have == 0) break; // the first is there as a rule
                HEADRACE_UNROLL
                for (std::uint32_t kind = 0; kind < kinds; ++kind) {
                    Mask mine = have;
                    if constexpr (has_kinds)
                        mine = lanes_.ballot([&](std::uint32_t lane) {
                            return Lanes::has(have, lane) && staged_kind(lane, place) == kind;
                        });
                    append(kind, mine, [&](std::uint32_t lane) { return staged_unit(lane, place); });
                }
            }
            lanes_.sync(); // the LIQ's new units are seen by whichever lane takes them
        }
        active_ = static_cast<Mask>((active_ & ~chosen) | next);
    }

    // An index known at compile time keeps the staged units in registers.
    HEADRACE_GROUP_CODE Words staged_unit(std::uint32_t lane, std::uint32_t place) {
        Words words = state_[lane].units[0];
        HEADRACE_UNROLL
        for (std::uint32_t i = 1; i < Traits::staged; ++i)
            if (i == place) words = state_[lane].units[i];
        return words;
    }
    HEADRACE_GROUP_CODE std::uint32_t staged_kind(std::uint32_t lane, std::uint32_t place) {
        std::uint32_t kind = state_[lane].kinds[0];
        HEADRACE_UNROLL
        for (std::uint32_t i = 1; i < Traits::staged; ++i)
            if (i == place) kind = state_[lane].kinds[i];
        return kind;
    }

    /// unit(lane) of the lanes in `mine`, in lane order, as the newest of the LIQ. Needs room and a sync
    /// after.
    template <class F>
    HEADRACE_GROUP_CODE void append(std::uint32_t kind, Mask mine, F&& unit) {
        lanes_.each([&](std::uint32_t lane) {
            if (Lanes::has(mine, lane))
                liq_.write(kind, liq_.top(kind) + lanes_.count_below(mine, lane), unit(lane));
        });
        liq_.add(kind, Lanes::count(mine));
    }

    // ---- sharing
    // --------------------------------------------------------------------------------------------------

    enum class Push : std::uint32_t { done, no_bundle, slot_busy };
    static constexpr std::uint32_t free_bundles = kinds; ///< the number of their rings

    HEADRACE_GROUP_CODE void look_around() {
        this->plan_next_look();
        this->hear_host();
        struct Seen {
            std::uint32_t park, hungry;
        };
        const auto seen = lanes_.by_leader([&]() -> Seen {
            // relaxed, both: hints; what they lead to orders itself.
            return {Sync::load(control_.park, Sync::relaxed), Sync::load(control_.hungry, Sync::relaxed)};
        });
        if (seen.park != HR_RUN) parked_ = true;
        if constexpr (has_queues) {
            const std::uint32_t kind = liq_.fullest();
            const std::uint32_t half = (liq_.size(kind) + 1) / 2;
            // A bundle; bundles of one unit, which is heavy then, for each who is hungry.
            std::uint32_t bundles = is_wide<Lanes> ? least(seen.hungry, half) : least(seen.hungry, 1);
            for (; bundles > 0 && half > 0 && push_oldest(kind, half) == Push::done; --bundles)
                this->count(&GroupTally::shared);
        }
    }

    /// The oldest units of a kind, at most a bundle, to the GIQ.
    HEADRACE_GROUP_CODE Push push_oldest(std::uint32_t kind, std::uint32_t at_most) {
        if (spare_ == HR_NO_BUNDLE) {
            const auto popped = giq_.try_pop(free_bundles, giq_.all);
            if (!popped.there) {
                this->count(&GroupTally::no_bundle);
                return Push::no_bundle;
            }
            spare_ = static_cast<std::uint32_t>(popped.entry);
            lanes_.sync(); // the leader has acquired; now all may write
        }
        const std::uint32_t units = least(least(liq_.size(kind), at_most), lane_count);
        std::uint32_t* to = view_.bundles + hr_bundle_at(spare_, lane_count, unit_words);
        lanes_.each([&](std::uint32_t lane) {
            if (lane < units) write_column(to, lane_count, lane, liq_.read(kind, liq_.bottom(kind) + lane));
        });
        this->flush(true); // before others can complete what we have not yet counted
        lanes_.sync();     // all have written; now the leader may release
        if (!giq_.try_push(kind, hr_entry(spare_, units))) {
            this->count(&GroupTally::slot_busy); // the units are still in the LIQ, and the bundle in hand
            return Push::slot_busy;
        }
        liq_.drop_oldest(kind, units);
        spare_ = HR_NO_BUNDLE;
        this->count(&GroupTally::pushed);
        return Push::done;
    }

    /// True if no bundle is in hand any more.
    HEADRACE_GROUP_CODE bool return_spare() {
        if (spare_ == HR_NO_BUNDLE) return true;
        // The sync before the leader's release is the one that ended our reading of the bundle.
        if (!giq_.try_push(free_bundles, spare_)) {
            this->count(&GroupTally::slot_busy);
            return false;
        }
        spare_ = HR_NO_BUNDLE;
        return true;
    }

    /// True when there may be something to take; false when there never will be, or all groups park.
    HEADRACE_GROUP_CODE bool wait_for_work() {
        this->flush();
        if constexpr (has_queues) return_spare();
        this->count(&GroupTally::idle);
        add_to_hungry(1);
        // Taken while still hungry: of all who see a bundle one gets it, and the others need not tell that
        // they are hungry again.
        const bool goes_on = this->wait_until([&] {
            if constexpr (has_queues) take_bundle();
            return active_ != 0;
        });
        if (goes_on) add_to_hungry(~0u);
        return goes_on;
    }

    HEADRACE_GROUP_CODE void add_to_hungry(std::uint32_t amount) {
        lanes_.by_leader([&] {
            Sync::fetch_add(control_.hungry, amount, Sync::relaxed); // relaxed: a hint
        });
    }

    // ---- parking
    // --------------------------------------------------------------------------------------------------

    HEADRACE_GROUP_CODE void leave() {
        this->flush();
        if (parked_ && !this->failed()) save();
        lanes_.by_leader([&] { view_.spill[this->group_] = spare_; });
        this->add_counters();
    }

    /// Rows of a kind's units in a record.
    HEADRACE_GROUP_CODE std::uint32_t* columns(HrRecord* record, std::uint32_t kind) const {
        return reinterpret_cast<std::uint32_t*>(record + 1) + kind * unit_words * record_room();
    }
    HEADRACE_GROUP_CODE std::uint32_t record_room() const {
        return hr_record_room(lane_count, liq_.capacity());
    }

    HEADRACE_GROUP_CODE void save() {
        if (active_ == 0 && seeds_.empty() && liq_.empty()) return;
        HrRecord* record = this->new_record();
        HEADRACE_UNROLL
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const std::uint32_t queued = liq_.size(kind);
            const std::uint32_t in_lanes = kind == running_ ? Lanes::count(active_) : 0;
            std::uint32_t* to = columns(record, kind);
            lanes_.each([&](std::uint32_t lane) {
                for (std::uint32_t i = lane; i < queued; i += lane_count)
                    write_column(to, record_room(), i, liq_.read(kind, liq_.bottom(kind) + i));
                if (in_lanes > 0 && Lanes::has(active_, lane)) // the newest: they come back into lanes first
                    write_column(to, record_room(), queued + lanes_.count_below(active_, lane),
                                 state_[lane].unit);
            });
            lanes_.by_leader([&] { record->count[kind] = queued + in_lanes; });
            liq_.drop_newest(kind, queued);
        }
        lanes_.by_leader([&] {
            record->seed_next = seeds_.next;
            record->seed_end = seeds_.end;
        });
        lanes_.sync();
        active_ = 0;
        seeds_ = {0, 0};
    }

    /// Takes up what a parked group held. Only for a group that holds nothing.
    HEADRACE_GROUP_CODE bool restore() {
        HrRecord* record = this->claim_record();
        if (!record) return false;
        seeds_ = {record->seed_next, record->seed_end};
        std::uint32_t fullest =
            0; // what a LIQ cannot hold was in lanes, so it is the fullest that goes back there
        HEADRACE_UNROLL
        for (std::uint32_t kind = 1; kind < kinds; ++kind)
            if (record->count[kind] > record->count[fullest]) fullest = kind;
        HEADRACE_UNROLL
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const std::uint32_t units = record->count[kind];
            const std::uint32_t taken = kind == fullest ? least(units, lane_count) : 0;
            const std::uint32_t* from = columns(record, kind);
            lanes_.each([&](std::uint32_t lane) {
                for (std::uint32_t i = lane; i < units - taken; i += lane_count)
                    liq_.write(kind, liq_.top(kind) + i, read_column(from, record_room(), i));
            });
            liq_.add(kind, units - taken);
            if (taken > 0) {
                running_ = kind;
                give(taken, [&](std::uint32_t rank) {
                    return read_column(from, record_room(), units - taken + rank);
                });
            }
        }
        lanes_.sync();
        return true;
    }

    // ---- words
    // ----------------------------------------------------------------------------------------------------

    static HEADRACE_GROUP_CODE std::uint32_t least(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

    static HEADRACE_GROUP_CODE Words read_column(const std::uint32_t* from, std::uint32_t row,
                                                 std::uint32_t column) {
        Words words;
        HEADRACE_UNROLL
        for (std::uint32_t w = 0; w < unit_words; ++w) words.word[w] = from[w * row + column];
        return words;
    }
    static HEADRACE_GROUP_CODE void write_column(std::uint32_t* to, std::uint32_t row, std::uint32_t column,
                                                 const Words& words) {
        HEADRACE_UNROLL
        for (std::uint32_t w = 0; w < unit_words; ++w) to[w * row + column] = words.word[w];
    }

    const Kernel& kernel_;
    const Seeds& expand_;
    typename Lanes::template PerLane<State> state_;
    Mask active_ = 0;           ///< lanes that have a unit, all of kind `running_`
    std::uint32_t running_ = 0; ///< the kind in the lanes
    Liq<unit_words, kinds> liq_;
    Giq<Sync, Lanes> giq_;
    std::uint32_t enough_; ///< lanes: with fewer, the group refills
    std::uint32_t spare_;  ///< an empty bundle in hand, or HR_NO_BUNDLE
    std::uint32_t last_popped_ =
        0; ///< the kind of the last bundle from the GIQ: the next search begins after it
};

} // namespace headrace
