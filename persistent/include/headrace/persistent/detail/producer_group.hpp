// persistent/detail/producer_group.hpp - a lane group that processes units and the units that they spawn.
// docs/engine.md describes the algorithm.
#pragma once
#include <headrace/persistent/detail/unit_sharing.hpp>

namespace headrace {

template <class Sync, class Lanes, class Kernel, class Seeds>
class ProducerGroup : UnitSharing<Sync, Lanes, Kernel, Seeds> {
    using Base = UnitSharing<Sync, Lanes, Kernel, Seeds>;
    using Base::active_, Base::counters_, Base::empty_, Base::expanded_, Base::gaps_alone_, Base::lanes_,
        Base::liq_, Base::paused_, Base::ranges_follow_, Base::running_, Base::state_;
    using Base::call_kernel, Base::collect, Base::enough, Base::expand_ranges, Base::has_room_for,
        Base::is_asked, Base::lanes_with_room, Base::look_around, Base::narrowed, Base::refill,
        Base::set_lanes_aside, Base::take_from_liq, Base::wait_for_work;
    using Base::chooses_kinds, Base::first_lane_kind, Base::has_gaps, Base::has_queues, Base::has_ranges,
        Base::lane_count, Base::lane_kinds, Base::staged;
    using typename Base::Mask, typename Base::Traits, typename Base::Words;

public:
    using Base::queue_lanes, Base::kinds, Base::unit_words, Base::max_spawns, Base::ranges, Base::scratch;

    HEADRACE_GROUP_CODE ProducerGroup(Lanes lanes, const Kernel& kernel, const Seeds& seeds,
                                      const EngineView& view, std::uint32_t group, std::uint32_t* local,
                                      const LocalSums& sums = {}, std::uint32_t* pace = nullptr)
        : Base(lanes, kernel, seeds, view, group, local, sums, pace) {
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
    // ---- running --------------------------------------------------------------------------------

    /// Moves the lanes' units to the LIQ if another kind can fill the group and has more units.
    HEADRACE_GROUP_CODE void prefer_fuller_kind() {
        const std::uint32_t kind = liq_.template fullest<lane_kinds>();
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
        const std::uint32_t held = this->units_held();
        lanes_.each([&](std::uint32_t lane) { state_[lane].too_many = false; });
        while (run_until_look(chosen) && this->goes_on_unseen()) chosen = narrowed(active_);
        const std::uint32_t more = this->units_held() - held; // modulo 2^32: may be negative
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
                if (liq_.size(first_lane_kind) < taken) {
                    if (!has_ranges || liq_.size(first_lane_kind) > 0) return false;
                    expand_ranges();
                    running = Lanes::count(active_);
                    return running >= enough() && has_room_for(staged * lane_count);
                }
                const Mask idle = static_cast<Mask>(Lanes::all & ~active_);
                const std::uint32_t newest = liq_.top(first_lane_kind) - 1;
                lanes_.each([&](std::uint32_t lane) {
                    if (Lanes::has(idle, lane))
                        state_[lane].unit =
                            liq_.read(first_lane_kind, newest - lanes_.count_below(idle, lane));
                });
                liq_.drop_newest(first_lane_kind, taken);
                active_ = Lanes::all;
                running = lane_count;
            }
            return has_room_for(staged * lane_count);
        }
    }

    // ---- leaving --------------------------------------------------------------------------------

    HEADRACE_GROUP_CODE void leave() {
        this->flush();
        if (paused_ && !this->failed()) this->save();
        this->keep_spare();
        this->add_counters(empty_);
    }
};

} // namespace headrace
