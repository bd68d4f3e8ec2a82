// persistent/detail/held_units.hpp - what a lane group of a producer holds: a unit in each lane, more in its
// LIQ, and all of it in a record while the group is paused.
#pragma once
#include <headrace/persistent/detail/group.hpp>
#include <headrace/persistent/detail/inbox.hpp>
#include <headrace/persistent/detail/liq.hpp>

#include <bit>

namespace headrace {

/// All members are uniform over the group, like those of Group. Only the lanes' own units are not.
template <class Sync, class Lanes, class Kernel>
class HeldUnits : protected Group<Sync, Lanes> {
    using Base = Group<Sync, Lanes>;

protected:
    using Base::control_, Base::lanes_, Base::pace_, Base::seeds_;
    using Mask = typename Lanes::Mask;
    using Traits = KindTraits<typename Kernel::Units>;
    using Words = UnitWords<Traits::unit_words>;

    static constexpr std::uint32_t lane_count = Lanes::size, kinds = Traits::count,
                                   unit_words = Traits::unit_words,
                                   scratch =
                                       kernel_scratch<Lanes, Kernel> + inbox_list_words<Kernel>(Lanes::size),
                                   ranges = Traits::ranges;
    /// The kinds that lanes hold, and the first of them.
    static constexpr std::uint32_t lane_kinds = Traits::all & ~ranges,
                                   first_lane_kind = std::countr_zero(lane_kinds);
    /// The kinds of these whose units are processed as a whole, in one call of the kernel.
    static constexpr std::uint32_t called = lane_kinds & ~Traits::resumable;
    static constexpr std::uint32_t staged = Traits::staged;
    static constexpr bool has_ranges = Traits::has_ranges;
    /// If false, kernels spawn nothing but continuations.
    static constexpr bool has_queues = staged > 0 || has_ranges;
    static constexpr bool has_kinds = Traits::count > 1;
    static constexpr bool chooses_kinds = lane_kinds != 1u << first_lane_kind;
    /// A kind is processed in phases (resumable_group.hpp): `walked` is its number.
    static constexpr bool resumes = Traits::resumes;
    static constexpr std::uint32_t walked = resumes ? std::countr_zero(Traits::resumable) : 0;
    /// Units of that kind are in the inbox, and not in lanes.
    static constexpr bool gathers = Traits::gathers;
    using Inbox = typename InboxFor<Lanes, Traits>::type;
    using State = LaneState<Traits, is_wide<Lanes> ? 0 : staged>;

    HEADRACE_GROUP_CODE HeldUnits(Lanes lanes, const EngineView& view, std::uint32_t group,
                                  std::uint32_t* local, const LocalSums& sums, std::uint32_t* pace)
        : Base(lanes, view, group, local, sums, pace),
          liq_(this->local_ + scratch, view.control->liq_units),
          inbox_(lanes, this->local_, inbox_memory(view, group)),
          enough_(view.control->enough) {}

    /// The group refills if fewer lanes are active.
    HEADRACE_GROUP_CODE std::uint32_t enough() const { return paced(gathers ? lane_count : enough_); }
    /// The same of lanes that walk, where a refill of `active_` fills the inbox.
    HEADRACE_GROUP_CODE std::uint32_t enough_walks() const { return paced(enough_); }
    /// So many lanes; or fewer on a host thread whose units are slow.
    HEADRACE_GROUP_CODE std::uint32_t paced(std::uint32_t lanes) const {
        if constexpr (LanesTakeTurns<Lanes>)
            return least(lanes, pace_.lanes());
        else
            return lanes;
    }

    /// Lanes that take no other unit: they hold one, or are in the middle of one.
    HEADRACE_GROUP_CODE Mask occupied() const {
        if constexpr (resumes)
            return active_ | walking_;
        else
            return active_;
    }
    HEADRACE_GROUP_CODE std::uint32_t idle_lanes() const { return lane_count - Lanes::count(occupied()); }

    /// Units that the group holds. Ranges are not among them: they are counted when they are spawned.
    HEADRACE_GROUP_CODE std::uint32_t units_held() const {
        std::uint32_t units = Lanes::count(active_) + liq_.template units<~ranges>();
        // A lane may have both: the unit that it walks through is apart from that of a called kind.
        if constexpr (resumes) units += Lanes::count(walking_);
        if constexpr (gathers) units += inbox_.units();
        return units;
    }

