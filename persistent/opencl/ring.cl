// persistent/opencl/ring.cl - atomics on shared words, and the bounded ring: ring.hpp in OpenCL C. One lane
// makes each call. ring.hpp explains the orders, and which operations pair.

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

#ifdef HEADRACE_PRODUCER
typedef struct HrRing {
    __global HrTickets* tickets;
    __global HrSlot* slots;
    uint mask;
} HrRing;

HR_FUNCTION bool hr_claim(__global hr_u64* count) {
    if ((long)hr_load(count) <= 0) return false;
    if ((long)hr_fetch_add(count, ~0ul) > 0) return true;
    hr_fetch_add(count, 1ul);
    return false;
}
HR_FUNCTION void hr_await(__global HrSlot* slot, ulong turn) {
    while (hr_load_acquire(&slot->turn) != turn) {
    }
}

HR_FUNCTION bool hr_try_push(HrRing ring, ulong value) {
    if (!hr_claim(&ring.tickets->room.value)) return false;
    const ulong ticket = hr_fetch_add(&ring.tickets->tail.value, 1ul);
    __global HrSlot* slot = &ring.slots[ticket & ring.mask];
    hr_await(slot, ticket);
    slot->value = value;
    hr_store_release(&slot->turn, ticket + 1);
    hr_fetch_add(&ring.tickets->full.value, 1ul);
    return true;
}

HR_FUNCTION bool hr_try_pop(HrRing ring, ulong* value) {
    if (!hr_claim(&ring.tickets->full.value)) return false;
    const ulong ticket = hr_fetch_add(&ring.tickets->head.value, 1ul);
    __global HrSlot* slot = &ring.slots[ticket & ring.mask];
    hr_await(slot, ticket + 1);
    *value = slot->value;
    hr_store_release(&slot->turn, ticket + ring.mask + 1);
    hr_fetch_add(&ring.tickets->room.value, 1ul);
    return true;
}

HR_FUNCTION bool hr_seems_empty(HrRing ring) { return (long)hr_load(&ring.tickets->full.value) <= 0; }
#endif
