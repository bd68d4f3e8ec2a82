// persistent/opencl/producer.cl - a lane group that works off units and what they spawn: producer_group.hpp in
// OpenCL C. ../README.md is the plan of both. Names begin with hr_ wherever the user's parameters are in scope.

// The most units that one call may put into the LIQ: with one kind the first is the lane's continuation.
#define HR_STAGED (HEADRACE_KINDS == 1 && HEADRACE_MAX_SPAWNS > 0 ? HEADRACE_MAX_SPAWNS - 1 : HEADRACE_MAX_SPAWNS)
#define HR_PLACES (HR_STAGED == 0 ? 1 : HR_STAGED) // no empty arrays
#define HR_HAS_QUEUES (HR_STAGED > 0)              // else nothing but continuations is ever spawned
#define HR_HAS_KINDS (HEADRACE_KINDS > 1)
#define HR_ENOUGH (HEADRACE_LANES - HEADRACE_LANES / 4) // groups refill when fewer lanes are active
#define HR_ALL_LANES (0xffffffffu >> (32 - HEADRACE_LANES))

typedef char hr_the_host_knows_the_units_size[sizeof(HrUnit) == 4 * HEADRACE_UNIT_WORDS ? 1 : -1];

// A unit as queues move it. A union, since the compiler may assume that a uint and a struct are not one thing.
typedef union HrWords {
    HrUnit unit;
    uint word[HEADRACE_UNIT_WORDS];
} HrWords;

// What a lane holds while its group runs: its unit, and what the kernel has spawned.
struct HrLane {
    HrUnit unit; // to run, or the continuation
    uint running;
    bool continues; // `unit` is a continuation
    uint staged;    // spawned beyond it; more than HR_STAGED: too many
    uint kinds[HR_PLACES];
    HrUnit units[HR_PLACES];
};

// Comes under divergence, so it only stages in the lane; the group collects when all lanes are back.
void hr_spawn(HrLane* lane, uint kind, const void* unit) {
    const HrUnit* spawned = (const HrUnit*)unit;
    const uint others = lane->staged + (lane->continues ? 1 : 0);
    if (others >= HEADRACE_MAX_SPAWNS || kind >= HEADRACE_KINDS) {
        lane->staged = HR_STAGED + 1; // the group reports it
    } else if (kind == lane->running && !lane->continues) {
        lane->unit = *spawned;
        lane->continues = true;
    } else if (lane->staged < HR_STAGED) {
        lane->kinds[lane->staged] = kind;
        lane->units[lane->staged] = *spawned;
        ++lane->staged;
    }
}

// ---- masks and columns of words

HR_FUNCTION bool hr_has(uint mask, uint lane) { return (mask >> lane & 1u) != 0; }
HR_FUNCTION uint hr_count_below(uint mask, uint lane) { return popcount(mask & ((1u << lane) - 1u)); }
HR_FUNCTION uint hr_lowest(uint mask) { return popcount((mask & (0u - mask)) - 1u); } // 32 if there is none

HR_FUNCTION HrUnit hr_read_column(const __global uint* from, uint row, uint column) {
    HrWords words;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) words.word[w] = from[w * row + column];
    return words.unit;
}
HR_FUNCTION void hr_write_column(__global uint* to, uint row, uint column, HrUnit unit) {
    HrWords words;
    words.unit = unit;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) to[w * row + column] = words.word[w];
}

// ---- the LIQ: a deque for each kind (liq.hpp)