    /// Gives make(rank), a unit or none, to the first `taken` idle lanes. Returns how many were none.
    template <class F>
    HEADRACE_GROUP_CODE std::uint32_t give_made(std::uint32_t taken, F&& make) {
        using Made = MadeUnit<std::remove_cvref_t<decltype(make(0u))>>;
        const Mask idle = static_cast<Mask>(Lanes::all & ~occupied());
        const Mask given = lanes_.ballot([&](std::uint32_t lane) {
            const std::uint32_t rank = lanes_.count_below(idle, lane);
            if (!Lanes::has(idle, lane) || rank >= taken) return false;
            const auto made = make(rank);
            if constexpr (Made::may_be_none) {
                if (!made) return false;
                put_words(state_[lane].unit, *made);
            } else {
                put_words(state_[lane].unit, made);
            }
            return true;
        });
        active_ |= given;
        return Made::may_be_none ? taken - Lanes::count(given) : 0;
    }

    /// Gives unit(rank) to the first `taken` idle lanes.
    template <class F>
    HEADRACE_GROUP_CODE void give(std::uint32_t taken, F&& unit) {
        const Mask idle = static_cast<Mask>(Lanes::all & ~occupied());
        active_ |= lanes_.ballot([&](std::uint32_t lane) {
            const std::uint32_t rank = lanes_.count_below(idle, lane);
            const bool takes = Lanes::has(idle, lane) && rank < taken;
            if (takes) state_[lane].unit = unit(rank);
            return takes;
        });
    }

    /// Gives the newest units of `kind` to idle lanes. Needs a sync before the LIQ is written.
    HEADRACE_GROUP_CODE void take_from_liq(std::uint32_t kind) {
        const std::uint32_t taken = least(liq_.size(kind), idle_lanes());
        if (taken == 0) return;
        running_ = kind;
        const std::uint32_t newest = liq_.top(kind) - 1;
        give(taken, [&](std::uint32_t rank) { return liq_.read(kind, newest - rank); });
        liq_.drop_newest(kind, taken);
    }

    /// Appends unit(lane) of the lanes in `mine` to the LIQ, in lane
    /// order, as its newest units. Needs room, and a sync after it.
    template <class F>
    HEADRACE_GROUP_CODE void append(std::uint32_t kind, Mask mine, F&& unit) {
        lanes_.each([&](std::uint32_t lane) {
            if (Lanes::has(mine, lane))
                liq_.write(kind, liq_.top(kind) + lanes_.count_below(mine, lane), unit(lane));
        });
        liq_.add(kind, Lanes::count(mine));
    }

    /// Moves the lanes' units to the LIQ. Needs room.
    HEADRACE_GROUP_CODE void set_lanes_aside() {
        append(running_, active_, [&](std::uint32_t lane) { return state_[lane].unit; });
        lanes_.sync();
        active_ = 0;
    }

    /// Replaces a range in the LIQ.
    template <class RangeUnit>
    HEADRACE_GROUP_CODE void write_range(std::uint32_t kind, std::uint32_t position, const RangeUnit& range) {
        lanes_.by_leader([&] { liq_.write(kind, position, to_words<unit_words>(range)); });
        lanes_.sync(); // all lanes see the new range
    }

    // ---- pauses ---------------------------------------------------------------------------------

    /// walking_unit(lane) is the unit that a lane is in the middle of. It will begin again. Of the inbox,
    /// only what is ready is saved.
    template <class F>
    HEADRACE_GROUP_CODE void save(F&& walking_unit) {
        std::uint32_t ready = 0;
        if constexpr (gathers) ready = inbox_.count(InboxList::ready);
        if (occupied() == 0 && seeds_.empty() && liq_.empty() && ready == 0) return;
        HrRecord* record = this->new_record();
        HEADRACE_UNROLL
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const std::uint32_t queued = liq_.size(kind);
            const std::uint32_t in_lanes = kind == running_ ? Lanes::count(active_) : 0;
            std::uint32_t* to = columns(record, kind);
            lanes_.each([&](std::uint32_t lane) {
                for (std::uint32_t i = lane; i < queued; i += lane_count)
                    write_column(to, record_room(), i, liq_.read(kind, liq_.bottom(kind) + i));
                if (in_lanes > 0 && Lanes::has(active_, lane)) // the newest: they return to lanes first
                    write_column(to, record_room(), queued + lanes_.count_below(active_, lane),
                                 state_[lane].unit);
                if constexpr (resumes)
                    if (kind == walked && Lanes::has(walking_, lane))
                        write_column(to, record_room(),
                                     queued + in_lanes + lanes_.count_below(walking_, lane),
                                     walking_unit(lane));
                if constexpr (gathers)
                    if (kind == walked)
                        for (std::uint32_t i = lane; i < ready; i += lane_count)
                            write_column(to, record_room(), queued + in_lanes + i,
                                         inbox_.unit(inbox_.newest(InboxList::ready, i)));
            });
            const std::uint32_t walking = resumes && kind == walked ? Lanes::count(walking_) + ready : 0;
            lanes_.by_leader([&] { record->count[kind] = queued + in_lanes + walking; });
            liq_.drop_newest(kind, queued);
        }
        lanes_.by_leader([&] {
            record->seed_next = seeds_.next;
            record->seed_end = seeds_.end;
        });
        lanes_.sync();
        active_ = walking_ = 0;
        seeds_ = {0, 0};
    }

