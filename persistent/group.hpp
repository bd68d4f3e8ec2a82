// persistent/group.hpp - what the groups of producers and consumers share: seeds, the budget, parking, the
// pending count.
#pragma once
#include <headrace/persistent/group_kernel.hpp>
#include <headrace/persistent/ring.hpp>
#include <headrace/persistent/units.hpp>

namespace headrace {

/// The engine's memory as kernels see it.
struct EngineView {
    HrControl* control;
    HrSlot* slots;
    std::uint32_t* bundles;
    std::uint32_t* spill;
};

/// A group's share of HrCounters, in its local memory and written by its leader alone.
struct GroupTally {
    std::uint32_t pushed, popped, shared, no_bundle, slot_busy, narrow_rounds, switches, saved, restored,
        idle, seed_claims;
    std::uint32_t unused[5];
};
static_assert(sizeof(GroupTally) == 64);

/// Words of local (shared) memory that a group needs: its tally, its kernel's scratch, then its LIQ. A
/// multiple of 16 bytes, so that the next group's scratch is aligned as well.
constexpr std::uint32_t group_local_words(std::uint32_t kinds, std::uint32_t unit_words,
                                          std::uint32_t liq_units, std::uint32_t scratch) {
    constexpr std::uint32_t tally = sizeof(GroupTally) / 4;
    return (tally + scratch + kinds * unit_words * liq_units + 3) / 4 * 4;
}

/// A claimed range of seeds.
struct SeedRange {
    std::uint64_t next, end;
    HEADRACE_GROUP_CODE bool empty() const { return next == end; }
};

/// The part of a lane group that knows nothing of kinds. All members are uniform over the group: on a GPU
/// every lane has its copy, and all lanes call every function.
template <class Sync, class Lanes>
class Group {
protected:
    HEADRACE_GROUP_CODE Group(Lanes lanes, const EngineView& view, std::uint32_t group, std::uint32_t* local)
        : lanes_(lanes),
          view_(view),
          control_(*view.control),
          tally_(*reinterpret_cast<GroupTally*>(local)),
          local_(local + sizeof(GroupTally) / 4),
          group_(group),
          seeds_{0, 0},
          budget_(view.control->rounds) {
        lanes_.by_leader([&] {
            tally_ = GroupTally{};
            return 0u;
        });
        lanes_.sync();
    }

    HEADRACE_GROUP_CODE void count(std::uint32_t GroupTally::*counter) {
        lanes_.by_leader([&] { return ++(tally_.*counter); });
    }

    /// Tells `pending` what this group has spawned and completed since it last did.
    HEADRACE_GROUP_CODE void flush() {
        if (delta_ == 0) return;
        lanes_.by_leader([&] {
            // relaxed: units that leave the group are ordered after this by the ring's release and acquire,
            // and who reads 0 reads nothing else.
            return Sync::fetch_add(control_.pending.value, static_cast<std::uint64_t>(delta_), Sync::relaxed);
        });
        delta_ = 0;
    }

    /// Claims seeds: a few hundreds, fewer towards the end so that all groups end together.
    HEADRACE_GROUP_CODE bool claim_seeds(std::uint32_t at_least) {
        if (seeds_gone_) return false;
        seeds_ = lanes_.by_leader([&]() -> SeedRange {
            const std::uint64_t end = control_.seed_end;
            // relaxed: indices carry no data. The look comes first, or many askers would run the cursor far
            // past the end.
            const std::uint64_t cursor = Sync::load(control_.seed_cursor.value, Sync::relaxed);
            if (cursor >= end) return {end, end};
            std::uint64_t wanted = (end - cursor) / (2ull * control_.groups);
            if (wanted < at_least) wanted = at_least;
            if (wanted > control_.seed_chunk) wanted = control_.seed_chunk;
            // relaxed: as above; the addition alone decides who has which index.
            const std::uint64_t first = Sync::fetch_add(control_.seed_cursor.value, wanted, Sync::relaxed);
            if (first >= end) return {end, end};
            return {first, wanted < end - first ? first + wanted : end};
        });
        seeds_gone_ = seeds_.empty();
        if (seeds_gone_) return false;
        count(&GroupTally::seed_claims);
        return true;
    }

    /// Asks all groups to stop. The first reason stands.
    HEADRACE_GROUP_CODE void park(std::uint32_t reason) {
        lanes_.by_leader([&] {
            std::uint32_t expected = HR_RUN;
            // relaxed: nothing is published by it; the host reads after the launch. May fail for no reason,
            // so again.
            while (!Sync::compare_exchange(control_.park, expected, reason, Sync::relaxed) &&
                   expected == HR_RUN) {
            }
            return 0u;
        });
        parked_ = true;
    }

