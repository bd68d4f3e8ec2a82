// persistent/detail/ring.hpp - a bounded ring that many lane groups push to and pop from: the GIQ and the
// free ring. Source: D. Vyukov, "Bounded MPMC queue"; differs in: 64-bit tickets apart from the slots, one
// word of payload, counts of what is there in place of an exchange of the ticket. Those are from B. Kerbl et
// al., "The Broker Queue", ICS 2018.
#pragma once
#include <headrace/persistent/detail/control.h>
#include <headrace/persistent/sync.hpp>

namespace headrace {

/// Borrows a ring in shared memory. Threads: any number, each call by one lane.
template <class Sync>
struct RingView {
    HrTickets* tickets;
    HrSlot* slots;
    std::uint32_t mask; ///< slots - 1; their number is a power of two, at least 2

    /// False, and nothing has happened: the ring is full.
    HEADRACE_GROUP_CODE bool try_push(std::uint64_t value) const {
        if (!claim(tickets->room.value)) return false;
        // relaxed: the ticket only says whose slot it is.
        const std::uint64_t ticket = Sync::fetch_add(tickets->tail.value, std::uint64_t{1}, Sync::relaxed);
        HrSlot& slot = slots[ticket & mask];
        await(slot, ticket);
        slot.value = value;
        // release: whoever acquires this turn in try_pop sees the value, and all that we wrote before.
        Sync::store(slot.turn, ticket + 1, Sync::release);
        // relaxed: it is the turn that publishes.
        Sync::fetch_add(tickets->full.value, std::uint64_t{1}, Sync::relaxed);
        return true;
    }

    /// False if nothing is published.
    HEADRACE_GROUP_CODE bool try_pop(std::uint64_t& value) const {
        if (!claim(tickets->full.value)) return false;
        const std::uint64_t ticket = Sync::fetch_add(tickets->head.value, std::uint64_t{1}, Sync::relaxed);
        HrSlot& slot = slots[ticket & mask];
        await(slot, ticket + 1);
        value = slot.value;
        // release: whoever acquires this turn in try_push, a lap later, may overwrite the value.
        Sync::store(slot.turn, ticket + mask + 1, Sync::release);
        Sync::fetch_add(tickets->room.value, std::uint64_t{1}, Sync::relaxed);
        return true;
    }

    /// A guess, for those who look before they take.
    HEADRACE_GROUP_CODE bool seems_empty() const {
        // relaxed: nothing is read on the strength of this.
        return static_cast<std::int64_t>(Sync::load(tickets->full.value, Sync::relaxed)) <= 0;
    }

private:
    /// Takes one off `count`, unless there is none. One addition, and not an exchange that all who ask at a
    /// time but one have to try again: on a GPU thousands do.
    static HEADRACE_GROUP_CODE bool claim(std::uint64_t& count) {
        // relaxed: it only says that there is a ticket to be had. The look comes first, or many askers would
        // take the count far below 0.
        if (static_cast<std::int64_t>(Sync::load(count, Sync::relaxed)) <= 0) return false;
        if (static_cast<std::int64_t>(Sync::fetch_add(count, ~std::uint64_t{0}, Sync::relaxed)) > 0)
            return true;
        Sync::fetch_add(count, std::uint64_t{1}, Sync::relaxed);
        return false;
    }

    /// Until the slot's turn has come, at most for as long as somebody else takes between the two ends of
    /// try_push or try_pop: as many have ended there as were claimed, so who has the ticket before has begun.
    static HEADRACE_GROUP_CODE void await(HrSlot& slot, std::uint64_t turn) {
        // acquire: pairs with the other's release; the value, and the bundle that it names, are then ours.
        for (std::uint32_t polls = 0; Sync::load(slot.turn, Sync::acquire) != turn; ++polls)
            if (polls >= 16) Sync::pause(polls - 16);
    }
};

} // namespace headrace
