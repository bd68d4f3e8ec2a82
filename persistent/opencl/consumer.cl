// persistent/opencl/consumer.cl - a lane group that works off indices and spawns nothing: consumer_group.hpp.

struct HrLane {
    uint lane;
};

HR_FUNCTION bool hr_restore(HrGroup* g) {
    const __global HrRecord* record = hr_claim_record(g);
    if (!record) return false;
    g->seed_next = record->seed_next;
    g->seed_end = record->seed_end;
    return true;
}

HR_FUNCTION void hr_save(HrGroup* g) {
    if (g->seed_next == g->seed_end) return;
    __global HrRecord* record = hr_new_record(g);
    if (hr_leads(g)) {
        record->seed_next = g->seed_next;
        record->seed_end = g->seed_end;
    }
    g->seed_next = g->seed_end = 0;
}

__kernel __attribute__((reqd_work_group_size(HEADRACE_LANES, 1, 1))) void
headrace_engine(__global HrControl* hr_control, __global HrSlot* hr_slots, __global uint* hr_bundles,
                __global uint* hr_spill, __local uint* hr_liq, HEADRACE_PARAMETERS) {
    // Names begin with hr_ wherever the user's parameters are in scope.
    __local HrShared hr_shared;
    HrGroup hr_group;
    HrGroup* hr_g = &hr_group;
    hr_begin_group(hr_g, hr_control, hr_slots, hr_bundles, hr_spill, &hr_shared, hr_liq);
    HrLane hr_lane = {hr_g->lane};

    hr_look_for_park(hr_g); // who begins when all is over has nothing to do
    while (!hr_g->parked) {
        if (hr_g->seed_next == hr_g->seed_end && !hr_restore(hr_g) && !hr_claim_seeds(hr_g, HEADRACE_LANES)) break;
        const ulong hr_left = hr_g->seed_end - hr_g->seed_next;
        const uint hr_chosen = hr_left < HEADRACE_LANES ? (uint)hr_left : HEADRACE_LANES;
        if (hr_g->lane < hr_chosen) hr_consume(&hr_lane, hr_g->seed_next + hr_g->lane, HEADRACE_ARGUMENTS);
        hr_sync();
        hr_g->seed_next += hr_chosen;
        hr_g->delta -= hr_chosen;
        hr_g->units += hr_chosen;
        if (hr_end_round(hr_g)) hr_look_for_park(hr_g);
    }
    hr_flush(hr_g);
    if (hr_g->parked && hr_park_reason(hr_g) != HR_PARK_FAILED) {
        do hr_save(hr_g);
        while (hr_restore(hr_g)); // what nobody came to restore must not stay behind
    }
    hr_add_counters(hr_g);
}