    /// The first failure of all groups becomes the launch's.
    HEADRACE_GROUP_CODE void fail(std::uint32_t status) {
        lanes_.by_leader([&] {
            std::uint32_t expected = HR_OK;
            // relaxed: the host reads it after the launch.
            while (!Sync::compare_exchange(control_.status, expected, status, Sync::relaxed) &&
                   expected == HR_OK) {
            }
            return 0u;
        });
        park(HR_PARK_FAILED);
    }

    /// Counts a round; true every few rounds, when it is time to look around.
    HEADRACE_GROUP_CODE bool end_round() {
        if (++rounds_ == budget_) park(HR_PARK_BUDGET);
        return rounds_ % look_every == 0;
    }

    HEADRACE_GROUP_CODE void look_for_park() {
        if (lanes_.by_leader([&] { return Sync::load(control_.park, Sync::relaxed); }) != HR_RUN)
            parked_ = true; // relaxed: see park
    }

    HEADRACE_GROUP_CODE bool failed() const {
        return lanes_.by_leader([&] { return Sync::load(control_.park, Sync::relaxed); }) ==
               HR_PARK_FAILED; // relaxed: see park
    }

    /// The next record to restore; null if there is none left.
    HEADRACE_GROUP_CODE HrRecord* claim_record() {
        if (records_gone_) return nullptr;
        const auto number = lanes_.by_leader([&]() -> std::uint64_t {
            // relaxed, both: the records were written in an earlier launch.
            if (Sync::load(control_.restored.value, Sync::relaxed) >= control_.spill_count)
                return control_.spill_count;
            return Sync::fetch_add(control_.restored.value, std::uint64_t{1}, Sync::relaxed);
        });
        records_gone_ = number >= control_.spill_count;
        if (records_gone_) return nullptr;
        count(&GroupTally::restored);
        return record(control_.spill_half, number);
    }

    /// A record to save into. There are as many as groups, which suffices: README.md, "Records suffice".
    HEADRACE_GROUP_CODE HrRecord* new_record() {
        count(&GroupTally::saved);
        const auto number = lanes_.by_leader([&] {
            // relaxed: only claims a place; the next launch reads what is in it.
            return Sync::fetch_add(control_.saved.value, std::uint64_t{1}, Sync::relaxed);
        });
        return record(control_.spill_half ^ 1u, number);
    }

    HEADRACE_GROUP_CODE bool records_left() const {                                       // for the leader
        return Sync::load(control_.restored.value, Sync::relaxed) < control_.spill_count; // relaxed: a guess
    }
    HEADRACE_GROUP_CODE bool seeds_left() const {                                         // for the leader
        return Sync::load(control_.seed_cursor.value, Sync::relaxed) < control_.seed_end; // relaxed: a guess
    }

    HEADRACE_GROUP_CODE void add_counters() {
        lanes_.by_leader([&] {
            HrCounters& sum = control_.counters;
            add(sum.units, units_);
            add(sum.spawned, spawned_);
            add(sum.rounds, rounds_);
            add(sum.pushed, tally_.pushed);
            add(sum.popped, tally_.popped);
            add(sum.shared, tally_.shared);
            add(sum.no_bundle, tally_.no_bundle);
            add(sum.slot_busy, tally_.slot_busy);
            add(sum.narrow_rounds, tally_.narrow_rounds);
            add(sum.switches, tally_.switches);
            add(sum.saved, tally_.saved);
            add(sum.restored, tally_.restored);
            add(sum.idle, tally_.idle);
            add(sum.seed_claims, tally_.seed_claims);
            return 0u;
        });
    }

    /// Units of group kernels are heavy: others should not starve for eight of them.
    static constexpr std::uint32_t look_every = is_wide<Lanes> ? 1 : 8;

    Lanes lanes_;
    EngineView view_;
    HrControl& control_;
    GroupTally& tally_;
    std::uint32_t* local_; ///< what follows the tally
    std::uint32_t group_;
    SeedRange seeds_;
    bool seeds_gone_ = false;   ///< the cursor has passed the end
    bool records_gone_ = false; ///< all records are restored
    bool parked_ = false;
    std::uint32_t rounds_ = 0;
    std::uint32_t budget_;
    std::int64_t delta_ = 0; ///< spawned less completed, not yet in `pending`
    std::uint64_t units_ = 0;
    std::uint64_t spawned_ = 0;

private:
    HEADRACE_GROUP_CODE HrRecord* record(std::uint32_t half, std::uint64_t number) const {
        const std::uint64_t words =
            hr_record_words(control_.kinds, control_.unit_words, Lanes::size, control_.liq_units);
        const std::uint64_t place = static_cast<std::uint64_t>(half) * control_.groups + number;
        return reinterpret_cast<HrRecord*>(view_.spill + hr_spill_records_at(control_.groups) +
                                           place * words);
    }
    static HEADRACE_GROUP_CODE void add(std::uint64_t& sum, std::uint64_t amount) {
        if (amount != 0) Sync::fetch_add(sum, amount, Sync::relaxed); // relaxed: read after the launch
    }
};

} // namespace headrace
