// persistent/opencl/sharing.cl - the leader waits for work, shares units with other groups, and makes room in
// the LIQ.

HR_FUNCTION void hr_back_off(uint polls) {
#if defined(HEADRACE_PTX) && HEADRACE_PTX >= 70
    asm volatile("nanosleep.u32 %0;" : : "r"(polls < 32 ? 100u : 1000u));
#else
    // Accesses to this work-item's own memory, which the compiler cannot remove. They do not disturb other
    // work-items.
    volatile uint idle = 0;
    for (uint i = 0; i < (polls < 64 ? 16 * polls : 1024); ++i) idle += i;
#endif
}

// Waits. True if there may be something to take; false if there never will be, or all groups pause.
HR_FUNCTION bool hr_wait_for_work(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                  __global HrSlot* slots) {
    volatile __global atomic_uint* idle = (volatile __global atomic_uint*)&c->idle_groups;
    hr_flush(g, c);
    if (HR_HAS_QUEUES) hr_return_spare(g, p, c, slots);
    ++g->counters[HR_IDLE];
    atomic_fetch_add_explicit(idle, 1u, memory_order_relaxed, memory_scope_device);
    for (uint polls = 0;; ++polls) {
        if (hr_load32(&c->pause) != HR_RUN) {
            g->paused = true;
            return false;
        }
        if (hr_load(&c->pending.value) == 0) return false; // 0 is enough: docs/engine.md
        bool something =
            hr_load(&c->restored.value) < c->spill_count || hr_load(&c->seed_cursor.value) < c->seed_end;
        if (HR_HAS_QUEUES)
            for (uint kind = 0; kind < HEADRACE_KINDS; ++kind)
                something = something || !hr_all_seem_empty(g, c, slots, kind);
        if (something) break;
        hr_back_off(polls);
    }
    atomic_fetch_sub_explicit(idle, 1u, memory_order_relaxed, memory_scope_device);
    return true;
}

// Plans to copy the oldest units of a kind into a bundle. False if there is no empty bundle.
HR_FUNCTION bool hr_plan_share(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                               __global HrSlot* slots, uint kind, uint at_most) {
    if (p->spare == HR_NO_BUNDLE) {
        ulong entry = 0;
        if (!hr_pop_any(g, c, slots, HEADRACE_KINDS, &entry)) {
            ++g->counters[HR_NO_BUNDLE_LEFT];
            return false;
        }
        p->spare = (uint)entry;
    }
    p->plan.act = HR_SHARE;
#if HEADRACE_RANGES
    p->plan.cut = 0;
#endif
    p->plan.kind = kind;
    p->plan.bundle = p->spare;
    p->plan.bundle_units = min(min(hr_liq_size(p, kind), at_most), (uint)HEADRACE_QUEUE_LANES);
    p->plan.place = p->bottom[kind];
    return true;
}

// Publishes the bundle that the lanes have filled. False if every ring is full: then the units are still in
// the LIQ, and the group still has the bundle.
HR_FUNCTION bool hr_finish_share(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                 __global HrSlot* slots) {
    const uint kind = p->plan.kind;
    if (g->delta > 0) hr_flush(g, c); // before other groups can complete units that are not counted
    if (!hr_push_any(g, c, slots, kind, hr_entry(p->plan.bundle, p->plan.bundle_units))) {
        ++g->counters[HR_SLOT_BUSY];
        return false;
    }
#if HEADRACE_RANGES
    if (p->plan.cut != 0) // the first half stays
        hr_liq_write(p->liq, p->liq_units, kind, p->plan.place,
                     hr_with_end(hr_range_at(p, kind, p->plan.place), p->plan.cut));
    else
#endif
        p->bottom[kind] += p->plan.bundle_units;
    p->spare = HR_NO_BUNDLE;
    ++g->counters[HR_PUSHED];
    return true;
}

#if HEADRACE_RANGES
// The kind that a range can fill the group with, if the running kind has too few units. Otherwise the running
// kind.
HR_FUNCTION uint hr_fuller_range_of(const __local HrProducer* p, __global HrControl* c, uint held) {
    if (held == 0 || held + hr_liq_size(p, p->running) >= hr_enough(c) || hr_liq_room(p, p->running) < held)
        return p->running;
    uint fuller = p->running;
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
        if (!hr_is_range(kind) || hr_liq_size(p, kind) == 0) continue;
        if (hr_range_of(kind) == p->running) return p->running;
        if (hr_range_length(p, kind, p->top[kind] - 1u) >= HEADRACE_QUEUE_LANES) fuller = hr_range_of(kind);
    }
    return fuller;
}
#endif

// docs/engine.md, step 3, here before the refill. If another kind can fill the group and has more units,
// lanes are refilled with it. True if lanes must first move their units to the LIQ.
HR_FUNCTION bool hr_plan_fuller_kind(__local HrGroup* g, __local HrProducer* p, __global HrControl* c) {
    uint kind = hr_liq_fullest(p);
    const uint held = popcount(p->active);
    if (kind == p->running || hr_liq_size(p, kind) < HEADRACE_QUEUE_LANES ||
        hr_liq_size(p, kind) <= hr_liq_size(p, p->running) + held || hr_liq_room(p, p->running) < held) {
#if HEADRACE_RANGES
        kind = hr_fuller_range_of(p, c, held);
        if (kind == p->running) return false;
#else
        return false;
#endif
    }
    if (held == 0) { // no units to move
        p->running = kind;
        return false;
    }
    p->plan.act = HR_SHELVE;
    p->plan.kind = p->running;
    p->plan.lanes = p->active;
    p->plan.place = p->top[p->running];
    p->top[p->running] += held;
    p->active = 0;
    p->running = kind;
    ++g->counters[HR_SWITCHES];
    return true;
}

// docs/engine.md, step 4. True if lanes must share first. Otherwise room_kind has passed all kinds.
HR_FUNCTION bool hr_plan_room(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                              __global HrSlot* slots) {
    const uint wanted = HR_STAGED * popcount(p->active);
    for (; p->room_kind < HEADRACE_KINDS; ++p->room_kind) {
        const uint kind = p->room_kind;
        if (hr_liq_room(p, kind) >= wanted || hr_liq_size(p, kind) == 0) continue;
        if (hr_plan_share(g, p, c, slots, kind, HEADRACE_QUEUE_LANES)) return true;
        p->lacks_bundle = true;
    }
    return false;
}

// The active lanes that may run: their spawns fit into the LIQ in any case.
HR_FUNCTION uint hr_lanes_with_room(__local HrGroup* g, __local HrProducer* p, __global HrControl* c) {
    if (!HR_HAS_QUEUES) return p->active;
    const uint wanted = popcount(p->active);
    uint may_run = wanted;
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind)
        may_run = min(may_run, hr_liq_room(p, kind) / HR_PLACES);
    if (may_run == wanted) return p->active;
    ++g->counters[HR_NARROW_ROUNDS];
    if (may_run == 0 && p->lacks_bundle) hr_pause(g, c, HR_PAUSE_POOL);
    uint chosen = p->active; // the first of the active lanes
    for (uint lane = HEADRACE_QUEUE_LANES; popcount(chosen) > may_run;) chosen &= ~(1u << --lane);
    return chosen;
}