    /// The same where no lane is in the middle of a unit.
    HEADRACE_GROUP_CODE void save() {
        save([](std::uint32_t) { return Words{}; });
    }

    /// Restores what a paused group held. Only for a group that holds nothing.
    HEADRACE_GROUP_CODE bool restore() {
        HrRecord* record = this->claim_record();
        if (!record) return false;
        seeds_ = {record->seed_next, record->seed_end};
        // Units that a LIQ cannot hold were in lanes. So the fullest kind goes back to the lanes.
        std::uint32_t fullest = first_lane_kind;
        HEADRACE_UNROLL
        for (std::uint32_t kind = first_lane_kind + 1; kind < kinds; ++kind)
            if (Traits::is_in(kind, lane_kinds) && record->count[kind] > record->count[fullest])
                fullest = kind;
        HEADRACE_UNROLL
        for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            const std::uint32_t units = record->count[kind];
            const std::uint32_t* from = columns(record, kind);
            std::uint32_t first = 0; // of those that are not in the inbox
            if constexpr (gathers)
                if (kind == walked) first = restore_to_inbox(from, units);
            const std::uint32_t taken = kind == fullest ? least(units - first, lane_count) : 0;
            const std::uint32_t queued = units - first - taken;
            lanes_.each([&](std::uint32_t lane) {
                for (std::uint32_t i = lane; i < queued; i += lane_count)
                    liq_.write(kind, liq_.top(kind) + i, read_column(from, record_room(), first + i));
            });
            liq_.add(kind, queued);
            if (taken > 0) {
                running_ = kind;
                give(taken, [&](std::uint32_t rank) {
                    return read_column(from, record_room(), first + queued + rank);
                });
            }
        }
        lanes_.sync();
        return true;
    }

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

    typename Lanes::template PerLane<State> state_;
    Mask active_ = 0;                         ///< lanes that have a unit, all of kind `running_`
    Mask walking_ = 0;                        ///< lanes in the middle of a unit of the resumable kind
    std::uint32_t running_ = first_lane_kind; ///< the kind in the lanes
    Liq<unit_words, kinds> liq_;
    [[no_unique_address]] Inbox inbox_;

private:
    static HEADRACE_GROUP_CODE std::uint32_t* inbox_memory(const EngineView& view, std::uint32_t group) {
        if constexpr (!gathers) return nullptr;
        const HrControl& control = *view.control;
        const std::uint64_t record = hr_record_words(control.kinds, control.unit_words, lane_count,
                                                     control.liq_units, control.inbox_units);
        return view.spill + hr_spill_inboxes_at(control.groups, record) +
               static_cast<std::uint64_t>(group) * Inbox::slots * inbox_words<Kernel>();
    }

    /// Moves the oldest units of a record to the inbox, which is empty, and leaves slots for a unit of each
    /// lane. Returns how many.
    HEADRACE_GROUP_CODE std::uint32_t restore_to_inbox(const std::uint32_t* from, std::uint32_t units) {
        const std::uint32_t some = least(units, lane_count);
        if (some == 0) return 0;
        lanes_.each([&](std::uint32_t lane) {
            if (lane < some)
                inbox_.write_unit(inbox_.newest(InboxList::unused, lane),
                                  read_column(from, record_room(), lane));
        });
        inbox_.move_newest(InboxList::unused, InboxList::ready, some);
        return some;
    }

    /// Rows of a kind's units in a record.
    HEADRACE_GROUP_CODE std::uint32_t* columns(HrRecord* record, std::uint32_t kind) const {
        return reinterpret_cast<std::uint32_t*>(record + 1) + kind * unit_words * record_room();
    }
    HEADRACE_GROUP_CODE std::uint32_t record_room() const {
        return hr_record_room(lane_count, liq_.capacity(), Inbox::slots);
    }

    std::uint32_t enough_; ///< as the job or the kernel says
};

} // namespace headrace
