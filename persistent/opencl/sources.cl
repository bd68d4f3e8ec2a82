// persistent/opencl/sources.cl - the leader plans where the units of the next step come from: the LIQ, records,
// ranges, seeds and bundles.

// Groups refill when fewer lanes are active.
HR_FUNCTION uint hr_enough(__global HrControl* c) { return c->enough != 0 ? c->enough : (uint)HR_ENOUGH; }

// Ring i of a kind, or of the empty bundles (number HEADRACE_KINDS), in this group's order: giq.hpp.
HR_FUNCTION HrRing hr_ring(const __local HrGroup* g, __global HrControl* c, __global HrSlot* slots,
                           uint number, uint i) {
    const ulong at = number * c->ways + ((g->number + i) & (c->ways - 1u));
    const HrRing ring = {(__global HrTickets*)slots + at,
                         slots + hr_slots_at(c->kinds, c->ways) + at * c->ring_slots, c->ring_slots - 1u};
    return ring;
}
HR_FUNCTION bool hr_push_any(const __local HrGroup* g, __global HrControl* c, __global HrSlot* slots,
                             uint number, ulong value) {
    for (uint i = 0; i < c->ways; ++i)
        if (hr_try_push(hr_ring(g, c, slots, number, i), value)) return true;
    return false;
}
HR_FUNCTION bool hr_pop_any(const __local HrGroup* g, __global HrControl* c, __global HrSlot* slots,
                            uint number, ulong* value) {
    for (uint i = 0; i < c->ways; ++i)
        if (hr_try_pop(hr_ring(g, c, slots, number, i), value)) return true;
    return false;
}
HR_FUNCTION bool hr_all_seem_empty(const __local HrGroup* g, __global HrControl* c, __global HrSlot* slots,
                                   uint number) {
    bool empty = true;
    for (uint i = 0; i < c->ways; ++i) empty = empty && hr_seems_empty(hr_ring(g, c, slots, number, i));
    return empty;
}

HR_FUNCTION uint hr_liq_size(const __local HrProducer* p, uint kind) {
    return p->top[kind] - p->bottom[kind];
}
HR_FUNCTION uint hr_liq_room(const __local HrProducer* p, uint kind) {
    return p->liq_units - hr_liq_size(p, kind);
}
// The first of the kinds that lanes hold.
HR_FUNCTION uint hr_first_lane_kind(void) {
    uint kind = 0;
    while (hr_is_range(kind)) ++kind;
    return kind;
}
HR_FUNCTION uint hr_liq_fullest(const __local HrProducer* p) {
    uint best = hr_first_lane_kind();
    for (uint kind = best + 1; kind < HEADRACE_KINDS; ++kind)
        if (!hr_is_range(kind) && hr_liq_size(p, kind) > hr_liq_size(p, best)) best = kind;
    return best;
}
#if HEADRACE_RANGES
HR_FUNCTION HrUnit hr_range_at(const __local HrProducer* p, uint kind, uint position) {
    return hr_liq_read(p->liq, p->liq_units, kind, position);
}
HR_FUNCTION ulong hr_range_length(const __local HrProducer* p, uint kind, uint position) {
    const HrUnit range = hr_range_at(p, kind, position);
    return hr_end_of(range) - hr_begin_of(range);
}
HR_FUNCTION bool hr_holds_ranges(const __local HrProducer* p) {
    bool some = false;
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind)
        some = some || (hr_is_range(kind) && hr_liq_size(p, kind) > 0);
    return some;
}
#endif

// Returns the spare bundle. True if the group has none any more.
HR_FUNCTION bool hr_return_spare(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                 __global HrSlot* slots) {
    if (p->spare == HR_NO_BUNDLE) return true;
    if (!hr_push_any(g, c, slots, HEADRACE_KINDS, p->spare)) {
        ++g->counters[HR_SLOT_BUSY];
        return false;
    }
    p->spare = HR_NO_BUNDLE;
    return true;
}

// Plans to take a bundle of `kind` into `idle` lanes. The rest goes to the LIQ and must fit there.
HR_FUNCTION bool hr_plan_bundle(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                __global HrSlot* slots, uint kind, uint idle) {
    __local HrPlan* plan = &p->plan;
    // In this step lanes may still read what they take from the LIQ, so these slots are not free yet.
    const uint being_read = kind == plan->kind ? plan->from_liq : 0;
    if (idle + hr_liq_room(p, kind) < HEADRACE_QUEUE_LANES + being_read) return false;
    ulong entry = 0;
    if (hr_all_seem_empty(g, c, slots, kind) || !hr_return_spare(g, p, c, slots) ||
        !hr_pop_any(g, c, slots, kind, &entry))
        return false;
    plan->bundle = hr_entry_bundle(entry);
    plan->bundle_units = hr_entry_count(entry);
    plan->from_bundle = min(plan->bundle_units, idle);
    plan->kind = p->running = kind;
#if HEADRACE_RANGES
    plan->bundle_kind = kind;
#endif
    // If lanes read units of this kind, the LIQ has no others of it. So its bottom can rise instead of its
    // top sinking, and the rest of the bundle does not overwrite units that are being read.
    p->top[kind] += being_read;
    p->bottom[kind] += being_read;
    plan->place = p->top[kind];
    p->top[kind] += plan->bundle_units - plan->from_bundle;
    p->spare = plan->bundle; // empty when the lanes have acted
    p->last_popped = kind;
    ++g->counters[HR_POPPED];
    return true;
}

