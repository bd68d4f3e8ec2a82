// persistent/detail/ring.hpp - a bounded ring that many lane groups push to and pop from. It holds full
// bundles (the GIQ) or empty ones. Source: D. Vyukov, "Bounded MPMC queue"; differs in: 64-bit tickets apart
// from the slots, one word of payload, counts of full and empty slots instead of a compare-exchange of the
// ticket. The counts are from B. Kerbl et al., "The Broker Queue", ICS 2018.
#pragma once
#include <headrace/persistent/detail/control.h>
#include <headrace/persistent/sync.hpp>

namespace headrace {

/// Borrows a ring in shared memory. Threads: any number, each call by one lane.
template <class Sync>
struct RingView {
    HrTickets* tickets;
    HrSlot* slots;
    std::uint32_t mask; ///< number of slots - 1; the number is a power of two, at least 2

    /// False if the ring is full; then nothing has changed.
    HEADRACE_GROUP_CODE bool try_push(std::uint64_t value) const {
        if (!claim(tickets->room.value)) return false;
        // relaxed: the ticket only assigns the slot.
        const std::uint64_t ticket = Sync::fetch_add(tickets->tail.value, std::uint64_t{1}, Sync::relaxed);
        HrSlot& slot = slots[ticket & mask];
        await(slot, ticket);
        slot.value = value;
        // release: pairs with `await` in try_pop, which then sees the value and all that we wrote before.
        Sync::store(slot.turn, ticket + 1, Sync::release);
        // relaxed: the turn publishes the value.
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
        // release: pairs with `await` in try_push, one lap later, which may then overwrite the value.
        Sync::store(slot.turn, ticket + mask + 1, Sync::release);
        Sync::fetch_add(tickets->room.value, std::uint64_t{1}, Sync::relaxed);
        return true;
    }

    /// A guess, for callers that look before they take.
    HEADRACE_GROUP_CODE bool seems_empty() const {
        // relaxed: no read relies on this.
        return static_cast<std::int64_t>(Sync::load(tickets->full.value, Sync::relaxed)) <= 0;
    }

private:
    /// Takes one off `count`, unless it is 0. This is one addition. With a compare-exchange, all but one of
    /// the lanes that ask at the same time would have to retry: thousands of lanes on a GPU.
    static HEADRACE_GROUP_CODE bool claim(std::uint64_t& count) {
        // relaxed: it only says that there is a ticket. The load comes
        // first; otherwise many callers would take the count far below 0.
        if (static_cast<std::int64_t>(Sync::load(count, Sync::relaxed)) <= 0) return false;
        if (static_cast<std::int64_t>(Sync::fetch_add(count, ~std::uint64_t{0}, Sync::relaxed)) > 0)
            return true;
        Sync::fetch_add(count, std::uint64_t{1}, Sync::relaxed);
        return false;
    }

    /// Waits for the slot's turn, at most as long as another lane takes for one try_push or try_pop. As many
    /// calls have ended as were claimed, so the lane with the ticket before has begun.
    static HEADRACE_GROUP_CODE void await(HrSlot& slot, std::uint64_t turn) {
        // acquire: pairs with the other lane's release. The value and the bundle that it names are then ours.
        for (std::uint32_t polls = 0; Sync::load(slot.turn, Sync::acquire) != turn; ++polls)
            if (polls >= 16) Sync::pause(polls - 16);
    }
};

} // namespace headrace
