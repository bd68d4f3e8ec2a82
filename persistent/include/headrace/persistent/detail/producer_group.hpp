// persistent/detail/producer_group.hpp - a lane group that processes units and the units that they spawn.
// docs/engine.md describes the algorithm.
#pragma once
#include <headrace/persistent/detail/kernel_calls.hpp>

namespace headrace {

template <class Sync, class Lanes, class Kernel, class Seeds>
class ProducerGroup : KernelCalls<Sync, Lanes, Kernel> {
    using Base = KernelCalls<Sync, Lanes, Kernel>;
    using Base::active_, Base::control_, Base::counters_, Base::lanes_, Base::liq_, Base::pace_,
        Base::paused_, Base::ranges_follow_, Base::running_, Base::seeds_, Base::state_;
    using Base::append_spawned, Base::call_kernel, Base::collect, Base::enough, Base::give_made,
        Base::has_room_for, Base::lanes_with_room, Base::narrowed, Base::push_oldest, Base::set_lanes_aside,
        Base::take_bundle, Base::take_from_liq;
    using Base::called, Base::chooses_kinds, Base::first_called, Base::has_queues, Base::has_ranges,
        Base::lane_count, Base::least, Base::staged;
    using typename Base::Mask, typename Base::Push, typename Base::Traits, typename Base::Words;

    static constexpr std::uint32_t seed_kind = Traits::template index_of<typename SeedMade<Seeds>::Unit>();
    static_assert(seed_kind < Traits::count, "the seeds make a unit that is none of the kernel's Units");
    static constexpr bool seeds_are_ranges = Traits::is_in(seed_kind, Traits::ranges);
    /// True if some indices may have no unit.
    static constexpr bool has_gaps =
        SeedMade<Seeds>::may_be_none || seeds_are_ranges || Traits::ranges_have_gaps;

public:
    static constexpr std::uint32_t queue_lanes = lane_count, kinds = Traits::count,
                                   unit_words = Traits::unit_words, max_spawns = Traits::max_spawns,
                                   ranges = Traits::ranges, scratch = kernel_scratch<Lanes, Kernel>;

    HEADRACE_GROUP_CODE ProducerGroup(Lanes lanes, const Kernel& kernel, const Seeds& seeds,
                                      const EngineView& view, std::uint32_t group, std::uint32_t* local,
                                      const LocalSums& sums = {}, std::uint32_t* pace = nullptr)
        : Base(lanes, kernel, view, group, local, sums, pace), expand_(seeds) {
        this->look_for_pause(); // a group that begins during a pause must not take what it would save
    }

    /// Runs until no unit is left anywhere, or all groups pause.
    HEADRACE_GROUP_CODE void run() {
        while (!paused_) {
            while (Lanes::count(active_) < enough()) {
                refill();
                if (!has_ranges || !ranges_follow_ || gaps_alone_) break;
            }
            if (active_ == 0) {
                if constexpr (has_gaps)
                    if (gaps_alone_) { // there may be more gaps than a launch has time for
                        if (this->end_round()) look_around();
                        continue;
                    }
                if (!wait_for_work()) break;
                continue;
            }
            if constexpr (chooses_kinds) prefer_fuller_kind();
            const Mask chosen = narrowed(lanes_with_room());
            if (chosen != 0 ? run_rounds(chosen) : this->end_round()) look_around();
        }
        leave();
    }

private:
    // ---- where units come from ------------------------------------------------------------------