#if HEADRACE_RANGES
// Plans to take a bundle of ranges to the LIQ. The next step expands them. Not in a step in which lanes read
// ranges.
HR_FUNCTION bool hr_plan_range_bundle(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                      __global HrSlot* slots, uint kind) {
    __local HrPlan* plan = &p->plan;
    ulong entry = 0;
    // A bundle has no more ranges than one LIQ holds.
    if (plan->from_ranges != 0 || hr_liq_room(p, kind) < min((uint)HEADRACE_QUEUE_LANES, p->liq_units) ||
        hr_all_seem_empty(g, c, slots, kind) || !hr_return_spare(g, p, c, slots) ||
        !hr_pop_any(g, c, slots, kind, &entry))
        return false;
    plan->bundle = hr_entry_bundle(entry);
    plan->bundle_units = hr_entry_count(entry);
    plan->bundle_kind = kind;
    plan->from_bundle = 0;
    plan->place = p->top[kind];
    p->top[kind] += plan->bundle_units;
    p->spare = plan->bundle; // empty when the lanes have acted
    p->last_popped = kind;
    ++g->counters[HR_POPPED];
    return true;
}

// Plans to expand the newest ranges of a kind. `filled`: lanes that have a unit or get one by this plan.
// Returns how many lanes it fills.
HR_FUNCTION uint hr_plan_ranges_of(__local HrProducer* p, uint kind, uint filled) {
    __local HrPlan* plan = &p->plan;
    const uint idle = HEADRACE_QUEUE_LANES - filled, ranges = hr_liq_size(p, kind);
    if (plan->from_ranges != 0 || ranges == 0 || idle == 0) return 0;
    plan->range_kind = kind;
    plan->newest_range = p->top[kind] - 1u;
    uint taken = 0, whole = 0;
    for (; taken < idle && whole < ranges; ++whole) {
        const ulong length = hr_range_length(p, kind, plan->newest_range - whole);
        if (length > idle - taken) break;
        taken += (uint)length;
    }
    plan->whole_ranges = whole;
    plan->range_part = whole < ranges ? idle - taken : 0;
    plan->from_ranges = taken + plan->range_part;
    p->top[kind] -= whole; // lanes read these slots before any lane writes to them
    plan->kind = p->running = hr_range_of(kind);
    return plan->from_ranges;
}

// Plans to expand ranges of the running kind, or of any kind if `any` is true and no lane is filled.
HR_FUNCTION uint hr_plan_ranges(__local HrProducer* p, uint filled, bool any) {
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind)
        if (hr_is_range(kind) && (hr_range_of(kind) == p->running || (any && filled == 0))) {
            const uint more = hr_plan_ranges_of(p, kind, filled);
            if (more != 0) return more;
        }
    return 0;
}

// Plans to take seeds, which are ranges, to the LIQ. The next step expands them.
HR_FUNCTION void hr_plan_seeds_to_liq(__local HrGroup* g, __local HrProducer* p, uint filled) {
    __local HrPlan* plan = &p->plan;
    if (!hr_has_seeds(g) || plan->from_ranges != 0 || hr_liq_size(p, p->seed_kind) != 0 ||
        (filled != 0 && p->has_seeded))
        return; // all these ranges may be empty, so lanes that have a unit run between two such steps
    const ulong left = g->seed_end - g->seed_next;
    const uint most = min((uint)HEADRACE_QUEUE_LANES, p->liq_units);
    plan->seeds_to_liq = left < most ? (uint)left : most;
    plan->first_seed = g->seed_next;
    g->seed_next += plan->seeds_to_liq;
    p->has_seeded = true;
}
#endif

// Plans to take the newest units of a kind. Returns how many lanes it fills.
HR_FUNCTION uint hr_plan_liq(__local HrProducer* p, uint kind, uint idle) {
    const uint taken = min(hr_liq_size(p, kind), idle);
    if (taken == 0) return 0;
    p->plan.kind = p->running = kind;
    p->plan.from_liq = taken;
    p->plan.newest = p->top[kind] - 1u;
    p->top[kind] -= taken;
    return taken;
}

// Plans to expand seeds. `filled`: lanes that have a unit or get one by this plan. Returns how many lanes it
// fills.
HR_FUNCTION uint hr_plan_seeds(__local HrGroup* g, __local HrProducer* p, uint filled) {
#if HEADRACE_RANGES
    if (hr_is_range(p->seed_kind)) {
        hr_plan_seeds_to_liq(g, p, filled);
        return 0;
    }
#endif
    if (!hr_has_seeds(g) || (filled != 0 && p->running != p->seed_kind)) return 0;
    const ulong left = g->seed_end - g->seed_next;
    const uint idle = HEADRACE_QUEUE_LANES - filled;
    p->plan.from_seeds = left < idle ? (uint)left : idle;
    p->plan.first_seed = g->seed_next;
    p->plan.kind = p->running = p->seed_kind;
    g->seed_next += p->plan.from_seeds;
    return p->plan.from_seeds;
}