HR_FUNCTION uint hr_liq_size(const HrGroup* g, uint kind) { return g->top[kind] - g->bottom[kind]; }
HR_FUNCTION uint hr_liq_room(const HrGroup* g, uint kind) { return g->liq_units - hr_liq_size(g, kind); }
HR_FUNCTION uint hr_liq_fullest(const HrGroup* g) {
    uint best = 0;
    for (uint kind = 1; kind < HEADRACE_KINDS; ++kind)
        if (hr_liq_size(g, kind) > hr_liq_size(g, best)) best = kind;
    return best;
}
HR_FUNCTION __local uint* hr_liq_column(const HrGroup* g, uint kind, uint position) {
    return g->liq + kind * HEADRACE_UNIT_WORDS * g->liq_units + (position & (g->liq_units - 1u));
}
HR_FUNCTION HrUnit hr_liq_read(const HrGroup* g, uint kind, uint position) {
    const __local uint* column = hr_liq_column(g, kind, position);
    HrWords words;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) words.word[w] = column[w * g->liq_units];
    return words.unit;
}
HR_FUNCTION void hr_liq_write(const HrGroup* g, uint kind, uint position, HrUnit unit) {
    __local uint* column = hr_liq_column(g, kind, position);
    HrWords words;
    words.unit = unit;
    for (uint w = 0; w < HEADRACE_UNIT_WORDS; ++w) column[w * g->liq_units] = words.word[w];
}
// The unit of each lane in `mine`, in lane order, as the newest. Needs room, and a sync after.
HR_FUNCTION void hr_append(HrGroup* g, uint kind, uint mine, HrUnit unit) {
    if (hr_has(mine, g->lane)) hr_liq_write(g, kind, g->top[kind] + hr_count_below(mine, g->lane), unit);
    g->top[kind] += popcount(mine);
}

// ---- sharing

enum { HR_PUSH_DONE, HR_PUSH_NO_BUNDLE, HR_PUSH_SLOT_BUSY };

HR_FUNCTION HrRing hr_ring(const HrGroup* g, uint number) { // number HEADRACE_KINDS: the free ring
    const HrRing ring = {&g->control->rings[number], g->slots + (ulong)number * g->control->ring_slots,
                         g->control->ring_slots - 1u};
    return ring;
}

// Pops from a ring; false if nothing is there.
HR_FUNCTION bool hr_pop(HrGroup* g, uint number, ulong* entry) {
    if (hr_leads(g)) {
        ulong popped = 0;
        const bool there = hr_try_pop(hr_ring(g, number), &popped);
        hr_say(g, popped, there);
    }
    ulong there;
    *entry = hr_hear_both(g, &there);
    hr_sync(); // the leader has acquired; now all may read and write
    return there != 0;
}

HR_FUNCTION bool hr_push(HrGroup* g, uint number, ulong entry) {
    hr_sync(); // all have read or written; now the leader may release
    if (hr_leads(g)) hr_say(g, hr_try_push(hr_ring(g, number), entry), 0);
    const bool pushed = hr_hear(g) != 0;
    if (!pushed) hr_count(g, HR_SLOT_BUSY);
    return pushed;
}

// The oldest units of a kind, at most a bundle, to the GIQ.
HR_FUNCTION uint hr_push_oldest(HrGroup* g, uint kind, uint at_most) {
    if (g->spare == HR_NO_BUNDLE) {
        ulong entry;
        if (!hr_pop(g, HEADRACE_KINDS, &entry)) {
            hr_count(g, HR_NO_BUNDLE_LEFT);
            return HR_PUSH_NO_BUNDLE;
        }
        g->spare = (uint)entry;
    }
    const uint units = min(min(hr_liq_size(g, kind), at_most), (uint)HEADRACE_LANES);
    __global uint* to = g->bundles + hr_bundle_at(g->spare, HEADRACE_LANES, HEADRACE_UNIT_WORDS);
    if (g->lane < units)
        hr_write_column(to, HEADRACE_LANES, g->lane, hr_liq_read(g, kind, g->bottom[kind] + g->lane));
    if (g->delta > 0) hr_flush(g); // before others can complete what we have not yet counted
    // Not pushed: the units are still in the LIQ, and the bundle in hand.
    if (!hr_push(g, kind, hr_entry(g->spare, units))) return HR_PUSH_SLOT_BUSY;
    g->bottom[kind] += units;
    g->spare = HR_NO_BUNDLE;
    hr_count(g, HR_PUSHED);
    return HR_PUSH_DONE;
}

// True if no bundle is in hand any more.
HR_FUNCTION bool hr_return_spare(HrGroup* g) {
    if (g->spare == HR_NO_BUNDLE) return true;
    if (!hr_push(g, HEADRACE_KINDS, g->spare)) return false;
    g->spare = HR_NO_BUNDLE;
    return true;
}

