// persistent/opencl/leader.cl - the leader of a lane group that processes units and the units that they
// spawn. It follows docs/engine.md, like producer_group.hpp, but in steps. A step ends where all lanes have
// to act.

// What the lanes do before some of them run the kernel.
enum {
    HR_FILL,    // take units from the LIQ, from ranges, seeds and a bundle, in this order of lanes
    HR_RESTORE, // restore a record: the newest units of one kind go to lanes, all others to the LIQ
    HR_SHARE,   // copy the oldest units of a kind from the LIQ into a bundle
    HR_SHELVE,  // put the lanes' units into the LIQ, for a fuller kind
    HR_SAVE,    // copy all that the group holds into a record; then the kernel ends
    HR_LEAVE    // nothing; then the kernel ends
};

// Written by the leader, read by all lanes.
typedef struct HrPlan {
    uint act;
    uint kind;   // of the units that are moved
    uint lanes;  // FILL: the lanes to fill; SHELVE, SAVE: the lanes with units to move
    uint chosen; // the lanes that run the kernel when all have acted

    uint from_liq, newest; // FILL: number of units, from this position downwards
#if HEADRACE_RANGES
    // FILL: number of indices, of a kind's newest ranges from this position downwards: all indices of
    // `whole_ranges` ranges, and `range_part` indices of the next range.
    uint from_ranges, range_kind, newest_range, whole_ranges, range_part;
    uint bundle_kind;       // FILL: of the bundle, which may hold ranges
    uint seeds_to_liq;      // FILL: number of seeds, which are ranges
    ulong cut;              // SHARE: the index at which the range is cut; 0: it is not cut
#endif
    ulong first_seed;
    uint from_seeds;
    uint from_bundle; // units for lanes; the rest of the bundle goes to the LIQ, from `place` on
    uint bundle, bundle_units;
    uint place; // position in the LIQ. FILL, SHELVE: to write; SHARE: to read
    __global HrRecord* record;
} HrPlan;

// The stage of the leader when it plans the next step.
enum { HR_AT_REFILL, HR_AT_ROOM, HR_AT_LEAVE };

typedef struct HrProducer {
    HrPlan plan;
    // Lanes add to these after they have run. The leader reads and clears them.
    uint continuing;            // mask
    uint added[HEADRACE_KINDS]; // units after the LIQ's top
    uint failure;               // a status of control.h, or HR_OK
    uint skipped;               // mask: filled lanes with an index that has no unit

    // Used by the leader alone.
    __local uint* liq;
    uint stage;
    uint active; // lanes that have a unit, all of kind `running`
    uint running;
    uint liq_units;
    uint top[HEADRACE_KINDS], bottom[HEADRACE_KINDS];
    uint spare;       // an empty bundle, or HR_NO_BUNDLE
    uint last_popped; // the kind of the last bundle from the GIQ
    uint room_kind;   // the kind that needs room in the LIQ
    bool lacks_bundle;
    bool shares; // the bundle is filled for idle groups
    uint seed_kind;
    bool has_seeded; // seeds went to the LIQ since the lanes ran last
} HrProducer;
HR_LOCAL_FITS(HrProducer);