    HEADRACE_GROUP_CODE void refill() {
        if constexpr (has_gaps) gaps_alone_ = false;
        if constexpr (has_ranges) ranges_follow_ = false;
        if constexpr (has_queues) {
            take_from_liq(running_);
            if (chooses_kinds && active_ == 0) take_from_liq(liq_.template fullest<called>());
            lanes_.sync(); // all lanes have read before one of them overwrites
            expand_ranges();
            if (Lanes::count(active_) >= enough()) return;
        }
        if (holds_nothing() && this->restore()) {
            if constexpr (has_ranges) ranges_follow_ = liq_.template units<ranges>() != 0;
            if (active_ != 0 || ranges_follow_) return;
        }
        take_seeds(); // also of a record: it may hold only seeds, and a group without units would wait
        if (Lanes::count(active_) >= enough() || ranges_follow_) return;
        if constexpr (has_queues) {
            take_bundle();
            if (Lanes::count(active_) >= enough() || ranges_follow_) return;
        }
        if (seeds_.empty() && this->claim_seeds(1)) take_seeds();
    }

    /// If indices may have no unit, the LIQ may still hold ranges although no lane is active.
    HEADRACE_GROUP_CODE bool holds_nothing() const {
        bool nothing = active_ == 0 && seeds_.empty();
        if constexpr (has_gaps) nothing = nothing && liq_.empty();
        return nothing;
    }

    HEADRACE_GROUP_CODE void take_seeds() {
        if constexpr (seeds_are_ranges) {
            take_ranges_of_seeds();
        } else {
            if (seeds_.empty() || (chooses_kinds && active_ != 0 && running_ != seed_kind)) return;
            do {
                const std::uint64_t left = seeds_.end - seeds_.next;
                const std::uint32_t idle = lane_count - Lanes::count(active_);
                const std::uint32_t taken = left < idle ? static_cast<std::uint32_t>(left) : idle;
                running_ = seed_kind;
                const std::uint32_t empty =
                    give_made(taken, [&](std::uint32_t rank) { return expand_(seeds_.next + rank); });
                lanes_.sync(); // lanes may diverge when they expand
                seeds_.next += taken;
                if constexpr (SeedMade<Seeds>::may_be_none) complete_empty(empty);
            } while (SeedMade<Seeds>::may_be_none && !seeds_.empty() && Lanes::count(active_) < enough());
        }
    }

    /// Counts indices without a unit as completed.
    HEADRACE_GROUP_CODE void complete_empty(std::uint32_t indices) {
        this->book(0, -static_cast<std::int64_t>(indices));
        empty_ += indices;
        gaps_alone_ = active_ == 0;
    }

    // ---- ranges: a range that is begun stays in the LIQ, shortened ------------------------------

    /// Gives units of the newest ranges to idle lanes. Older ranges wait, so few ranges are begun at a time.
    HEADRACE_GROUP_CODE void expand_ranges() {
        Traits::each_range([&](auto number, auto units, auto* kind_tag) {
            using KindOf = std::remove_pointer_t<decltype(kind_tag)>;
            constexpr std::uint32_t kind = decltype(number)::value, of = decltype(units)::value;
            // With gaps, enough lanes suffice, and passes are limited so that the group looks around.
            constexpr std::uint32_t most_passes = 32;
            const std::uint32_t wanted = range_has_gaps<KindOf> ? enough() : lane_count;
            for (std::uint32_t passes = 0; liq_.size(kind) > 0 && Lanes::count(active_) < wanted &&
                                           (!chooses_kinds || active_ == 0 || running_ == of) &&
                                           (!range_has_gaps<KindOf> || passes < most_passes);
                 ++passes)
                expand_newest<KindOf, kind, of>();
        });
    }

    template <class KindOf, std::uint32_t RangeKindNumber, std::uint32_t Of>
    HEADRACE_GROUP_CODE void expand_newest() {
        const std::uint32_t newest = liq_.top(RangeKindNumber) - 1;
        auto range = from_words<typename KindOf::Unit>(liq_.read(RangeKindNumber, newest));
        const std::uint64_t left = range.end - range.begin;
        const std::uint32_t idle = lane_count - Lanes::count(active_);
        const std::uint32_t taken = left < idle ? static_cast<std::uint32_t>(left) : idle;
        running_ = Of;
        const std::uint32_t empty = give_made(taken, [&](std::uint32_t rank) {
            return typename KindOf::Expand{}(range.begin + rank, range.payload);
        });
        expanded_ += taken - empty;
        lanes_.sync(); // all lanes have read the range, and may diverge when they expand
        if (taken == left) {
            liq_.drop_newest(RangeKindNumber, 1);
        } else {
            range.begin += taken;
            this->write_range(RangeKindNumber, newest, range);
        }
        if constexpr (range_has_gaps<KindOf>) complete_empty(empty);
    }

