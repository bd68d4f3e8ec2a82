// persistent/detail/inbox.hpp - where the units of a resumable kind stay while a lane group works on them. A
// lane that walks has the number of a slot, and units of a sort gather until they fill the group.
#pragma once
#include <headrace/persistent/sync.hpp>
#include <headrace/persistent/units.hpp>

namespace headrace {

/// What a slot has room for, in words: a unit, and then the Result of its walk. Both begin at 16 bytes.
template <class Traits>
struct InboxSlot {
    static constexpr std::uint32_t result_at = (Traits::unit_words + 3) / 4 * 4;
    static constexpr std::uint32_t words = [] {
        if constexpr (Traits::gathers)
            return result_at + (sizeof(typename Traits::Result) / 4 + 3) / 4 * 4;
        else
            return 0;
    }();
};

/// Units that the inbox of a lane group has room for, if the kernel has an inbox. Half of them walk, and as
/// many are ready or wait to be finished.
template <class Kernel>
constexpr std::uint32_t inbox_units(std::uint32_t lanes) {
    if constexpr (ConsumerProducer<Kernel>)
        return KindTraits<typename Kernel::Units>::gathers ? 2 * lanes : 0;
    else
        return 0;
}
/// Words of a slot.
template <class Kernel>
constexpr std::uint32_t inbox_words() {
    if constexpr (ConsumerProducer<Kernel>)
        return InboxSlot<KindTraits<typename Kernel::Units>>::words;
    else
        return 0;
}

/// What becomes of the units in the slots. The lists of slots are lists of bytes.
enum class InboxList : std::uint32_t { unused, ready, done, unresolved };
inline constexpr std::uint32_t inbox_lists = 4;

/// Words of local memory for the lists, how long they are, and the slot of each lane. A multiple of 16 bytes.
template <class Kernel>
constexpr std::uint32_t inbox_list_words(std::uint32_t lanes) {
    const std::uint32_t units = inbox_units<Kernel>(lanes);
    return units == 0 ? 0 : inbox_lists + (inbox_lists * units + lanes + 15) / 16 * 4;
}

/// The slots in global memory, and the lists in the group's local memory: a copy of this object is another
/// handle of the same inbox. All lanes call the functions that change lists, which sync before and after.
template <class Lanes, class Traits>
class Inbox {
    using Mask = typename Lanes::Mask;
    using Words = UnitWords<Traits::unit_words>;
    using Slot = InboxSlot<Traits>;
    using List = InboxList;
    static constexpr std::uint32_t result_at = Slot::result_at;
    struct alignas(16) Piece {
        std::uint32_t word[4];
    };

public:
    using Result = typename Traits::Result;
    static constexpr std::uint32_t slots = 2 * Lanes::size;
    static_assert(slots <= 256, "the number of a slot is a byte");

    /// Borrows both. All slots are unused.
    HEADRACE_GROUP_CODE Inbox(Lanes lanes, std::uint32_t* local, std::uint32_t* memory)
        : lanes_(lanes), counts_(local), memory_(memory) {
        lanes_.by_leader([&] {
            for (std::uint32_t list = 0; list < inbox_lists; ++list) counts_[list] = list == 0 ? slots : 0;
        });
        lanes_.each([&](std::uint32_t lane) {
            for (std::uint32_t slot = lane; slot < slots; slot += Lanes::size)
                entry(List::unused, slot) = static_cast<std::uint8_t>(slot);
        });
        lanes_.sync();
    }

    HEADRACE_GROUP_CODE std::uint32_t count(List list) const {
        return counts_[static_cast<std::uint32_t>(list)];
    }
    /// Units in the inbox: those that lanes walk through, too.
    HEADRACE_GROUP_CODE std::uint32_t units() const { return slots - count(List::unused); }

