// persistent/opencl/group.cl - what the groups of producers and consumers share: group.hpp in OpenCL C, and the
// lane group's collectives, by local memory and barriers.
//
// Every barrier stands in control flow that is uniform over the group. Whatever decides it is a member of HrGroup
// that all lanes hold alike, or came through hr_hear or hr_ballot: a lane-dependent trip count would compile
// silently and break on PoCL.

// The order of HrCounters from `pushed` on.
enum {
    HR_PUSHED,
    HR_POPPED,
    HR_SHARED,
    HR_NO_BUNDLE_LEFT,
    HR_SLOT_BUSY,
    HR_NARROW_ROUNDS,
    HR_SWITCHES,
    HR_SAVED,
    HR_RESTORED,
    HR_IDLE,
    HR_SEED_CLAIMS,
    HR_TALLIES
};

#define HR_LOOK_EVERY 8u

// In local memory.
typedef struct HrShared {
    ulong said[2][2];
    uint votes[3];
    uint tally[HR_TALLIES]; // written by the leader alone
} HrShared;

// One lane's view of its group. All members but `lane` are the same in every lane.
typedef struct HrGroup {
    __global HrControl* control;
    __global HrSlot* slots;
    __global uint* bundles;
    __global uint* spill;
    __local HrShared* shared;
    __local uint* liq;
    uint lane;
    uint number;
    uint vote_turn, say_turn;

    ulong seed_next, seed_end; // a claimed range of seeds
    bool seeds_gone, records_gone, parked;
    uint rounds, budget;
    long delta; // spawned less completed, not yet in `pending`
    ulong units, spawned;

#ifdef HEADRACE_PRODUCER
    uint active;  // lanes that have a unit, all of kind `running`
    uint running;
    uint liq_units;
    uint top[HEADRACE_KINDS], bottom[HEADRACE_KINDS];
    uint spare;       // an empty bundle in hand, or HR_NO_BUNDLE
    uint last_popped; // the kind of the last bundle from the GIQ
#endif
} HrGroup;

// All lanes are here, and what each wrote before is seen by all after.
HR_FUNCTION void hr_sync(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }

