// persistent/opencl/group.cl - what the groups of producers and consumers share: group.hpp in OpenCL C.
//
// A lane group is a work-group. It works in steps between barriers: the leader, lane 0, plans, and then the
// lanes act. All common state of the group is in local memory and belongs to the leader. Lanes read the plan
// and keep their own unit. So the kernel is one loop with its barriers at fixed places. PoCL needs this form.
// It copies all code that follows a barrier under a condition, once for each outcome. So each such barrier
// doubles the compile time.

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
    HR_EMPTY,
    HR_COUNTERS
};

#ifdef HEADRACE_BY_GROUP
    #define HR_LOOK_EVERY 1u // units are heavy: idle groups should not wait for eight of them
#else
    #define HR_LOOK_EVERY 8u
#endif

// The part of a lane group that does not depend on kinds. Only its leader reads and writes it, except for the
// words that lanes of a group kernel exchange.
typedef struct HrGroup {
    uint number;
    ulong seed_next, seed_end; // a claimed range of seeds
    bool seeds_gone;           // the cursor has passed the end
    bool records_gone;         // all records are restored
    bool paused;
    uint rounds, budget;
    long delta; // spawned less completed, not yet in `pending`
    ulong units, spawned;
    uint counters[HR_COUNTERS];
#ifdef HEADRACE_BY_GROUP
    ulong exchange[2][HEADRACE_LANES]; // group_kernel.cl
#endif
} HrGroup;

HR_FUNCTION void hr_begin_group(__local HrGroup* g, __global HrControl* c) {
    g->number = (uint)get_group_id(0);
    g->seed_next = g->seed_end = 0;
    g->seeds_gone = g->records_gone = false;
    // A group that begins during a pause must not take what it would save.
    g->paused = hr_load32(&c->pause) != HR_RUN;
    g->rounds = 0;
    g->budget = c->rounds;
    g->delta = 0;
    g->units = g->spawned = 0;
    for (uint i = 0; i < HR_COUNTERS; ++i) g->counters[i] = 0;
}

// Adds to `pending` what this group has spawned less what it has completed since the last call.
HR_FUNCTION void hr_flush(__local HrGroup* g, __global HrControl* c) {
    if (g->delta != 0) hr_fetch_add(&c->pending.value, (ulong)g->delta);
    g->delta = 0;
}

HR_FUNCTION bool hr_has_seeds(const __local HrGroup* g) { return g->seed_next != g->seed_end; }

// Claims seeds: at most `seed_chunk`, and fewer towards the end, so that all groups end together.
HR_FUNCTION bool hr_claim_seeds(__local HrGroup* g, __global HrControl* c, ulong at_least) {
    if (g->seeds_gone) return false;
    const ulong end = c->seed_end;
    const ulong cursor = hr_load(&c->seed_cursor.value);
    ulong first = end, wanted = 0;
    if (cursor < end) { // the load comes first, or many callers would move the cursor far past the end
        wanted = (end - cursor) / (2ul * c->groups);
        if (wanted < at_least) wanted = at_least;
        if (wanted > c->seed_chunk) wanted = c->seed_chunk;
        first = hr_fetch_add(&c->seed_cursor.value, wanted);
    }
    g->seeds_gone = first >= end;
    if (g->seeds_gone) return false;
    g->seed_next = first;
    g->seed_end = wanted < end - first ? first + wanted : end;
    ++g->counters[HR_SEED_CLAIMS];
    return true;
}

// Sets a word that only the first caller may set.
HR_FUNCTION void hr_set_once(__global uint* word, uint value) {
    uint expected = 0;
    atomic_compare_exchange_strong_explicit((volatile __global atomic_uint*)word, &expected, value,
                                            memory_order_relaxed, memory_order_relaxed, memory_scope_device);
}