    /// The newest slot of a list but `rank`.
    HEADRACE_GROUP_CODE std::uint32_t newest(List list, std::uint32_t rank) const {
        return entry(list, count(list) - 1 - rank);
    }
    HEADRACE_GROUP_CODE void drop(List list, std::uint32_t newest) const {
        set_count(list, count(list) - newest);
        lanes_.sync(); // all lanes see the count
    }
    /// Appends the slots of these lanes.
    HEADRACE_GROUP_CODE void append_lanes(List list, Mask mine) const {
        const std::uint32_t before = count(list);
        lanes_.each([&](std::uint32_t lane) {
            if (Lanes::has(mine, lane)) entry(list, before + lanes_.count_below(mine, lane)) = slot_of(lane);
        });
        set_count(list, before + Lanes::count(mine));
        lanes_.sync(); // all lanes see the list
    }
    /// Moves the newest slots of a list to another, the newest first.
    HEADRACE_GROUP_CODE void move_newest(List from, List to, std::uint32_t moved) const {
        const std::uint32_t left = count(from) - moved, before = count(to);
        lanes_.each([&](std::uint32_t lane) {
            for (std::uint32_t i = lane; i < moved; i += Lanes::size)
                entry(to, before + i) = static_cast<std::uint8_t>(newest(from, i));
        });
        lanes_.sync(); // all lanes have read the counts, and see the units that others wrote
        lanes_.by_leader([&] {
            counts_[static_cast<std::uint32_t>(from)] = left;
            counts_[static_cast<std::uint32_t>(to)] = before + moved;
        });
        lanes_.sync(); // all lanes see the lists
    }

    /// The slot of the unit that a lane walks through.
    HEADRACE_GROUP_CODE std::uint8_t& slot_of(std::uint32_t lane) const {
        return bytes()[inbox_lists * slots + lane];
    }

    HEADRACE_GROUP_CODE Words unit(std::uint32_t slot) const {
        const auto* pieces = reinterpret_cast<const Piece*>(memory_ + slot * Slot::words);
        Words unit;
        HEADRACE_UNROLL
        for (std::uint32_t p = 0; p < result_at / 4; ++p) {
            const Piece piece = pieces[p];
            HEADRACE_UNROLL
            for (std::uint32_t w = 0; w < 4; ++w)
                if (4 * p + w < Traits::unit_words) unit.word[4 * p + w] = piece.word[w];
        }
        return unit;
    }
    HEADRACE_GROUP_CODE void write_unit(std::uint32_t slot, const Words& unit) const {
        auto* pieces = reinterpret_cast<Piece*>(memory_ + slot * Slot::words);
        HEADRACE_UNROLL
        for (std::uint32_t p = 0; p < result_at / 4; ++p) {
            Piece piece{};
            HEADRACE_UNROLL
            for (std::uint32_t w = 0; w < 4; ++w)
                if (4 * p + w < Traits::unit_words) piece.word[w] = unit.word[4 * p + w];
            pieces[p] = piece;
        }
    }
    /// Where the kernel writes the result of a walk, and reads it.
    HEADRACE_GROUP_CODE Result& result(std::uint32_t slot) const {
        return *reinterpret_cast<Result*>(memory_ + slot * Slot::words + result_at);
    }

private:
    HEADRACE_GROUP_CODE std::uint8_t& entry(List list, std::uint32_t place) const {
        return bytes()[static_cast<std::uint32_t>(list) * slots + place];
    }
    HEADRACE_GROUP_CODE std::uint8_t* bytes() const {
        return reinterpret_cast<std::uint8_t*>(counts_ + inbox_lists);
    }
    HEADRACE_GROUP_CODE void set_count(List list, std::uint32_t units) const {
        lanes_.sync(); // all lanes have read the count before
        lanes_.by_leader([&] { counts_[static_cast<std::uint32_t>(list)] = units; });
    }

    Lanes lanes_;
    std::uint32_t* counts_; ///< then the lists, and the slots of the lanes
    std::uint32_t* memory_;
};

/// For kernels without an inbox.
struct NoInbox {
    static constexpr std::uint32_t slots = 0;
    template <class Lanes>
    HEADRACE_GROUP_CODE NoInbox(Lanes, std::uint32_t*, std::uint32_t*) {}
};

template <class Lanes, class Traits>
struct InboxFor {
    using type = NoInbox;
};
template <class Lanes, class Traits>
requires Traits::gathers struct InboxFor<Lanes, Traits> {
    using type = Inbox<Lanes, Traits>;
};

} // namespace headrace
