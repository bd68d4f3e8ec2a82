// persistent/detail/group_bundles.hpp - the bundles that a lane group takes from the GIQ and pushes to it.
// docs/engine.md, One round, has the steps of a push.
#pragma once
#include <headrace/persistent/detail/giq.hpp>
#include <headrace/persistent/detail/held_units.hpp>

namespace headrace {

/// Moves units between the lanes, the LIQ and the GIQ, a bundle at a time. Holds at most one empty bundle,
/// the spare.
template <class Sync, class Lanes, class Kernel>
class GroupBundles : protected HeldUnits<Sync, Lanes, Kernel> {
    using Base = HeldUnits<Sync, Lanes, Kernel>;

protected:
    using Base::give, Base::idle_lanes, Base::lanes_, Base::liq_, Base::occupied, Base::running_, Base::view_;
    using Base::has_ranges, Base::kinds, Base::lane_count, Base::lane_kinds, Base::least, Base::ranges,
        Base::unit_words;
    using typename Base::Traits;

    HEADRACE_GROUP_CODE GroupBundles(Lanes lanes, const EngineView& view, std::uint32_t group,
                                     std::uint32_t* local, const LocalSums& sums, std::uint32_t* pace)
        : Base(lanes, view, group, local, sums, pace),
          giq_(lanes, view.slots, kinds, view.ring_slots, view.ways, group),
          spare_(view.spill[group]) {}

    /// Takes a bundle from the GIQ. Units beyond the idle lanes go to the LIQ. True if it took one.
    HEADRACE_GROUP_CODE bool take_bundle() {
        for (std::uint32_t step = 1; step <= kinds; ++step) {
            const std::uint32_t kind = occupied() == 0 ? (last_popped_ + step) % kinds : running_;
            if (try_take_bundle(kind)) return true;
            if (occupied() != 0) break;
        }
        bool taken = false;
        Traits::each_range([&](auto number, auto units, auto*) {
            if (!taken && occupied() != 0 && running_ == decltype(units)::value)
                taken = try_take_bundle(decltype(number)::value);
        });
        return taken;
    }

    /// Takes a bundle of a kind to the LIQ, and leaves the lanes as they are.
    HEADRACE_GROUP_CODE bool take_bundle_to_liq(std::uint32_t kind) { return try_take_bundle<true>(kind); }

    /// True if the GIQ seems to have a bundle of `kind`.
    HEADRACE_GROUP_CODE bool is_offered(std::uint32_t kind) const { return giq_.full(kind) != 0; }

    enum class Push : std::uint32_t { done, no_bundle, slot_busy };

    /// Pushes the oldest units of a kind to the GIQ, at most one bundle.
    HEADRACE_GROUP_CODE Push push_oldest(std::uint32_t kind, std::uint32_t at_most) {
        if (!find_bundle()) {
            this->count(&GroupCounters::no_bundle);
            return Push::no_bundle;
        }
        const std::uint32_t units = least(least(liq_.size(kind), at_most), lane_count);
        std::uint32_t* to = view_.bundles + hr_bundle_at(spare_, lane_count, unit_words);
        lanes_.each([&](std::uint32_t lane) {
            if (lane < units)
                Base::write_column(to, lane_count, lane, liq_.read(kind, liq_.bottom(kind) + lane));
        });
        if (!publish(kind, units)) return Push::slot_busy; // the units are still in the LIQ
        liq_.drop_oldest(kind, units);
        return Push::done;
    }

    /// Cuts the oldest range into pieces of one length, keeps the first, and pushes each of the others to the
    /// GIQ in a bundle of its own. The lanes do so side by side: at most `wanted` pieces, and one a lane.
    /// Returns how many: none if the range is short, or if there is no bundle.
    template <class KindOf, std::uint32_t RangeKindNumber>
    HEADRACE_GROUP_CODE std::uint32_t push_pieces(std::uint32_t wanted) {
        const std::uint32_t oldest = liq_.bottom(RangeKindNumber);
        auto kept = from_words<typename KindOf::Unit>(liq_.read(RangeKindNumber, oldest));
        const std::uint64_t left = kept.end - kept.begin;
        if (left < 2 || left < liq_.size(liq_.template fullest<lane_kinds>())) return 0;
        const std::uint64_t long_pieces = left / (8 * lane_count); // a bundle costs as much as some rounds
        if (wanted > long_pieces) wanted = long_pieces == 0 ? 1 : static_cast<std::uint32_t>(long_pieces);

        const auto lanes = real_lanes(lanes_);
        using RealLanes = std::remove_const_t<decltype(lanes)>;
        typename RealLanes::template PerLane<std::uint64_t> bundle;
        const auto pushing = lanes.ballot([&](std::uint32_t lane) {
            bundle[lane] = spare_;
            return lane < wanted && ((lane == 0 && spare_ != HR_NO_BUNDLE) ||
                                     giq_.lane_pops(free_bundles, lane, bundle[lane]));
        });
        const std::uint32_t pieces = RealLanes::count(pushing);
        if (pieces == 0) {
            this->count(&GroupCounters::no_bundle);
            return 0;
        }
        spare_ = HR_NO_BUNDLE;
        this->flush(true); // before other groups can complete units that are not counted
        lanes_.sync();     // the leader has added; now any lane may release
        const std::uint64_t length = left / (pieces + 1);
        lanes.each([&](std::uint32_t lane) {
            if (!RealLanes::has(pushing, lane)) return;
            auto piece = kept;
            piece.end -= length * lanes.count_below(pushing, lane);
            piece.begin = piece.end - length;
            const auto number = static_cast<std::uint32_t>(bundle[lane]);
            Base::write_column(view_.bundles + hr_bundle_at(number, lane_count, unit_words), lane_count, 0,
                               to_words<unit_words>(piece));
            giq_.lane_pushes(RangeKindNumber, lane, hr_entry(number, 1));
        });
        kept.end -= length * pieces;
        this->write_range(RangeKindNumber, oldest, kept);
        lanes_.by_leader([&] { this->counters_.pushed += pieces; });
        return pieces;
    }