// ---- the leader: where units come from

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
// The first of the kinds that the kernel is called with.
HR_FUNCTION uint hr_first_called(void) {
    uint kind = 0;
    while (hr_is_range(kind)) ++kind;
    return kind;
}
HR_FUNCTION uint hr_liq_fullest(const __local HrProducer* p) {
    uint best = hr_first_called();
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
    uint fullest = hr_first_called(); // units beyond a LIQ were in lanes: the fullest kind goes back there
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

// ---- the leader: waiting, sharing, room

HR_FUNCTION void hr_pause(uint polls) {
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
        hr_pause(polls);
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

// ---- the leader: the round

// Accounts for what the lanes have done since the last plan.
HR_FUNCTION void hr_take_in(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                            __global HrSlot* slots) {
    __local HrPlan* plan = &p->plan;
    if (plan->act == HR_SHARE) {
        const bool shared = hr_finish_share(g, p, c, slots);
        if (p->stage == HR_AT_ROOM && !shared) ++p->room_kind; // this kind gets no more room
        if (p->shares && shared) ++g->counters[HR_SHARED];
        p->shares = false;
    }
    plan->act = HR_FILL; // fills no lane if nothing is planned
    plan->lanes = 0;
    plan->bundle_units = plan->from_bundle = 0;
    const uint skipped = p->skipped; // their indices are completed
    if (HR_HAS_GAPS && skipped != 0) {
        p->skipped = 0;
        p->active &= ~skipped;
        plan->chosen &= ~skipped;
        g->delta -= popcount(skipped);
        g->counters[HR_EMPTY] += popcount(skipped);
    }
#if HEADRACE_RANGES
    if (plan->range_part != 0) { // it is now the newest range; spawned ranges come after it
        const uint place = plan->newest_range - plan->whole_ranges;
        const HrUnit range = hr_range_at(p, plan->range_kind, place);
        hr_liq_write(p->liq, p->liq_units, plan->range_kind, place,
                     hr_with_begin(range, hr_begin_of(range) + plan->range_part));
        plan->range_part = 0;
    }
    const uint seeds = plan->seeds_to_liq;
    plan->seeds_to_liq = 0;
    if (seeds != 0) { // seeds that became a range do not count as spawned
        const uint made = p->added[p->seed_kind];
        g->delta -= seeds;
        g->spawned -= made;
        g->counters[HR_EMPTY] += seeds - made;
    } else if (plan->chosen == 0) {
        return;
    }
    if (plan->chosen != 0) p->has_seeded = false;
#else
    if (plan->chosen == 0) return;
#endif
    const uint completed = popcount(plan->chosen);
    ulong spawned = popcount(p->continuing);
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
#if HEADRACE_RANGES
        if (hr_is_range(kind)) {
            for (uint i = 0; i < p->added[kind]; ++i) spawned += hr_range_length(p, kind, p->top[kind] + i);
            p->top[kind] += p->added[kind];
            p->added[kind] = 0;
            continue;
        }
#endif
        p->top[kind] += p->added[kind];
        spawned += p->added[kind];
        p->added[kind] = 0;
    }
    p->active = (p->active & ~plan->chosen) | p->continuing;
    p->continuing = 0;
    g->delta += (long)spawned - (long)completed;
    g->units += completed;
    g->spawned += spawned;
    plan->chosen = 0;
    if (p->failure != HR_OK) hr_fail(g, c, p->failure);
}

#if HEADRACE_RANGES
// Plans to share the older half of a kind's ranges, or half of its only range. False if the `units` of the
// fullest kind should be shared instead.
HR_FUNCTION bool hr_share_ranges(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                 __global HrSlot* slots, uint units) {
    for (uint kind = 0; kind < HEADRACE_KINDS && !p->shares; ++kind) {
        const uint ranges = hr_is_range(kind) ? hr_liq_size(p, kind) : 0;
        if (ranges > 1) {
            p->shares = hr_plan_share(g, p, c, slots, kind, ranges / 2u);
        } else if (ranges == 1) {
            const ulong length = hr_range_length(p, kind, p->bottom[kind]);
            p->shares = length >= 2 && length >= units && hr_plan_share(g, p, c, slots, kind, 1);
            if (p->shares)
                p->plan.cut = hr_begin_of(hr_range_at(p, kind, p->bottom[kind])) + (length + 1) / 2;
        }
    }
    return p->shares;
}
#endif

// Called every few rounds. True if lanes must share with idle groups.
HR_FUNCTION bool hr_look_around(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                                __global HrSlot* slots) {
    if (hr_load32(&c->pause) != HR_RUN) g->paused = true;
    if (!HR_HAS_QUEUES || hr_load32(&c->idle_groups) == 0) return false;
    const uint kind = hr_liq_fullest(p);
#if HEADRACE_RANGES
    if (hr_share_ranges(g, p, c, slots, hr_liq_size(p, kind))) return true;
#endif
    const uint older = (hr_liq_size(p, kind) + 1u) / 2u;
    p->shares = older > 0 && hr_plan_share(g, p, c, slots, kind, older);
    return p->shares;
}

// Plans to save what the group holds. Then the group leaves.
HR_FUNCTION void hr_plan_leave(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                               __global uint* spill) {
    __local HrPlan* plan = &p->plan;
    hr_flush(g, c);
    uint held = p->active;
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) held |= hr_liq_size(p, kind);
    plan->act = HR_LEAVE;
    if ((held != 0 || hr_has_seeds(g)) && hr_saves(g, c)) {
        plan->act = HR_SAVE;
        plan->kind = p->running;
        plan->lanes = p->active;
        plan->record = hr_new_record(g, c, spill);
        for (uint kind = 0; kind < HEADRACE_KINDS; ++kind)
            plan->record->count[kind] = hr_liq_size(p, kind) + (kind == p->running ? popcount(p->active) : 0);
        plan->record->seed_next = g->seed_next;
        plan->record->seed_end = g->seed_end;
    }
    spill[g->number] = p->spare;
    hr_add_counters(g, c);
}