HR_FUNCTION void hr_look_around(HrGroup* g) {
    if (hr_leads(g)) hr_say(g, hr_load32(&g->control->park), hr_load32(&g->control->hungry));
    ulong hungry;
    if (hr_hear_both(g, &hungry) != HR_RUN) g->parked = true;
    if (!HR_HAS_QUEUES || hungry == 0) return;
    const uint kind = hr_liq_fullest(g);
    const uint half = (hr_liq_size(g, kind) + 1u) / 2u;
    if (half > 0 && hr_push_oldest(g, kind, half) == HR_PUSH_DONE) hr_count(g, HR_SHARED);
}

// ---- where units come from

// Which rank among the idle lanes that are to be filled; HEADRACE_LANES: this lane gets nothing.
HR_FUNCTION uint hr_rank_to_fill(const HrGroup* g, uint wanted) {
    const uint idle = HR_ALL_LANES & ~g->active;
    const uint rank = hr_count_below(idle, g->lane);
    return hr_has(idle, g->lane) && rank < wanted ? rank : HEADRACE_LANES;
}
HR_FUNCTION uint hr_idle_lanes(const HrGroup* g) { return HEADRACE_LANES - popcount(g->active); }

// Newest units of `kind` to idle lanes.
HR_FUNCTION void hr_take_from_liq(HrGroup* g, HrLane* lane, uint kind) {
    const uint taken = min(hr_liq_size(g, kind), hr_idle_lanes(g));
    if (taken == 0) return;
    const uint rank = hr_rank_to_fill(g, taken);
    if (rank < HEADRACE_LANES) lane->unit = hr_liq_read(g, kind, g->top[kind] - 1u - rank);
    g->running = kind;
    g->active |= hr_ballot(g, rank < HEADRACE_LANES); // and all have read before anyone overwrites
    g->top[kind] -= taken;
}

// Seeds say what kind they are of. Those of another kind than the first idle lane's wait for the next call, which
// expands them anew.
HR_FUNCTION void hr_take_seeds(HrGroup* hr_g, HrLane* hr_lane, HEADRACE_PARAMETERS) {
    const ulong hr_left = hr_g->seed_end - hr_g->seed_next;
    const uint hr_idle = hr_idle_lanes(hr_g);
    if (hr_left == 0 || hr_idle == 0) return;
    const uint hr_rank = hr_rank_to_fill(hr_g, hr_left < hr_idle ? (uint)hr_left : hr_idle);
    const bool hr_has_seed = hr_rank < HEADRACE_LANES;
    uint hr_kind = 0;
    HrUnit hr_unit;
    if (hr_has_seed) hr_seed(hr_g->seed_next + hr_rank, &hr_kind, &hr_unit, HEADRACE_ARGUMENTS);
    if (hr_rank == 0) hr_say(hr_g, hr_kind, 0);
    const uint hr_first_kind = (uint)hr_hear(hr_g);
    if (hr_first_kind >= HEADRACE_KINDS) {
        hr_fail(hr_g, HR_SPAWNED_TOO_MANY);
        return;
    }
    if (hr_g->active != 0 && hr_first_kind != hr_g->running) return;
    const uint hr_others = hr_ballot(hr_g, hr_has_seed && hr_kind != hr_first_kind);
    const bool hr_takes = hr_has_seed && hr_g->lane < hr_lowest(hr_others);
    if (hr_takes) hr_lane->unit = hr_unit;
    const uint hr_taken = hr_ballot(hr_g, hr_takes);
    hr_g->running = hr_first_kind;
    hr_g->active |= hr_taken;
    hr_g->seed_next += popcount(hr_taken);
}

// A bundle of `kind` from the GIQ; what finds no idle lane goes to the LIQ.
HR_FUNCTION bool hr_try_take_bundle(HrGroup* g, HrLane* lane, uint kind) {
    const uint idle = hr_idle_lanes(g);
    if (idle + hr_liq_room(g, kind) < HEADRACE_LANES) return false;
    if (hr_leads(g)) hr_say(g, !hr_seems_empty(hr_ring(g, kind)), 0);
    if (hr_hear(g) == 0 || !hr_return_spare(g)) return false;
    ulong entry;
    if (!hr_pop(g, kind, &entry)) return false;
    const uint bundle = hr_entry_bundle(entry);
    const uint units = hr_entry_count(entry);
    const __global uint* from = g->bundles + hr_bundle_at(bundle, HEADRACE_LANES, HEADRACE_UNIT_WORDS);
    const uint taken = min(units, idle);
    const uint rank = hr_rank_to_fill(g, taken);
    if (rank < HEADRACE_LANES) lane->unit = hr_read_column(from, HEADRACE_LANES, rank);
    if (g->lane < units - taken)
        hr_liq_write(g, kind, g->top[kind] + g->lane, hr_read_column(from, HEADRACE_LANES, taken + g->lane));
    g->running = kind;
    g->active |= hr_ballot(g, rank < HEADRACE_LANES);
    g->top[kind] += units - taken;
    hr_sync(); // all have read before the bundle is used again
    g->spare = bundle;
    g->last_popped = kind;
    hr_count(g, HR_POPPED);
    return true;
}

