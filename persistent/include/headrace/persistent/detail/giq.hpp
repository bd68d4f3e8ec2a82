// persistent/detail/giq.hpp - the global inbox: rings of full bundles for each kind, and of empty ones.
// Several of each, so that not every group asks for its tickets at one address.
#pragma once
#include <headrace/persistent/detail/ring.hpp>
#include <headrace/persistent/group_kernel.hpp>

namespace headrace {

/// A lane group's way to the rings. All lanes call every function that is not said to be the leader's; the
/// caller syncs before a push, so that what all have written to the bundle is published, and after a pop.
template <class Sync, class Lanes>
class Giq {
public:
    struct Popped {
        std::uint64_t entry;
        std::uint64_t there;
    };

    /// Borrows the rings. A group begins with a ring of its own choice, neighbours with different ones.
    HEADRACE_GROUP_CODE Giq(Lanes lanes, HrSlot* rings, std::uint32_t kinds, std::uint32_t ring_slots,
                            std::uint32_t ways, std::uint32_t group)
        : lanes_(lanes),
          tickets_(reinterpret_cast<HrTickets*>(rings)),
          slots_(rings + hr_slots_at(kinds, ways)),
          ring_slots_(ring_slots),
          ways_(ways),
          home_(group) {}

    /// Which rings seem to have something; bit i is that of `ring(number, i)`. A guess.
    HEADRACE_GROUP_CODE std::uint32_t full(std::uint32_t number) const {
        const auto lanes = real_lanes(lanes_);
        std::uint32_t full = 0;
        for (std::uint32_t first = 0; first < ways_;
             first += decltype(lanes)::size) // once, but for the narrowest groups
            full |= static_cast<std::uint32_t>(lanes.ballot([&](std::uint32_t lane) {
                        return first + lane < ways_ && !ring(number, first + lane).seems_empty();
                    }))
                    << first;
        return full;
    }

    static constexpr std::uint32_t all = ~0u;

    /// From one of the rings that `full` named, or from any of `all`.
    HEADRACE_GROUP_CODE Popped try_pop(std::uint32_t number, std::uint32_t full) const {
        if (full == 0) return {0, false};
        return lanes_.by_leader([&]() -> Popped {
            Popped popped{0, false};
            for (std::uint32_t i = 0; i < ways_ && !popped.there; ++i)
                popped.there = (full >> i & 1) != 0 && ring(number, i).try_pop(popped.entry);
            return popped;
        });
    }

    /// False if every ring is full, as for a moment they may seem: there are more slots than bundles.
    HEADRACE_GROUP_CODE bool try_push(std::uint32_t number, std::uint64_t value) const {
        return lanes_.by_leader([&] {
            for (std::uint32_t i = 0; i < ways_; ++i)
                if (ring(number, i).try_push(value)) return true;
            return false;
        });
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