    /// Returns the spare bundle. True if the group has none any more.
    HEADRACE_GROUP_CODE bool return_spare() {
        if (spare_ == HR_NO_BUNDLE) return true;
        // The sync before the leader's release is the one that ended this group's reads of the bundle.
        if (!giq_.try_push(free_bundles, spare_)) {
            this->count(&GroupCounters::slot_busy);
            return false;
        }
        spare_ = HR_NO_BUNDLE;
        return true;
    }

    /// Keeps the spare for the group's next launch.
    HEADRACE_GROUP_CODE void keep_spare() {
        lanes_.by_leader([&] { view_.spill[this->group_] = spare_; });
    }

    bool ranges_follow_ = false; ///< the LIQ has new ranges: another refill expands them

private:
    static constexpr std::uint32_t free_bundles = kinds; ///< ring number of empty bundles

    template <bool ToLiq = false>
    HEADRACE_GROUP_CODE bool try_take_bundle(std::uint32_t kind) {
        const bool holds_ranges =
            ToLiq || (has_ranges && Traits::is_in(kind, ranges)); // all ranges go to the LIQ
        const std::uint32_t idle = holds_ranges ? 0 : idle_lanes();
        const std::uint32_t most_units = holds_ranges ? least(lane_count, liq_.capacity()) : lane_count;
        if (idle + liq_.room(kind) < most_units) return false;
        const std::uint32_t full = giq_.full(kind);
        if (full == 0 || !return_spare()) return false;
        const auto popped = giq_.try_pop(kind, full);
        if (!popped.there) return false;
        lanes_.sync(); // the leader has acquired the bundle; now all lanes may read it
        const std::uint32_t bundle = hr_entry_bundle(popped.entry);
        const std::uint32_t units = hr_entry_count(popped.entry);
        const std::uint32_t* from = view_.bundles + hr_bundle_at(bundle, lane_count, unit_words);
        const auto read = [&](std::uint32_t unit) { return Base::read_column(from, lane_count, unit); };
        const std::uint32_t taken = least(units, idle);
        if (!holds_ranges) running_ = kind;
        give(taken, read);
        lanes_.each([&](std::uint32_t lane) {
            if (lane < units - taken) liq_.write(kind, liq_.top(kind) + lane, read(taken + lane));
        });
        liq_.add(kind, units - taken);
        lanes_.sync(); // all lanes have read the bundle before its reuse, and see the LIQ's new units
        spare_ = bundle;
        last_popped_ = kind;
        this->count(&GroupCounters::popped);
        if (holds_ranges && !ToLiq) ranges_follow_ = true;
        return true;
    }

    /// Pushes the spare bundle, which holds `units` units. False: the group still has the bundle.
    HEADRACE_GROUP_CODE bool publish(std::uint32_t kind, std::uint32_t units) {
        this->flush(true); // before other groups can complete units that are not counted
        lanes_.sync();     // all lanes have written; now the leader may release
        if (!giq_.try_push(kind, hr_entry(spare_, units))) {
            this->count(&GroupCounters::slot_busy);
            return false;
        }
        spare_ = HR_NO_BUNDLE;
        this->count(&GroupCounters::pushed);
        return true;
    }

    /// Gets a spare bundle if the group has none. True if it has one.
    HEADRACE_GROUP_CODE bool find_bundle() {
        if (spare_ != HR_NO_BUNDLE) return true;
        const auto popped = giq_.try_pop(free_bundles, giq_.all);
        if (!popped.there) return false;
        spare_ = static_cast<std::uint32_t>(popped.entry);
        lanes_.sync(); // the leader has acquired the bundle; now all lanes may write
        return true;
    }

    Giq<Sync, Lanes> giq_;
    std::uint32_t spare_;           ///< an empty bundle, or HR_NO_BUNDLE
    std::uint32_t last_popped_ = 0; ///< the last bundle's kind: the next search in the GIQ begins after it
};

} // namespace headrace