// Asks all groups to pause. The first reason stays.
HR_FUNCTION void hr_pause(__local HrGroup* g, __global HrControl* c, uint reason) {
    hr_set_once(&c->pause, reason);
    g->paused = true;
}
HR_FUNCTION void hr_fail(__local HrGroup* g, __global HrControl* c, uint status) {
    hr_set_once(&c->status, status);
    hr_pause(g, c, HR_PAUSE_FAILED);
}

// Counts a round. True every few rounds, when it is time to look around.
HR_FUNCTION bool hr_end_round(__local HrGroup* g, __global HrControl* c) {
    if (++g->rounds == g->budget) hr_pause(g, c, HR_PAUSE_BUDGET);
    return g->rounds % HR_LOOK_EVERY == 0;
}

// True if the group must save what it holds.
HR_FUNCTION bool hr_saves(const __local HrGroup* g, __global HrControl* c) {
    return g->paused && hr_load32(&c->pause) != HR_PAUSE_FAILED;
}

HR_FUNCTION __global HrRecord* hr_record(__global HrControl* c, __global uint* spill, uint part,
                                         ulong number) {
    const ulong words = hr_record_words(c->kinds, c->unit_words, HEADRACE_QUEUE_LANES, c->liq_units, 0);
    return (__global HrRecord*)(spill + hr_spill_records_at(c->groups) +
                                ((ulong)part * c->groups + number) * words);
}

// The number of the next record to restore; spill_count if none is left.
HR_FUNCTION ulong hr_claim_record(__local HrGroup* g, __global HrControl* c) {
    const ulong count = c->spill_count;
    if (g->records_gone) return count;
    ulong number = count;
    if (hr_load(&c->restored.value) < count) number = hr_fetch_add(&c->restored.value, 1);
    g->records_gone = number >= count;
    if (g->records_gone) return count;
    ++g->counters[HR_RESTORED];
    return number;
}

// A record to save into.
HR_FUNCTION __global HrRecord* hr_new_record(__local HrGroup* g, __global HrControl* c,
                                             __global uint* spill) {
    ++g->counters[HR_SAVED];
    return hr_record(c, spill, c->spill_half ^ 1u, hr_fetch_add(&c->saved.value, 1));
}

HR_FUNCTION void hr_add_counters(const __local HrGroup* g, __global HrControl* c) {
    __global hr_u64* sums = &c->counters.units;
    hr_fetch_add(sums, g->units);
    hr_fetch_add(sums + 1, g->spawned);
    hr_fetch_add(sums + 2, g->rounds);
    for (uint i = 0; i < HR_COUNTERS; ++i)
        if (g->counters[i] != 0) hr_fetch_add(sums + 3 + i, g->counters[i]);
}

// Local memory is one argument: the state of a group in HEADRACE_LOCAL_STATE bytes, its kernel's scratch,
// then its LIQ. It does not consist of variables of the kernel: PoCL 3.1 frees constant addresses of their
// members twice and crashes.
#define HR_LOCAL_FITS(type)                                                                                  \
    typedef char                                                                                             \
        hr_the_host_knows_the_local_size[sizeof(HrGroup) + sizeof(type) <= HEADRACE_LOCAL_STATE ? 1 : -1]

// The queue lane of a work-item. In a group kernel, all work-items are the same queue lane. Even then it is
// not a constant: with a constant, PoCL takes loops of the lanes for loops of the group and gives them
// barriers of its own. It then compiled for minutes.
HR_FUNCTION uint hr_queue_lane(void) {
    return (uint)get_local_id(0) / (HEADRACE_LANES / HEADRACE_QUEUE_LANES);
}

// The last statement under the condition for the call of a group kernel. If lanes part after the last barrier
// under a condition, PoCL 3.1 sends all of them the way of the first.
HR_FUNCTION void hr_end_together(void) {
    if (HEADRACE_QUEUE_LANES == 1) hr_sync();
}

HR_FUNCTION __local uint* hr_scratch_of(__local ulong2* local_memory) {
    return (__local uint*)local_memory + HEADRACE_LOCAL_STATE / 4;
}