HR_FUNCTION void hr_take_bundle(HrGroup* g, HrLane* lane) {
    for (uint step = 1; step <= HEADRACE_KINDS; ++step) {
        const uint kind = g->active == 0 ? (g->last_popped + step) % HEADRACE_KINDS : g->running;
        if (hr_try_take_bundle(g, lane, kind) || g->active != 0) return;
    }
}

// ---- parking

HR_FUNCTION uint hr_room_of_record(const HrGroup* g) { return hr_record_room(HEADRACE_LANES, g->liq_units); }
HR_FUNCTION __global uint* hr_record_columns(const HrGroup* g, __global HrRecord* record, uint kind) {
    return (__global uint*)(record + 1) + kind * HEADRACE_UNIT_WORDS * hr_room_of_record(g);
}

HR_FUNCTION void hr_save(HrGroup* g, const HrLane* lane) {
    uint held = 0;
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) held += hr_liq_size(g, kind);
    if (held == 0 && g->active == 0 && g->seed_next == g->seed_end) return;
    __global HrRecord* record = hr_new_record(g);
    const uint room = hr_room_of_record(g);
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
        const uint queued = hr_liq_size(g, kind);
        const uint in_lanes = kind == g->running ? popcount(g->active) : 0;
        __global uint* to = hr_record_columns(g, record, kind);
        for (uint i = g->lane; i < queued; i += HEADRACE_LANES) // no barrier in here: the trip count is the lane's
            hr_write_column(to, room, i, hr_liq_read(g, kind, g->bottom[kind] + i));
        if (in_lanes > 0 && hr_has(g->active, g->lane)) // the newest: they come back into lanes first
            hr_write_column(to, room, queued + hr_count_below(g->active, g->lane), lane->unit);
        if (hr_leads(g)) record->count[kind] = queued + in_lanes;
        g->top[kind] -= queued;
    }
    if (hr_leads(g)) {
        record->seed_next = g->seed_next;
        record->seed_end = g->seed_end;
    }
    hr_sync();
    g->active = 0;
    g->seed_next = g->seed_end = 0;
}

// Takes up what a parked group held. Only for a group that holds nothing.
HR_FUNCTION bool hr_restore(HrGroup* g, HrLane* lane) {
    __global HrRecord* record = hr_claim_record(g);
    if (!record) return false;
    g->seed_next = record->seed_next;
    g->seed_end = record->seed_end;
    const uint room = hr_room_of_record(g);
    uint fullest = 0; // what a LIQ cannot hold was in lanes, so it is the fullest that goes back there
    for (uint kind = 1; kind < HEADRACE_KINDS; ++kind)
        if (record->count[kind] > record->count[fullest]) fullest = kind;
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
        const uint units = record->count[kind];
        const uint taken = kind == fullest ? min(units, (uint)HEADRACE_LANES) : 0;
        const __global uint* from = hr_record_columns(g, record, kind);
        for (uint i = g->lane; i < units - taken; i += HEADRACE_LANES) // no barrier in here
            hr_liq_write(g, kind, g->top[kind] + i, hr_read_column(from, room, i));
        g->top[kind] += units - taken;
        if (g->lane < taken) lane->unit = hr_read_column(from, room, units - taken + g->lane);
        if (taken > 0) { // all lanes are idle, so they are filled from the first on
            g->running = kind;
            g->active = HR_ALL_LANES >> (HEADRACE_LANES - taken);
        }
    }
    hr_sync();
    return true;
}

// ---- the round