// Plans one step: what the lanes do next. Goes through the stages of a round until it needs the lanes.
HR_FUNCTION void hr_lead(__local HrGroup* g, __local HrProducer* p, __global HrControl* c,
                         __global HrSlot* slots, __global uint* spill) {
    __local HrPlan* plan = &p->plan;
#if HEADRACE_RANGES
    const bool has_run = plan->chosen != 0 || plan->seeds_to_liq != 0;
#else
    const bool has_run = plan->chosen != 0;
#endif
    hr_take_in(g, p, c, slots);
    if (has_run && hr_end_round(g, c) && hr_look_around(g, p, c, slots)) return;
    for (;;) {
        if (g->paused) p->stage = HR_AT_LEAVE;
        if (p->stage == HR_AT_LEAVE) {
            hr_plan_leave(g, p, c, spill);
            return;
        }
        if (p->stage == HR_AT_REFILL) {
            if (HR_HAS_KINDS && hr_plan_fuller_kind(g, p, c)) return;
            const bool filling =
                popcount(p->active) < hr_enough(c) && hr_plan_refill(g, p, c, slots, spill);
#if HEADRACE_RANGES
            // Lanes take ranges to the LIQ. The next step expands them.
            if (plan->seeds_to_liq != 0) return;
            if (p->active == 0 && filling && hr_holds_ranges(p)) return;
#endif
            if (p->active == 0) { // the group holds nothing, or restored only seeds
                if (!hr_has_seeds(g) && !hr_wait_for_work(g, p, c, slots)) p->stage = HR_AT_LEAVE;
                continue;
            }
            p->stage = HR_AT_ROOM;
            p->room_kind = 0;
            p->lacks_bundle = false;
            if (filling) {
                // Lanes that take units from a bundle or the LIQ must not copy units out in the same step.
                const uint wanted = HR_STAGED * popcount(p->active);
                for (uint kind = 0; kind < HEADRACE_KINDS; ++kind)
                    if (hr_liq_room(p, kind) < wanted && hr_liq_size(p, kind) > 0) return;
            }
        }
        if (p->stage == HR_AT_ROOM) {
            if (HR_HAS_QUEUES && hr_plan_room(g, p, c, slots)) return;
            p->stage = HR_AT_REFILL; // of the next round
            plan->chosen = hr_lanes_with_room(g, p, c);
            if (plan->chosen != 0 || plan->lanes != 0 || plan->bundle_units != 0) return;
            if (hr_end_round(g, c) && hr_load32(&c->pause) != HR_RUN) g->paused = true;
        }
    }
}