    /// Moves seeds that are ranges to the LIQ, at most one for each lane at a time.
    HEADRACE_GROUP_CODE void take_ranges_of_seeds() {
        if (seeds_.empty() || liq_.size(seed_kind) > 0) return;
        const std::uint64_t left = seeds_.end - seeds_.next;
        const std::uint32_t room = least(lane_count, liq_.capacity());
        const std::uint32_t taken = left < room ? static_cast<std::uint32_t>(left) : room;
        typename Lanes::template PerLane<Words> made;
        const Mask given = lanes_.ballot([&](std::uint32_t lane) {
            if (lane >= taken) return false;
            const auto seed = expand_(seeds_.next + lane);
            if constexpr (SeedMade<Seeds>::may_be_none) {
                if (!seed || seed->begin >= seed->end) return false;
                made[lane] = to_words<unit_words>(*seed);
            } else {
                if (seed.begin >= seed.end) return false;
                made[lane] = to_words<unit_words>(seed);
            }
            return true;
        });
        seeds_.next += taken;
        append_spawned(seed_kind, given, [&](std::uint32_t lane) { return made[lane]; });
        lanes_.sync(); // all lanes see the LIQ's new ranges
        this->book(0, -static_cast<std::int64_t>(Lanes::count(given)));
        complete_empty(taken - Lanes::count(given));
        ranges_follow_ = given != 0;
        gaps_alone_ = gaps_alone_ && !ranges_follow_;
    }

    // ---- running --------------------------------------------------------------------------------

    /// Moves the lanes' units to the LIQ if another kind can fill the group and has more units.
    HEADRACE_GROUP_CODE void prefer_fuller_kind() {
        const std::uint32_t kind = liq_.template fullest<called>();
        const std::uint32_t running = Lanes::count(active_);
        if (kind == running_ || liq_.size(kind) < lane_count ||
            liq_.size(kind) <= liq_.size(running_) + running || liq_.room(running_) < running) {
            if constexpr (has_ranges) prefer_range(running);
            return;
        }
        set_lanes_aside();
        take_from_liq(kind);
        lanes_.sync(); // all lanes have read before one of them overwrites
        this->count(&GroupCounters::switches);
    }

    /// The same for a range that can fill the group, if the running kind has too few units.
    HEADRACE_GROUP_CODE void prefer_range(std::uint32_t running) {
        if (running >= enough() || liq_.room(running_) < running || liq_.template units<ranges>() == 0)
            return;
        bool fills = false;
        Traits::each_range([&](auto number, auto, auto* kind_tag) {
            using RangeUnit = typename std::remove_pointer_t<decltype(kind_tag)>::Unit;
            constexpr std::uint32_t kind = decltype(number)::value;
            if (liq_.size(kind) == 0) return;
            const auto newest = from_words<RangeUnit>(liq_.read(kind, liq_.top(kind) - 1));
            fills = fills || newest.end - newest.begin >= lane_count;
        });
        if (!fills) return;
        set_lanes_aside();
        expand_ranges();
        this->count(&GroupCounters::switches);
    }