HR_FUNCTION void hr_refill(HrGroup* hr_g, HrLane* hr_lane, HEADRACE_PARAMETERS) {
    if (HR_HAS_QUEUES) {
        hr_take_from_liq(hr_g, hr_lane, hr_g->running);
        if (HR_HAS_KINDS && hr_g->active == 0) hr_take_from_liq(hr_g, hr_lane, hr_liq_fullest(hr_g));
        if (popcount(hr_g->active) >= HR_ENOUGH) return;
    }
    if (hr_g->active == 0 && hr_g->seed_next == hr_g->seed_end && hr_restore(hr_g, hr_lane)) return;
    hr_take_seeds(hr_g, hr_lane, HEADRACE_ARGUMENTS);
    if (popcount(hr_g->active) >= HR_ENOUGH) return;
    if (HR_HAS_QUEUES) {
        hr_take_bundle(hr_g, hr_lane);
        if (popcount(hr_g->active) >= HR_ENOUGH) return;
    }
    if (hr_g->seed_next == hr_g->seed_end && hr_claim_seeds(hr_g, 1))
        hr_take_seeds(hr_g, hr_lane, HEADRACE_ARGUMENTS);
}

// Passes time without touching what others work on.
HR_FUNCTION void hr_pause(HrGroup* g, uint polls) {
#ifdef HEADRACE_PTX
    __asm volatile("nanosleep.u32 %0;" : : "r"(polls < 32 ? 100u : 1000u));
#else
    volatile __local uint* mine = &g->shared->tally[HR_IDLE];
    for (uint i = 0; i < (polls < 64 ? polls : 64); ++i) (void)*mine;
#endif
}

// True when there may be something to take; false when there never will be, or all groups park.
HR_FUNCTION bool hr_wait_for_work(HrGroup* g) {
    enum { go_on, leave_finished, leave_parked };
    hr_flush(g);
    if (HR_HAS_QUEUES) hr_return_spare(g);
    hr_count(g, HR_IDLE);
    if (hr_leads(g)) {
        __global HrControl* c = g->control;
        volatile __global atomic_uint* hungry = (volatile __global atomic_uint*)&c->hungry;
        atomic_fetch_add_explicit(hungry, 1u, memory_order_relaxed, memory_scope_device);
        uint verdict = go_on;
        for (uint polls = 0;; ++polls) {
            if (hr_load32(&c->park) != HR_RUN) {
                verdict = leave_parked;
                break;
            }
            if (hr_load(&c->pending.value) == 0) { // see README.md, "Termination"
                verdict = leave_finished;
                break;
            }
            bool something =
                hr_load(&c->restored.value) < c->spill_count || hr_load(&c->seed_cursor.value) < c->seed_end;
            for (uint kind = 0; HR_HAS_QUEUES && kind < HEADRACE_KINDS; ++kind)
                something = something || !hr_seems_empty(hr_ring(g, kind));
            if (something) {
                atomic_fetch_sub_explicit(hungry, 1u, memory_order_relaxed, memory_scope_device);
                break;
            }
            hr_pause(g, polls);
        }
        hr_say(g, verdict, 0);
    }
    const uint heard = (uint)hr_hear(g);
    if (heard == leave_parked) g->parked = true;
    return heard == go_on;
}

// Sets the lanes' units aside when another kind could fill the group and has more.
HR_FUNCTION void hr_prefer_fuller_kind(HrGroup* g, HrLane* lane) {
    const uint kind = hr_liq_fullest(g);
    const uint running = popcount(g->active);
    if (kind == g->running || hr_liq_size(g, kind) < HEADRACE_LANES ||
        hr_liq_size(g, kind) <= hr_liq_size(g, g->running) + running || hr_liq_room(g, g->running) < running)
        return;
    hr_append(g, g->running, g->active, lane->unit);
    hr_sync();
    g->active = 0;
    hr_take_from_liq(g, lane, kind);
    hr_count(g, HR_SWITCHES);
}

// The active lanes whose spawns the LIQ can take, whatever they spawn.
HR_FUNCTION uint hr_lanes_with_room(HrGroup* g) {
    if (!HR_HAS_QUEUES) return g->active;
    const uint wanted = popcount(g->active);
    uint may_run = wanted;
    uint last = HR_PUSH_DONE;
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
        while (hr_liq_room(g, kind) < HR_STAGED * wanted && hr_liq_size(g, kind) > 0) {
            last = hr_push_oldest(g, kind, HEADRACE_LANES);
            if (last != HR_PUSH_DONE) break;
        }
        may_run = min(may_run, hr_liq_room(g, kind) / HR_PLACES);
    }
    if (may_run == wanted) return g->active;
    hr_count(g, HR_NARROW_ROUNDS);
    if (may_run == 0 && last == HR_PUSH_NO_BUNDLE) hr_park(g, HR_PARK_POOL);
    return hr_ballot(g, hr_has(g->active, g->lane) && hr_count_below(g->active, g->lane) < may_run);
}

