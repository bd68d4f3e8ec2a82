// persistent/opencl/consumer.cl - a lane group that processes indices and spawns nothing: consumer_group.hpp
// in OpenCL C. Names begin with hr_ where the user's parameters are in scope.

#ifdef HEADRACE_PHASES
    #error a consumer has no resumable kinds: it has no kinds
#endif
#ifndef HEADRACE_BY_GROUP
struct HrLane {
    uint lane;
};
#endif

typedef struct HrPlan {
    ulong first;
    uint count; // 0: the group leaves
} HrPlan;
HR_LOCAL_FITS(HrPlan);

HR_FUNCTION bool hr_restore(__local HrGroup* g, __global HrControl* c, __global uint* spill) {
    const ulong number = hr_claim_record(g, c);
    if (number == c->spill_count) return false;
    const __global HrRecord* record = hr_record(c, spill, c->spill_half, number);
    g->seed_next = record->seed_next;
    g->seed_end = record->seed_end;
    return true;
}

HR_FUNCTION void hr_leave(__local HrGroup* g, __global HrControl* c, __global uint* spill) {
    hr_flush(g, c);
    if (hr_saves(g, c) && hr_has_seeds(g)) {
        __global HrRecord* record = hr_new_record(g, c, spill);
        record->seed_next = g->seed_next;
        record->seed_end = g->seed_end;
    }
    hr_add_counters(g, c);
}

// Plans the next round: a lane group's worth of indices.
HR_FUNCTION void hr_lead(__local HrGroup* g, __local HrPlan* plan, __global HrControl* c,
                         __global uint* spill) {
    if (plan->count > 0) { // the round that has just ended
        g->delta -= plan->count;
        g->units += plan->count;
        if (hr_end_round(g, c) && hr_load32(&c->pause) != HR_RUN) g->paused = true;
    }
    plan->count = 0;
    if (g->paused ||
        !(hr_has_seeds(g) || hr_restore(g, c, spill) || hr_claim_seeds(g, c, HEADRACE_QUEUE_LANES))) {
        hr_leave(g, c, spill);
        return;
    }
    const ulong left = g->seed_end - g->seed_next;
    plan->first = g->seed_next;
    plan->count = left < HEADRACE_QUEUE_LANES ? (uint)left : HEADRACE_QUEUE_LANES;
    g->seed_next += plan->count;
}

__kernel __attribute__((reqd_work_group_size(HEADRACE_LANES, 1, 1))) void
headrace_engine(__global HrControl* hr_control, __global HrSlot* hr_slots, __global uint* hr_bundles,
                __global uint* hr_spill, __local ulong2* hr_local, HEADRACE_PARAMETERS) {
    __local HrGroup* hr_group = (__local HrGroup*)hr_local;
    __local HrPlan* hr_plan = (__local HrPlan*)(hr_group + 1);
    const bool hr_leads = get_local_id(0) == 0;
    const uint hr_me = hr_queue_lane();
#ifdef HEADRACE_BY_GROUP
    HrKernelGroup hr_handle = {hr_group, hr_scratch_of(hr_local), 0, hr_control};
#else
    HrLane hr_handle = {hr_me};
#endif
    if (hr_leads) {
        hr_begin_group(hr_group, hr_control);
        hr_plan->count = 0;
    }
    uint hr_count;
    do {
        hr_sync(); // all lanes have done their part of the round
        if (hr_leads) hr_lead(hr_group, hr_plan, hr_control, hr_spill);
        hr_sync(); // the plan is complete
        hr_count = hr_plan->count;
        if (hr_me < hr_count) {
            hr_consume(&hr_handle, hr_plan->first + hr_me, HEADRACE_ARGUMENTS);
            hr_end_together();
        }
    } while (hr_count > 0);
}