    /// Runs rounds while the group's own LIQ fills the lanes, first with the chosen lanes. The cost of a
    /// round decides whether units of few instructions are worthwhile. True if a look around is due.
    HEADRACE_GROUP_CODE bool run_rounds(Mask chosen) {
        // Ranges are counted when they are spawned.
        const auto units = [&] { return Lanes::count(active_) + liq_.template units<~ranges>(); };
        const std::uint32_t held = units();
        lanes_.each([&](std::uint32_t lane) { state_[lane].too_many = false; });
        while (run_until_look(chosen) && this->goes_on_unseen()) chosen = narrowed(active_);
        const std::uint32_t more = units() - held; // modulo 2^32: may be negative
        this->book(0, static_cast<std::int32_t>(more));
        if (lanes_.ballot([&](std::uint32_t lane) { return state_[lane].too_many; }) != 0)
            this->fail(HR_SPAWNED_TOO_MANY);
        return this->is_look_due();
    }

    /// Runs rounds until a look is due or not all lanes may run. True if all may run after the look.
    HEADRACE_GROUP_CODE bool run_until_look(Mask chosen) {
        std::uint32_t running = Lanes::count(chosen), completed = 0;
        bool look = false, all_run = false;
        if constexpr (has_ranges) expanded_ = 0;
        do {
            call_kernel(chosen);
            collect(chosen);
            completed += running;
            look = this->end_round() || is_asked();
            all_run = fill_lanes(running);
            chosen = narrowed(active_);
            if constexpr (LanesTakeTurns<Lanes>) running = Lanes::count(chosen);
        } while (all_run && !look);
        // run_rounds computes the spawned units from the units held. Ranges counted their units before.
        this->book(completed, has_ranges ? -static_cast<std::int64_t>(expanded_) : 0);
        return all_run;
    }

    /// If too few lanes are active, gives the newest units of the LIQ to idle lanes. True if all `running`
    /// lanes may then run, whatever they spawn; false if that is not simple to tell. A sync must follow
    /// before the LIQ is written again: a call of the kernel has one.
    HEADRACE_GROUP_CODE bool fill_lanes(std::uint32_t& running) {
        running = Lanes::count(active_);
        if constexpr (chooses_kinds) { // another kind may have become fuller
            return false;
        } else if constexpr (!has_queues) {
            return running >= enough();
        } else {
            if (running < enough()) {
                const std::uint32_t taken = lane_count - running;
                if (liq_.size(first_called) < taken) {
                    if (!has_ranges || liq_.size(first_called) > 0) return false;
                    expand_ranges();
                    running = Lanes::count(active_);
                    return running >= enough() && has_room_for(staged * lane_count);
                }
                const Mask idle = static_cast<Mask>(Lanes::all & ~active_);
                const std::uint32_t newest = liq_.top(first_called) - 1;
                lanes_.each([&](std::uint32_t lane) {
                    if (Lanes::has(idle, lane))
                        state_[lane].unit = liq_.read(first_called, newest - lanes_.count_below(idle, lane));
                });
                liq_.drop_newest(first_called, taken);
                active_ = Lanes::all;
                running = lane_count;
            }
            return has_room_for(staged * lane_count);
        }
    }

    // ---- sharing --------------------------------------------------------------------------------

    /// On a host thread a look costs little. So a group that has
    /// units to share looks for idle groups after each round.
    HEADRACE_GROUP_CODE bool is_asked() {
        if constexpr (LanesTakeTurns<Lanes>) {
            if (!has_queues || (liq_.empty() && Lanes::count(active_) < 2)) return false;
            if (Sync::load(control_.idle_groups, Sync::relaxed) == 0) return false; // relaxed: a hint
            this->look_now();
            return true;
        } else {
            return false;
        }
    }