// The mask of lanes that vote. Three words take turns: one to vote in, one that slow lanes may still be reading,
// and one to be cleared. So one barrier is enough.
HR_FUNCTION uint hr_ballot(HrGroup* g, bool vote) {
    const uint turn = g->vote_turn;
    const uint next = turn == 2 ? 0 : turn + 1;
    if (g->lane == 0) g->shared->votes[next] = 0;
    if (vote) atomic_or(&g->shared->votes[turn], 1u << g->lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    g->vote_turn = next;
    return g->shared->votes[turn];
}

// One lane says two words, then all hear them. Two places take turns, as above.
HR_FUNCTION void hr_say(HrGroup* g, ulong first, ulong second) {
    g->shared->said[g->say_turn][0] = first;
    g->shared->said[g->say_turn][1] = second;
}
HR_FUNCTION ulong hr_hear_both(HrGroup* g, ulong* second) {
    const uint turn = g->say_turn;
    barrier(CLK_LOCAL_MEM_FENCE);
    g->say_turn = turn ^ 1u;
    *second = g->shared->said[turn][1];
    return g->shared->said[turn][0];
}
HR_FUNCTION ulong hr_hear(HrGroup* g) {
    ulong ignored;
    return hr_hear_both(g, &ignored);
}

HR_FUNCTION bool hr_leads(const HrGroup* g) { return g->lane == 0; }
HR_FUNCTION void hr_count(HrGroup* g, uint tally) {
    if (hr_leads(g)) ++g->shared->tally[tally];
}

HR_FUNCTION void hr_begin_group(HrGroup* g, __global HrControl* control, __global HrSlot* slots,
                                __global uint* bundles, __global uint* spill, __local HrShared* shared,
                                __local uint* liq) {
    g->control = control;
    g->slots = slots;
    g->bundles = bundles;
    g->spill = spill;
    g->shared = shared;
    g->liq = liq;
    g->lane = (uint)get_local_id(0);
    g->number = (uint)get_group_id(0);
    g->vote_turn = g->say_turn = 0;
    g->seed_next = g->seed_end = 0;
    g->seeds_gone = g->records_gone = g->parked = false;
    g->rounds = 0;
    g->budget = control->rounds;
    g->delta = 0;
    g->units = g->spawned = 0;
    if (hr_leads(g)) {
        for (uint i = 0; i < 3; ++i) shared->votes[i] = 0;
        for (uint i = 0; i < HR_TALLIES; ++i) shared->tally[i] = 0;
    }
    hr_sync();
}

// Tells `pending` what this group has spawned and completed since it last did.
HR_FUNCTION void hr_flush(HrGroup* g) {
    if (g->delta != 0 && hr_leads(g)) hr_fetch_add(&g->control->pending.value, (ulong)g->delta);
    g->delta = 0;
}

// Claims seeds: a few hundreds, fewer towards the end so that all groups end together.
HR_FUNCTION bool hr_claim_seeds(HrGroup* g, ulong at_least) {
    if (g->seeds_gone) return false;
    if (hr_leads(g)) {
        const ulong end = g->control->seed_end;
        const ulong cursor = hr_load(&g->control->seed_cursor.value);
        ulong first = end, last = end;
        if (cursor < end) { // the look comes first, or many askers would run the cursor far past the end
            ulong wanted = (end - cursor) / (2ul * g->control->groups);
            if (wanted < at_least) wanted = at_least;
            if (wanted > g->control->seed_chunk) wanted = g->control->seed_chunk;
            first = hr_fetch_add(&g->control->seed_cursor.value, wanted);
            if (first >= end)
                first = end;
            else
                last = wanted < end - first ? first + wanted : end;
        }
        hr_say(g, first, last);
    }
    g->seed_next = hr_hear_both(g, &g->seed_end);
    g->seeds_gone = g->seed_next == g->seed_end;
    if (g->seeds_gone) return false;
    hr_count(g, HR_SEED_CLAIMS);
    return true;
}

// Sets a word that only the first who asks may set.
HR_FUNCTION void hr_set_once(__global uint* word, uint value) {
    uint expected = 0;
    atomic_compare_exchange_strong_explicit((volatile __global atomic_uint*)word, &expected, value,
                                            memory_order_relaxed, memory_order_relaxed, memory_scope_device);
}

// Asks all groups to stop. The first reason stands.
HR_FUNCTION void hr_park(HrGroup* g, uint reason) {
    if (hr_leads(g)) hr_set_once(&g->control->park, reason);
    g->parked = true;
}
HR_FUNCTION void hr_fail(HrGroup* g, uint status) {
    if (hr_leads(g)) hr_set_once(&g->control->status, status);
    hr_park(g, HR_PARK_FAILED);
}

// Counts a round; true every few rounds, when it is time to look around.
HR_FUNCTION bool hr_end_round(HrGroup* g) {
    if (++g->rounds == g->budget) hr_park(g, HR_PARK_BUDGET);
    return g->rounds % HR_LOOK_EVERY == 0;
}

HR_FUNCTION uint hr_park_reason(HrGroup* g) {
    if (hr_leads(g)) hr_say(g, hr_load32(&g->control->park), 0);
    return (uint)hr_hear(g);
}

HR_FUNCTION void hr_look_for_park(HrGroup* g) {
    if (hr_park_reason(g) != HR_RUN) g->parked = true;
}

HR_FUNCTION __global HrRecord* hr_record(const HrGroup* g, uint half, ulong number) {
    const __global HrControl* c = g->control;
    const ulong words = hr_record_words(c->kinds, c->unit_words, HEADRACE_LANES, c->liq_units);
    return (__global HrRecord*)(g->spill + hr_spill_records_at(c->groups) +
                                ((ulong)half * c->groups + number) * words);
}

// The next record to restore; null if there is none left.
HR_FUNCTION __global HrRecord* hr_claim_record(HrGroup* g) {
    const uint count = g->control->spill_count;
    if (g->records_gone || count == 0) return 0;
    if (hr_leads(g)) {
        ulong claimed = count;
        if (hr_load(&g->control->restored.value) < count) claimed = hr_fetch_add(&g->control->restored.value, 1);
        hr_say(g, claimed, 0);
    }
    const ulong number = hr_hear(g);
    g->records_gone = number >= count;
    if (g->records_gone) return 0;
    hr_count(g, HR_RESTORED);
    return hr_record(g, g->control->spill_half, number);
}

// A record to save into.
HR_FUNCTION __global HrRecord* hr_new_record(HrGroup* g) {
    hr_count(g, HR_SAVED);
    if (hr_leads(g)) hr_say(g, hr_fetch_add(&g->control->saved.value, 1), 0);
    return hr_record(g, g->control->spill_half ^ 1u, hr_hear(g));
}

HR_FUNCTION void hr_add_counters(HrGroup* g) {
    if (!hr_leads(g)) return;
    __global ulong* sums = (__global ulong*)&g->control->counters;
    hr_fetch_add(sums, g->units);
    hr_fetch_add(sums + 1, g->spawned);
    hr_fetch_add(sums + 2, g->rounds);
    for (uint i = 0; i < HR_TALLIES; ++i)
        if (g->shared->tally[i] != 0) hr_fetch_add(sums + 3 + i, g->shared->tally[i]);
}
