// persistent/ring.hpp - a bounded ring that many lane groups push to and pop from: the GIQ and the free ring.
// Source: D. Vyukov, "Bounded MPMC queue"; differs in: 64-bit tickets apart from the slots, one word of
// payload.
#pragma once
#include <headrace/persistent/control.h>
#include <headrace/persistent/sync.hpp>

namespace headrace {

/// Borrows a ring in shared memory. Threads: any number, each call by one lane.
template <class Sync>
struct RingView {
    HrTickets* tickets;
    HrSlot* slots;
    std::uint32_t mask; ///< slots - 1; their number is a power of two, at least 2

    /// False, and nothing has happened: the slot is still being read, or the ring is full.
    HEADRACE_GROUP_CODE bool try_push(std::uint64_t value) const {
        std::uint64_t ticket =
            Sync::load(tickets->tail.value, Sync::relaxed); // a guess; the exchange decides
        for (;;) {
            HrSlot& slot = slots[ticket & mask];
            // acquire: pairs with the release in try_pop, whose read of the value precedes our write.
            const auto lead = static_cast<std::int64_t>(Sync::load(slot.turn, Sync::acquire) - ticket);
            if (lead < 0) return false;
            if (lead > 0) { // another group took this ticket
                ticket = Sync::load(tickets->tail.value, Sync::relaxed);
            } else if (Sync::compare_exchange(tickets->tail.value, ticket, ticket + 1, Sync::relaxed)) {
                // relaxed above: the ticket only says whose slot it is
                slot.value = value;
                // release: whoever acquires this turn in try_pop sees the value, and all that we wrote
                // before.
                Sync::store(slot.turn, ticket + 1, Sync::release);
                return true;
            }
        }
    }

    /// False if nothing is published: a consumer never holds a ticket that it has to wait for.
    HEADRACE_GROUP_CODE bool try_pop(std::uint64_t& value) const {
        std::uint64_t ticket =
            Sync::load(tickets->head.value, Sync::relaxed); // a guess; the exchange decides
        for (;;) {
            HrSlot& slot = slots[ticket & mask];
            // acquire: pairs with the release in try_push; the value, and the bundle it names, are then ours
            // to read.
            const auto lead = static_cast<std::int64_t>(Sync::load(slot.turn, Sync::acquire) - (ticket + 1));
            if (lead < 0) return false;
            if (lead > 0) {
                ticket = Sync::load(tickets->head.value, Sync::relaxed);
            } else if (Sync::compare_exchange(tickets->head.value, ticket, ticket + 1, Sync::relaxed)) {
                value = slot.value;
                // release: whoever acquires this turn in try_push, a lap later, may overwrite the value.
                Sync::store(slot.turn, ticket + mask + 1, Sync::release);
                return true;
            }
        }
    }

    /// A guess, for those who look before they take.
    HEADRACE_GROUP_CODE bool seems_empty() const {
        // relaxed: nothing is read on the strength of this.
        return static_cast<std::int64_t>(Sync::load(tickets->tail.value, Sync::relaxed) -
                                         Sync::load(tickets->head.value, Sync::relaxed)) <= 0;
    }
};

} // namespace headrace
