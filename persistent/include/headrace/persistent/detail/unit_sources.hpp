// persistent/detail/unit_sources.hpp - where the units in a group's lanes come from: its LIQ, ranges,
// records, seeds and bundles.
#pragma once
#include <headrace/persistent/detail/kernel_calls.hpp>

namespace headrace {

/// Fills lanes that are not occupied. docs/engine.md, One round, has the order of the sources.
template <class Sync, class Lanes, class Kernel, class Seeds>
class UnitSources : protected KernelCalls<Sync, Lanes, Kernel> {
    using Base = KernelCalls<Sync, Lanes, Kernel>;

protected:
    using Base::append_spawned, Base::enough, Base::give_made, Base::idle_lanes, Base::occupied,
        Base::take_bundle, Base::take_from_liq;
    using Base::chooses_kinds, Base::has_queues, Base::has_ranges, Base::lane_count, Base::lane_kinds,
        Base::least, Base::ranges;
    using Base::lanes_, Base::liq_, Base::ranges_follow_, Base::running_, Base::seeds_;
    using typename Base::Mask, typename Base::Traits, typename Base::Words;

    static constexpr std::uint32_t seed_kind = Traits::template index_of<typename SeedMade<Seeds>::Unit>();
    static_assert(seed_kind < Traits::count, "the seeds make a unit that is none of the kernel's Units");
    static constexpr bool seeds_are_ranges = Traits::is_in(seed_kind, Traits::ranges);
    /// True if some indices may have no unit.
    static constexpr bool has_gaps =
        SeedMade<Seeds>::may_be_none || seeds_are_ranges || Traits::ranges_have_gaps;
    static constexpr std::uint32_t queue_lanes = lane_count, max_spawns = Traits::max_spawns;

    HEADRACE_GROUP_CODE UnitSources(Lanes lanes, const Kernel& kernel, const Seeds& seeds,
                                    const EngineView& view, std::uint32_t group, std::uint32_t* local,
                                    const LocalSums& sums, std::uint32_t* pace)
        : Base(lanes, kernel, view, group, local, sums, pace), expand_(seeds) {}

    HEADRACE_GROUP_CODE void refill() {
        if constexpr (has_gaps) gaps_alone_ = false;
        if constexpr (has_ranges) ranges_follow_ = false;
        if constexpr (has_queues) {
            take_from_liq(running_);
            if (chooses_kinds && occupied() == 0) take_from_liq(liq_.template fullest<lane_kinds>());
            lanes_.sync(); // all lanes have read before one of them overwrites
            expand_ranges();
            if (Lanes::count(occupied()) >= enough()) return;
        }
        if (holds_nothing() && this->restore()) {
            if constexpr (has_ranges) ranges_follow_ = liq_.template units<ranges>() != 0;
            if (occupied() != 0 || ranges_follow_) return;
        }
        take_seeds(); // also of a record: it may hold only seeds, and a group without units would wait
        if (Lanes::count(occupied()) >= enough() || ranges_follow_) return;
        if constexpr (has_queues) {
            take_bundle();
            if (Lanes::count(occupied()) >= enough() || ranges_follow_) return;
        }
        if (seeds_.empty() && this->claim_seeds(1)) take_seeds();
    }

    /// If indices may have no unit, the LIQ may still hold ranges although no lane is active.
    HEADRACE_GROUP_CODE bool holds_nothing() const {
        bool nothing = occupied() == 0 && seeds_.empty();
        if constexpr (has_gaps) nothing = nothing && liq_.empty();
        if constexpr (Base::gathers) nothing = nothing && Base::inbox_.units() == 0;
        return nothing;
    }

    HEADRACE_GROUP_CODE void take_seeds() {
        if constexpr (seeds_are_ranges) {
            take_ranges_of_seeds();
        } else {
            if (seeds_.empty() || (chooses_kinds && occupied() != 0 && running_ != seed_kind)) return;
            do {
                const std::uint64_t left = seeds_.end - seeds_.next;
                const std::uint32_t idle = idle_lanes();
                const std::uint32_t taken = left < idle ? static_cast<std::uint32_t>(left) : idle;
                running_ = seed_kind;
                const std::uint32_t empty =
                    give_made(taken, [&](std::uint32_t rank) { return expand_(seeds_.next + rank); });
                lanes_.sync(); // lanes may diverge when they expand
                seeds_.next += taken;
                if constexpr (SeedMade<Seeds>::may_be_none) complete_empty(empty);
            } while (SeedMade<Seeds>::may_be_none && !seeds_.empty() && Lanes::count(occupied()) < enough());
        }
    }

    /// Counts indices without a unit as completed.
    HEADRACE_GROUP_CODE void complete_empty(std::uint32_t indices) {
        this->book(0, -static_cast<std::int64_t>(indices));
        empty_ += indices;
        gaps_alone_ = occupied() == 0;
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
            for (std::uint32_t passes = 0; liq_.size(kind) > 0 && Lanes::count(occupied()) < wanted &&
                                           (!chooses_kinds || occupied() == 0 || running_ == of) &&
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
        const std::uint32_t idle = idle_lanes();
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
                made[lane] = to_words<Base::unit_words>(*seed);
            } else {
                if (seed.begin >= seed.end) return false;
                made[lane] = to_words<Base::unit_words>(seed);
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

    const Seeds& expand_;
    bool gaps_alone_ = false;    ///< indices were taken, and none had a unit
    std::uint64_t empty_ = 0;    ///< indices without a unit
    std::uint32_t expanded_ = 0; ///< units of ranges since the last look around
};

} // namespace headrace
