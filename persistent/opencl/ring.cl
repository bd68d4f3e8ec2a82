// persistent/opencl/ring.cl - atomics on shared words, and the bounded ring: ring.hpp in OpenCL C, called by
// one lane. The orders, and what pairs with what, are explained there.

HR_FUNCTION uint hr_load32(__global uint* word) {
    return atomic_load_explicit((volatile __global atomic_uint*)word, memory_order_relaxed,
                                memory_scope_device);
}
HR_FUNCTION ulong hr_load(__global ulong* word) {
    return atomic_load_explicit((volatile __global atomic_ulong*)word, memory_order_relaxed,
                                memory_scope_device);
}
HR_FUNCTION ulong hr_load_acquire(__global ulong* word) {
    return atomic_load_explicit((volatile __global atomic_ulong*)word, memory_order_acquire,
                                memory_scope_device);
}
HR_FUNCTION void hr_store_release(__global ulong* word, ulong value) {
    atomic_store_explicit((volatile __global atomic_ulong*)word, value, memory_order_release,
                          memory_scope_device);
}
HR_FUNCTION ulong hr_fetch_add(__global ulong* word, ulong amount) {
    return atomic_fetch_add_explicit((volatile __global atomic_ulong*)word, amount, memory_order_relaxed,
                                     memory_scope_device);
}
HR_FUNCTION bool hr_compare_exchange(__global ulong* word, ulong* expected, ulong desired) {
    return atomic_compare_exchange_strong_explicit((volatile __global atomic_ulong*)word, expected, desired,
                                                   memory_order_relaxed, memory_order_relaxed,
                                                   memory_scope_device);
}

#ifdef HEADRACE_PRODUCER
typedef struct HrRing {
    __global HrTickets* tickets;
    __global HrSlot* slots;
    uint mask;
} HrRing;

HR_FUNCTION bool hr_try_push(HrRing ring, ulong value) {
    ulong ticket = hr_load(&ring.tickets->tail.value);
    for (;;) {
        __global HrSlot* slot = &ring.slots[ticket & ring.mask];
        const long lead = (long)(hr_load_acquire(&slot->turn) - ticket);
        if (lead < 0) return false;
        if (lead > 0) {
            ticket = hr_load(&ring.tickets->tail.value);
        } else if (hr_compare_exchange(&ring.tickets->tail.value, &ticket, ticket + 1)) {
            slot->value = value;
            hr_store_release(&slot->turn, ticket + 1);
            return true;
        }
    }
}

HR_FUNCTION bool hr_try_pop(HrRing ring, ulong* value) {
    ulong ticket = hr_load(&ring.tickets->head.value);
    for (;;) {
        __global HrSlot* slot = &ring.slots[ticket & ring.mask];
        const long lead = (long)(hr_load_acquire(&slot->turn) - (ticket + 1));
        if (lead < 0) return false;
        if (lead > 0) {
            ticket = hr_load(&ring.tickets->head.value);
        } else if (hr_compare_exchange(&ring.tickets->head.value, &ticket, ticket + 1)) {
            *value = slot->value;
            hr_store_release(&slot->turn, ticket + ring.mask + 1);
            return true;
        }
    }
}

HR_FUNCTION bool hr_seems_empty(HrRing ring) {
    return (long)(hr_load(&ring.tickets->tail.value) - hr_load(&ring.tickets->head.value)) <= 0;
}
#endif
