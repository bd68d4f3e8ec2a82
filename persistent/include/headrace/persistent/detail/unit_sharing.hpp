// persistent/detail/unit_sharing.hpp - what a lane group does for others: it looks around, shares units with
// idle groups, and waits for their units.
#pragma once
#include <headrace/persistent/detail/unit_sources.hpp>

namespace headrace {

template <class Sync, class Lanes, class Kernel, class Seeds>
class UnitSharing : protected UnitSources<Sync, Lanes, Kernel, Seeds> {
    using Base = UnitSources<Sync, Lanes, Kernel, Seeds>;

protected:
    using Base::active_, Base::control_, Base::counters_, Base::lanes_, Base::liq_, Base::pace_,
        Base::paused_, Base::running_;
    using Base::has_queues, Base::has_ranges, Base::lane_count, Base::lane_kinds, Base::least, Base::resumes;
    using Base::occupied, Base::push_oldest, Base::set_lanes_aside, Base::take_bundle;
    using typename Base::Mask, typename Base::Push, typename Base::Traits;

    using Base::Base;

    /// On a host thread a look costs little. So a group that has
    /// units to share looks for idle groups after each round.
    HEADRACE_GROUP_CODE bool is_asked() {
        if constexpr (LanesTakeTurns<Lanes>) {
            if (!has_queues || (liq_.empty() && !can_spare_lanes())) return false;
            if (Sync::load(control_.idle_groups, Sync::relaxed) == 0) return false; // relaxed: a hint
            this->look_now();
            return true;
        } else {
            return false;
        }
    }

    HEADRACE_GROUP_CODE void look_around() {
        this->template plan_next_look<resumes>(counters_.units);
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
            if (seen.idle != 0 && share_ranges(seen.idle)) seen.idle = 0;
        if constexpr (LanesTakeTurns<Lanes>)
            if (pace_.is_slow()) {
                share_evenly(seen.idle);
                seen.idle = 0;
            }
        if constexpr (has_queues) {
            const std::uint32_t kind = liq_.template fullest<lane_kinds>();
            const std::uint32_t half = (liq_.size(kind) + 1) / 2;
            // One bundle. In a group kernel units are heavy: one bundle of one unit for each idle group.
            std::uint32_t bundles = is_wide<Lanes> ? least(seen.idle, half) : least(seen.idle, 1);
            for (; bundles > 0 && half > 0 && push_oldest(kind, half) == Push::done; --bundles)
                this->count(&GroupCounters::shared);
        }
    }

    /// True if lanes hold units that have not begun, and the group has another unit to work on.
    HEADRACE_GROUP_CODE bool can_spare_lanes() const {
        if constexpr (Base::gathers)
            return Base::inbox_.count(InboxList::ready) != 0 && Base::inbox_.units() > 1;
        else
            return active_ != 0 && Lanes::count(occupied()) > 1;
    }

    /// Shares heavy units evenly among all idle groups, including units in lanes that are not begun. Does
    /// nothing if the GIQ has a bundle for them already.
    HEADRACE_GROUP_CODE void share_evenly(std::uint32_t idle) {
        if (idle == 0 || !has_queues) return;
        bool has_own = occupied() != 0;
        if constexpr (Base::gathers)
            has_own = has_own || Base::inbox_.units() != 0;
        else if (can_spare_lanes() && liq_.room(running_) >= lane_count)
            set_lanes_aside();
        // One unit stays if the lanes have none.
        const std::uint32_t kind = liq_.template fullest<lane_kinds>(), own = has_own ? 0 : 1;
        if (this->is_offered(kind)) return;
        const std::uint32_t share = liq_.size(kind) / (idle + 1);
        for (; idle > 0 && liq_.size(kind) > own; --idle) {
            if (push_oldest(kind, share == 0 ? 1 : share) != Push::done) return;
            this->count(&GroupCounters::shared);
        }
    }

    /// Pushes the older half of a kind's ranges to the GIQ, or parts of its only range: half of it, or this
    /// group's share of the `idle` groups if these are most. False if units should be shared instead.
    HEADRACE_GROUP_CODE bool share_ranges(std::uint32_t idle) {
        const std::uint32_t groups = control_.groups;
        const std::uint32_t others = idle < groups ? idle / (groups - idle) : groups;
        bool shared = false;
        Traits::each_range([&](auto number, auto, auto* kind_tag) {
            constexpr std::uint32_t kind = decltype(number)::value;
            if (shared || liq_.size(kind) == 0) return;
            const std::uint32_t bundles =
                liq_.size(kind) > 1
                    ? std::uint32_t{push_oldest(kind, liq_.size(kind) / 2) == Push::done}
                    : this->template push_pieces<std::remove_pointer_t<decltype(kind_tag)>, kind>(
                          others == 0 ? 1 : others);
            lanes_.by_leader([&] { counters_.shared += bundles; });
            shared = bundles != 0;
        });
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
        if constexpr (has_ranges)
            if (goes_on) spread_ranges();
        return goes_on;
    }

    /// Shares new ranges at once if three quarters of all groups are idle. So a lone range soon reaches them.
    HEADRACE_GROUP_CODE void spread_ranges() {
        const std::uint32_t idle = lanes_.by_leader([&] { // relaxed: a hint
            return Sync::load(control_.idle_groups, Sync::relaxed);
        });
        if (idle > control_.groups / 4 * 3) share_ranges(idle);
    }

    HEADRACE_GROUP_CODE void add_to_idle_groups(std::uint32_t amount) {
        // relaxed: a hint.
        lanes_.by_leader([&] { Sync::fetch_add(control_.idle_groups, amount, Sync::relaxed); });
    }
};

} // namespace headrace
