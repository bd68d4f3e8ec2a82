// persistent/detail/giq.hpp - the global inbox queue: rings of full bundles for each kind, and rings of empty
// bundles. There are several rings of each, so that not all groups take their tickets at one address.
#pragma once
#include <headrace/persistent/detail/ring.hpp>
#include <headrace/persistent/group_kernel.hpp>

namespace headrace {

/// A lane group's access to the rings. All lanes call every function. The caller syncs before a push, so that
/// the push publishes what all lanes have written to the bundle, and after a pop.
template <class Sync, class Lanes>
class Giq {
public:
    struct Popped {
        std::uint64_t entry;
        std::uint64_t there;
    };

    /// Borrows the rings. Neighbouring groups begin with different rings.
    HEADRACE_GROUP_CODE Giq(Lanes lanes, HrSlot* rings, std::uint32_t kinds, std::uint32_t ring_slots,
                            std::uint32_t ways, std::uint32_t group)
        : lanes_(lanes),
          tickets_(reinterpret_cast<HrTickets*>(rings)),
          slots_(rings + hr_slots_at(kinds, ways)),
          ring_slots_(ring_slots),
          ways_(ways),
          home_(group) {}

    /// The rings that seem to have something: bit i is that of `ring(number, i)`. A guess.
    HEADRACE_GROUP_CODE std::uint32_t full(std::uint32_t number) const {
        const auto lanes = real_lanes(lanes_);
        std::uint32_t full = 0;
        for (std::uint32_t first = 0; first < ways_;
             first += decltype(lanes)::size) // one pass, except for the narrowest groups
            full |= static_cast<std::uint32_t>(lanes.ballot([&](std::uint32_t lane) {
                        return first + lane < ways_ && !ring(number, first + lane).seems_empty();
                    }))
                    << first;
        return full;
    }

    static constexpr std::uint32_t all = ~0u;

    /// Pops from one of the rings in `full`, which may be `all`.
    HEADRACE_GROUP_CODE Popped try_pop(std::uint32_t number, std::uint32_t full) const {
        if (full == 0) return {0, false};
        return lanes_.by_leader([&]() -> Popped {
            Popped popped{0, false};
            for (std::uint32_t i = 0; i < ways_ && !popped.there; ++i)
                popped.there = (full >> i & 1) != 0 && ring(number, i).try_pop(popped.entry);
            return popped;
        });
    }

    /// False if every ring seems full, which lasts only a moment: there are more slots than bundles.
    HEADRACE_GROUP_CODE bool try_push(std::uint32_t number, std::uint64_t value) const {
        return lanes_.by_leader([&] {
            for (std::uint32_t i = 0; i < ways_; ++i)
                if (ring(number, i).try_push(value)) return true;
            return false;
        });
    }

    /// Pops for the calling lane alone. Neighbouring lanes begin with different rings.
    HEADRACE_GROUP_CODE bool lane_pops(std::uint32_t number, std::uint32_t lane, std::uint64_t& entry) const {
        for (std::uint32_t i = 0; i < ways_; ++i)
            if (ring(number, lane + i).try_pop(entry)) return true;
        return false;
    }

    /// Pushes for the calling lane alone. Waits if every ring seems full, which lasts only a moment.
    HEADRACE_GROUP_CODE void lane_pushes(std::uint32_t number, std::uint32_t lane,
                                         std::uint64_t value) const {
        for (std::uint32_t i = 0; !ring(number, lane + i).try_push(value); ++i) Sync::pause(0);
    }

private:
    HEADRACE_GROUP_CODE RingView<Sync> ring(std::uint32_t number, std::uint32_t i) const {
        const std::uint64_t at = number * ways_ + ((home_ + i) & (ways_ - 1));
        return {tickets_ + at, slots_ + at * ring_slots_, ring_slots_ - 1};
    }

    Lanes lanes_;
    HrTickets* tickets_;
    HrSlot* slots_;
    std::uint32_t ring_slots_, ways_, home_;
};

} // namespace headrace