    HEADRACE_GROUP_CODE void look_around() {
        this->plan_next_look(counters_.units);
        this->hear_host();
        struct Seen {
            std::uint32_t pause, idle;
        };
        auto seen = lanes_.by_leader([&]() -> Seen {
            // relaxed, both: hints. What follows from them has its own orders.
            return {Sync::load(control_.pause, Sync::relaxed),
                    Sync::load(control_.idle_groups, Sync::relaxed)};
        });
        if (seen.pause != HR_RUN) paused_ = true;
        if constexpr (has_ranges)
            if (seen.idle != 0 && share_ranges()) seen.idle = 0;
        if constexpr (LanesTakeTurns<Lanes>)
            if (pace_.is_slow()) {
                share_evenly(seen.idle);
                seen.idle = 0;
            }
        if constexpr (has_queues) {
            const std::uint32_t kind = liq_.template fullest<called>();
            const std::uint32_t half = (liq_.size(kind) + 1) / 2;
            // One bundle. In a group kernel units are heavy: one bundle of one unit for each idle group.
            std::uint32_t bundles = is_wide<Lanes> ? least(seen.idle, half) : least(seen.idle, 1);
            for (; bundles > 0 && half > 0 && push_oldest(kind, half) == Push::done; --bundles)
                this->count(&GroupCounters::shared);
        }
    }

    /// Shares heavy units evenly among all idle groups, including units in lanes that are not begun. Does
    /// nothing if the GIQ has a bundle for them already.
    HEADRACE_GROUP_CODE void share_evenly(std::uint32_t idle) {
        if (idle == 0 || !has_queues) return;
        if (Lanes::count(active_) > 1 && liq_.room(running_) >= lane_count) set_lanes_aside();
        const std::uint32_t kind = liq_.template fullest<called>(), own = active_ == 0 ? 1 : 0;
        if (this->is_offered(kind)) return;
        const std::uint32_t share = liq_.size(kind) / (idle + 1);
        for (; idle > 0 && liq_.size(kind) > own; --idle) {
            if (push_oldest(kind, share == 0 ? 1 : share) != Push::done) return;
            this->count(&GroupCounters::shared);
        }
    }

    /// Pushes the older half of a kind's ranges to the GIQ, or half of its only range. So a range reaches all
    /// groups in as many steps as their number has bits. False if units should be shared instead.
    HEADRACE_GROUP_CODE bool share_ranges() {
        bool shared = false;
        Traits::each_range([&](auto number, auto, auto* kind_tag) {
            constexpr std::uint32_t kind = decltype(number)::value;
            if (shared || liq_.size(kind) == 0) return;
            if (liq_.size(kind) > 1)
                shared = push_oldest(kind, liq_.size(kind) / 2) == Push::done;
            else
                shared = this->template push_half<std::remove_pointer_t<decltype(kind_tag)>, kind>();
        });
        if (shared) this->count(&GroupCounters::shared);
        return shared;
    }

    /// Waits. True if there may be something to take; false if there never will be, or all groups pause.
    HEADRACE_GROUP_CODE bool wait_for_work() {
        this->flush();
        if constexpr (has_queues) this->return_spare();
        this->count(&GroupCounters::idle);
        add_to_idle_groups(1);
        // Takes a bundle while the group still counts as idle. Of all groups that see a bundle, one gets it.
        // The others need not change the count.
        const bool goes_on = this->wait_until(1, [&] {
            if constexpr (has_queues) return take_bundle();
            return false;
        });
        if (goes_on) add_to_idle_groups(~0u);
        return goes_on;
    }

    HEADRACE_GROUP_CODE void add_to_idle_groups(std::uint32_t amount) {
        // relaxed: a hint.
        lanes_.by_leader([&] { Sync::fetch_add(control_.idle_groups, amount, Sync::relaxed); });
    }

    // ---- leaving --------------------------------------------------------------------------------

    HEADRACE_GROUP_CODE void leave() {
        this->flush();
        if (paused_ && !this->failed()) this->save();
        this->keep_spare();
        this->add_counters(empty_);
    }

    const Seeds& expand_;
    bool gaps_alone_ = false;    ///< indices were taken, and none had a unit
    std::uint64_t empty_ = 0;    ///< indices without a unit
    std::uint32_t expanded_ = 0; ///< units of ranges since the last look around
};

} // namespace headrace
