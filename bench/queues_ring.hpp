// bench/queues_ring.hpp - the engine's ring and bundles with nothing around them: units that travel from lane
// group to lane group.
#pragma once
#include <headrace/persistent/detail/ring.hpp>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

namespace bench {

constexpr std::uint32_t travelling_words = 4; ///< of a unit: hops, number, ballast

/// The rings as lane groups see them.
struct RingsView {
    HrTickets* tickets;
    HrSlot* slots; ///< of each ring, one after the other
    std::uint32_t* bundles;
    std::uint32_t rings, ring_slots;
};

/// One group's part: a bundle is in its hand whenever none of its own is in a ring, so there is always one
/// to be popped, and nobody waits for a group that has not begun.
template <class Sync, class Lanes>
HEADRACE_GROUP_CODE void cycle_rings(Lanes lanes, const RingsView& view, std::uint32_t group,
                                     std::uint32_t cycles) {
    constexpr std::uint32_t width = Lanes::size;
    const auto ring = [&](std::uint32_t number) {
        const std::uint32_t wrapped = number % view.rings;
        return headrace::RingView<Sync>{view.tickets + wrapped, view.slots + wrapped * view.ring_slots,
                                        view.ring_slots - 1};
    };
    struct Unit {
        std::uint32_t word[travelling_words];
    };
    typename Lanes::template PerLane<Unit> units;
    std::uint32_t bundle = group;
    lanes.each([&](std::uint32_t lane) { units[lane] = {0, group * width + lane, 1, 2}; });
    for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
        std::uint32_t* out = view.bundles + hr_bundle_at(bundle, width, travelling_words);
        lanes.each([&](std::uint32_t lane) {
            ++units[lane].word[0];
            HEADRACE_UNROLL
            for (std::uint32_t w = 0; w < travelling_words; ++w) out[w * width + lane] = units[lane].word[w];
        });
        lanes.sync(); // all have written; now the leader may release
        const std::uint64_t entry = lanes.by_leader([&] {
            std::uint32_t at = group;
            while (!ring(at).try_push(hr_entry(bundle, width))) ++at;
            std::uint64_t popped = 0;
            while (!ring(at).try_pop(popped)) ++at;
            return popped;
        });
        lanes.sync(); // the leader has acquired; now all may read
        bundle = hr_entry_bundle(entry);
        const std::uint32_t* in = view.bundles + hr_bundle_at(bundle, width, travelling_words);
        lanes.each([&](std::uint32_t lane) {
            HEADRACE_UNROLL
            for (std::uint32_t w = 0; w < travelling_words; ++w) units[lane].word[w] = in[w * width + lane];
        });
        lanes.sync(); // all have read before the bundle is used again
    }
}

/// The memory of RingsView in the beginning, and the check of its end.
struct RingsImage {
    std::vector<HrTickets> tickets;
    std::vector<HrSlot> slots;
    std::vector<std::uint32_t> bundles;
    std::uint32_t ring_slots, width;

    RingsImage(std::uint32_t rings, std::uint32_t groups, std::uint32_t lanes)
        : tickets(rings),
          bundles(std::size_t{groups} * lanes * travelling_words),
          ring_slots(std::bit_ceil(std::max(2u, groups))),
          width(lanes) {
        for (std::uint32_t ring = 0; ring < rings; ++ring) {
            tickets[ring].room.value = ring_slots;
            for (std::uint32_t i = 0; i < ring_slots; ++i) slots.push_back({i, 0});
        }
    }

    /// Throws unless every unit is there once and all together have made `hops`.
    void check(std::uint64_t hops) const {
        std::vector<bool> seen(bundles.size() / travelling_words);
        std::uint64_t made = 0;
        for (std::size_t unit = 0; unit < seen.size(); ++unit) {
            const std::size_t at = unit / width * width * travelling_words + unit % width;
            made += bundles[at];
            const std::uint32_t number = bundles[at + width];
            if (number >= seen.size() || seen[number] || bundles[at + 3 * width] != 2)
                throw std::runtime_error("a ring lost a unit");
            seen[number] = true;
        }
        if (made != hops) throw std::runtime_error("a ring lost hops");
    }
};

} // namespace bench