HR_FUNCTION void hr_plan_restore(__local HrProducer* p, __local HrGroup* g, __global HrRecord* record) {
    __local HrPlan* plan = &p->plan;
    g->seed_next = record->seed_next;
    g->seed_end = record->seed_end;
    uint fullest = hr_first_lane_kind(); // units beyond a LIQ were in lanes: the fullest kind goes back there
    for (uint kind = fullest + 1; kind < HEADRACE_KINDS; ++kind)
        if (!hr_is_range(kind) && record->count[kind] > record->count[fullest]) fullest = kind;
    const uint into_lanes = min(record->count[fullest], (uint)HEADRACE_QUEUE_LANES);
    p->running = fullest;
    p->active = into_lanes == 0 ? 0 : HR_ALL_LANES >> (HEADRACE_QUEUE_LANES - into_lanes);
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
        p->bottom[kind] = 0; // the group holds nothing, so positions begin at 0
        p->top[kind] = record->count[kind] - (kind == fullest ? into_lanes : 0);
    }
    plan->act = HR_RESTORE;
    plan->kind = fullest;
    plan->lanes = p->active;
    plan->record = record;
}

// docs/engine.md, step 1. True if lanes have something to do for it.
HR_FUNCTION bool hr_plan_refill(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                __global HrSlot* slots, __global uint* spill) {
    __local HrPlan* plan = &p->plan;
    plan->act = HR_FILL;
    plan->lanes = HR_ALL_LANES & ~p->active;
    plan->kind = p->running;
    plan->from_liq = plan->from_seeds = plan->from_bundle = plan->bundle_units = 0;
    const uint before = popcount(p->active);
    uint filled = before;
    bool ranges_follow = false; // ranges go to the LIQ; the next step expands them
#if HEADRACE_RANGES
    plan->from_ranges = plan->whole_ranges = plan->range_part = 0;
#endif
    if (HR_HAS_QUEUES) {
        filled += hr_plan_liq(p, p->running, HEADRACE_QUEUE_LANES - filled);
#if HEADRACE_RANGES
        filled += hr_plan_ranges(p, filled, false);
#endif
        if (HR_HAS_KINDS && filled == 0) filled += hr_plan_liq(p, hr_liq_fullest(p), HEADRACE_QUEUE_LANES);
#if HEADRACE_RANGES
        filled += hr_plan_ranges(p, filled, true);
#endif
    }
    if (filled == 0 && !hr_has_seeds(g)) {
        const ulong number = hr_claim_record(g, c);
        if (number != c->spill_count) {
            hr_plan_restore(p, g, hr_record(c, spill, c->spill_half, number));
            return true;
        }
    }
    if (filled < hr_enough(c)) filled += hr_plan_seeds(g, p, filled);
#if HEADRACE_RANGES
    ranges_follow = plan->seeds_to_liq != 0;
#endif
    if (HR_HAS_QUEUES && filled < hr_enough(c) && !ranges_follow) {
        const uint idle = HEADRACE_QUEUE_LANES - filled;
        if (filled != 0) {
#if HEADRACE_RANGES
            if (!hr_plan_bundle(g, p, c, slots, p->running, idle))
                for (uint kind = 0; kind < HEADRACE_KINDS && !ranges_follow; ++kind)
                    if (hr_is_range(kind) && hr_range_of(kind) == p->running)
                        ranges_follow = hr_plan_range_bundle(g, p, c, slots, kind);
#else
            hr_plan_bundle(g, p, c, slots, p->running, idle);
#endif
        } else {
            for (uint step = 1; step <= HEADRACE_KINDS; ++step) {
                const uint kind = (p->last_popped + step) % HEADRACE_KINDS;
#if HEADRACE_RANGES
                if (hr_is_range(kind)) {
                    ranges_follow = hr_plan_range_bundle(g, p, c, slots, kind);
                    if (ranges_follow) break;
                    continue;
                }
#endif
                if (hr_plan_bundle(g, p, c, slots, kind, idle)) break;
            }
        }
        filled += plan->from_bundle;
    }
    // The seeds of a step come from one claim. If this step has seeds already, the next step claims new ones.
    if (filled < hr_enough(c) && !ranges_follow && plan->from_seeds == 0 && !hr_has_seeds(g) && hr_claim_seeds(g, c, 1))
        filled += hr_plan_seeds(g, p, filled);
    // The first of the idle lanes are filled.
    uint left = filled - before;
    for (uint idle = plan->lanes; left > 0; --left) {
        const uint lowest = idle & (0u - idle);
        p->active |= lowest;
        idle ^= lowest;
    }
    plan->lanes &= p->active;
    return plan->lanes != 0 || ranges_follow;
}