// Continuations stay in their lanes; the rest of what was spawned goes to the LIQ.
HR_FUNCTION void hr_collect(HrGroup* g, const HrLane* lane, uint chosen) {
    const uint next = hr_ballot(g, lane->continues);
    uint spawned = popcount(next);
    bool too_many = false;
    // One place further than there are: who staged more than there is room for has spawned too many.
    for (uint place = 0; place <= HR_STAGED; ++place) {
        const uint have = hr_ballot(g, lane->staged > place);
        if (have == 0) break;
        if (place == HR_STAGED) {
            too_many = true;
            break;
        }
        spawned += popcount(have);
        const uint here = place < HR_PLACES ? place : 0; // the compiler sees the loop of those who stage nothing
        for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
            const uint mine =
                HR_HAS_KINDS ? hr_ballot(g, hr_has(have, g->lane) && lane->kinds[here] == kind) : have;
            hr_append(g, kind, mine, lane->units[here]);
        }
    }
    hr_sync(); // the LIQ's new units are seen by whichever lane takes them
    const uint completed = popcount(chosen);
    g->active = (g->active & ~chosen) | next;
    g->delta += (long)spawned - (long)completed;
    g->units += completed;
    g->spawned += spawned;
    if (too_many) hr_fail(g, HR_SPAWNED_TOO_MANY);
}

__kernel __attribute__((reqd_work_group_size(HEADRACE_LANES, 1, 1))) void
headrace_engine(__global HrControl* hr_control, __global HrSlot* hr_slots, __global uint* hr_bundles,
                __global uint* hr_spill, __local uint* hr_liq, HEADRACE_PARAMETERS) {
    __local HrShared hr_shared;
    HrGroup hr_group;
    HrGroup* hr_g = &hr_group;
    hr_begin_group(hr_g, hr_control, hr_slots, hr_bundles, hr_spill, &hr_shared, hr_liq);
    hr_g->active = hr_g->running = hr_g->last_popped = 0;
    hr_g->liq_units = hr_control->liq_units;
    for (uint hr_kind = 0; hr_kind < HEADRACE_KINDS; ++hr_kind) hr_g->top[hr_kind] = hr_g->bottom[hr_kind] = 0;
    hr_g->spare = hr_spill[hr_g->number];
    HrLane hr_lane;

    hr_look_for_park(hr_g); // who begins when all is over must not take what it would save at once
    while (!hr_g->parked) {
        if (popcount(hr_g->active) < HR_ENOUGH) hr_refill(hr_g, &hr_lane, HEADRACE_ARGUMENTS);
        if (hr_g->active == 0) {
            if (!hr_wait_for_work(hr_g)) break;
            continue;
        }
        if (HR_HAS_KINDS) hr_prefer_fuller_kind(hr_g, &hr_lane);
        const uint hr_chosen = hr_lanes_with_room(hr_g);
        if (hr_chosen != 0) {
            hr_lane.running = hr_g->running;
            hr_lane.continues = false;
            hr_lane.staged = 0;
            if (hr_has(hr_chosen, hr_g->lane)) {
                const HrUnit hr_unit = hr_lane.unit; // a continuation may take its place
                hr_run(&hr_lane, hr_g->running, hr_unit, HEADRACE_ARGUMENTS);
            }
            hr_collect(hr_g, &hr_lane, hr_chosen);
        }
        if (hr_end_round(hr_g)) hr_look_around(hr_g);
    }
    hr_flush(hr_g);
    if (hr_g->parked && hr_park_reason(hr_g) != HR_PARK_FAILED) {
        do hr_save(hr_g, &hr_lane);
        while (hr_restore(hr_g, &hr_lane)); // what nobody came to restore must not stay behind
    }
    if (hr_leads(hr_g)) hr_spill[hr_g->number] = hr_g->spare;
    hr_add_counters(hr_g);
}
