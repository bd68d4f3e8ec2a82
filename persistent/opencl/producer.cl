// persistent/opencl/producer.cl - the lanes of a group that processes units and the units that they spawn,
// and the kernel. Names begin with hr_ where the user's parameters are in scope.

// The rank of a lane among the lanes that are filled; HEADRACE_QUEUE_LANES if it is not one of them.
HR_FUNCTION uint hr_rank(uint lanes, uint lane) {
    return hr_has(lanes, lane) ? hr_count_below(lanes, lane) : HEADRACE_QUEUE_LANES;
}

// Fills a lane. True if the lane's index has no unit.
HR_FUNCTION bool hr_fill(__local HrProducer* hr_p, uint hr_me, HrLane* hr_lane, __local uint* hr_liq,
                         uint hr_liq_units, __global uint* hr_bundles, HEADRACE_PARAMETERS) {
    const __local HrPlan* hr_plan = &hr_p->plan;
    bool hr_made = true;
#if HEADRACE_RANGES
    const uint hr_after_ranges = hr_plan->from_liq + hr_plan->from_ranges;
    const uint hr_bundle_kind = hr_plan->bundle_kind;
#else
    const uint hr_after_ranges = hr_plan->from_liq;
    const uint hr_bundle_kind = hr_plan->kind;
#endif
    const uint hr_after_seeds = hr_after_ranges + hr_plan->from_seeds;
    const uint hr_my_rank = hr_rank(hr_plan->lanes, hr_me);
    const __global uint* hr_from = hr_bundle(hr_bundles, hr_plan->bundle);
    if (hr_my_rank < hr_plan->from_liq) {
        hr_lane->unit = hr_liq_read(hr_liq, hr_liq_units, hr_plan->kind, hr_plan->newest - hr_my_rank);
#if HEADRACE_RANGES
    } else if (hr_my_rank < hr_after_ranges) {
        ulong hr_number = hr_my_rank - hr_plan->from_liq;
        uint hr_place = hr_plan->newest_range;
        HrUnit hr_range = hr_range_at(hr_p, hr_plan->range_kind, hr_place);
        while (hr_number >= hr_end_of(hr_range) - hr_begin_of(hr_range)) {
            hr_number -= hr_end_of(hr_range) - hr_begin_of(hr_range);
            hr_range = hr_range_at(hr_p, hr_plan->range_kind, --hr_place);
        }
        hr_made = HR_MADE(hr_expand(hr_begin_of(hr_range) + hr_number, hr_plan->range_kind, &hr_range,
                                    &hr_lane->unit, HEADRACE_ARGUMENTS));
#endif
    } else if (hr_my_rank < hr_after_seeds) {
        uint hr_kind = 0;
        hr_made = HR_MADE(hr_seed(hr_plan->first_seed + (hr_my_rank - hr_after_ranges), &hr_kind,
                                  &hr_lane->unit, HEADRACE_ARGUMENTS));
        if (hr_kind != hr_plan->kind) hr_p->failure = HR_SEEDS_OF_TWO_KINDS;
    } else if (hr_my_rank < hr_after_seeds + hr_plan->from_bundle) {
        hr_lane->unit = hr_read_column(hr_from, HEADRACE_QUEUE_LANES, hr_my_rank - hr_after_seeds);
    }
    const uint hr_rest = hr_plan->bundle_units - hr_plan->from_bundle;
    if (hr_me < hr_rest)
        hr_liq_write(hr_liq, hr_liq_units, hr_bundle_kind, hr_plan->place + hr_me,
                     hr_read_column(hr_from, HEADRACE_QUEUE_LANES, hr_plan->from_bundle + hr_me));
#if HEADRACE_RANGES
    if (hr_me < hr_plan->seeds_to_liq) {
        uint hr_kind = 0;
        HrUnit hr_range;
        const bool hr_has_one =
            HR_MADE(hr_seed(hr_plan->first_seed + hr_me, &hr_kind, &hr_range, HEADRACE_ARGUMENTS));
        if (hr_kind != hr_p->seed_kind) hr_p->failure = HR_SEEDS_OF_TWO_KINDS;
        // All lanes of a group kernel have the same seed, so one lane acts for them.
        const bool hr_speaks = HEADRACE_QUEUE_LANES > 1 ? true : get_local_id(0) == 0;
        if (hr_has_one && hr_speaks && hr_begin_of(hr_range) < hr_end_of(hr_range))
            hr_liq_write(hr_liq, hr_liq_units, hr_kind,
                         hr_p->top[hr_kind] + atomic_inc(&hr_p->added[hr_kind]), hr_range);
    }
#endif
    if (HR_HAS_GAPS && !hr_made) atomic_or(&hr_p->skipped, 1u << hr_me);
    return HR_HAS_GAPS && !hr_made;
}

HR_FUNCTION void hr_restore(const __local HrProducer* p, uint me, HrLane* lane, __local uint* liq) {
    const uint room = hr_record_room(HEADRACE_QUEUE_LANES, p->liq_units, 0);
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
        const __global uint* from = hr_record_columns(p->plan.record, p->liq_units, kind);
        for (uint i = me; i < p->top[kind]; i += HEADRACE_QUEUE_LANES)
            hr_liq_write(liq, p->liq_units, kind, i, hr_read_column(from, room, i));
        if (kind == p->plan.kind && hr_has(p->plan.lanes, me))
            lane->unit = hr_read_column(from, room, p->top[kind] + me);
    }
}

HR_FUNCTION void hr_save(const __local HrProducer* p, uint me, const HrLane* lane, __local uint* liq) {
    const uint room = hr_record_room(HEADRACE_QUEUE_LANES, p->liq_units, 0);
    for (uint kind = 0; kind < HEADRACE_KINDS; ++kind) {
        const uint queued = p->top[kind] - p->bottom[kind];
        __global uint* to = hr_record_columns(p->plan.record, p->liq_units, kind);
        for (uint i = me; i < queued; i += HEADRACE_QUEUE_LANES)
            hr_write_column(to, room, i, hr_liq_read(liq, p->liq_units, kind, p->bottom[kind] + i));
        // The newest units: they return to lanes first.
        if (kind == p->plan.kind && hr_has(p->plan.lanes, me))
            hr_write_column(to, room, queued + hr_count_below(p->plan.lanes, me), lane->unit);
    }
}

// Collects what the kernel spawned: the continuation stays in its lane, the other units go to the top of the
// LIQ.
HR_FUNCTION void hr_collect(__local HrProducer* p, uint me, const HrLane* lane, __local uint* liq) {
    if (lane->continues) atomic_or(&p->continuing, 1u << me);
    if (lane->staged > HR_STAGED) {
        p->failure = HR_SPAWNED_TOO_MANY; // any other lane that fails here writes the same
        return;
    }
    for (uint place = 0; place < lane->staged; ++place) {
        const uint kind = lane->kinds[place];
        hr_liq_write(liq, p->liq_units, kind, p->top[kind] + atomic_inc(&p->added[kind]), lane->units[place]);
    }
}

#ifdef HEADRACE_PHASES
// Walks through the lane's unit. Lanes that wait for the same phase do it together, as far as the device lets
// lanes meet again at the end of a condition. The group does not vote, and the lanes are refilled when all
// are through: the C++ engine does both (resumable_group.hpp).
HR_FUNCTION void hr_walk(__local HrProducer* hr_p, HrLane* hr_lane, HrUnit hr_unit, HEADRACE_PARAMETERS) {
    HrState hr_state;
    HrScratch hr_scratch;
    hr_begin(&hr_state, hr_unit, HEADRACE_ARGUMENTS);
    uint hr_phase = 0;
    while (hr_phase < HEADRACE_PHASES) {
    #if HEADRACE_PHASES > 1
        #pragma unroll
    #endif
        for (uint hr_number = 0; hr_number < HEADRACE_PHASES; ++hr_number)
            if (hr_phase == hr_number)
                hr_phase = hr_step(hr_number, &hr_state, &hr_scratch, HEADRACE_ARGUMENTS);
    }
    if (hr_phase == HR_DONE)
        hr_finish(hr_lane, &hr_state, hr_unit, HEADRACE_ARGUMENTS);
    else
        hr_p->failure = HR_NO_SUCH_PHASE; // any other lane that fails here writes the same
}
#endif

__kernel __attribute__((reqd_work_group_size(HEADRACE_LANES, 1, 1))) void
headrace_engine(__global HrControl* hr_control, __global HrSlot* hr_slots, __global uint* hr_bundles,
                __global uint* hr_spill, __local ulong2* hr_local, HEADRACE_PARAMETERS) {
    __local HrGroup* hr_group = (__local HrGroup*)hr_local;
    __local HrProducer* hr_p = (__local HrProducer*)(hr_group + 1);
    __local uint* hr_liq = hr_scratch_of(hr_local) + HEADRACE_SCRATCH_WORDS;
    const bool hr_leads = get_local_id(0) == 0;
    const uint hr_me = hr_queue_lane();
    HrLane hr_lane;
#ifdef HEADRACE_BY_GROUP
    HrKernelGroup hr_kernel_group = {hr_group, hr_scratch_of(hr_local), 0, hr_control, &hr_lane};
    HrKernelGroup* hr_handle = &hr_kernel_group;
#else
    HrLane* hr_handle = &hr_lane;
#endif
    if (hr_leads) {
        hr_begin_group(hr_group, hr_control);
        hr_p->plan.act = HR_FILL;
        hr_p->plan.chosen = hr_p->plan.bundle = 0;
        hr_p->continuing = hr_p->skipped = 0;
        hr_p->failure = HR_OK;
        hr_p->stage = HR_AT_REFILL;
        hr_p->active = hr_p->last_popped = 0;
        hr_p->running = hr_first_lane_kind();
        hr_p->liq = hr_liq;
        hr_p->liq_units = hr_control->liq_units;
        hr_p->has_seeded = false;
#if HEADRACE_RANGES
        hr_p->plan.seeds_to_liq = hr_p->plan.range_part = hr_p->plan.bundle_kind = 0;
#endif
        hr_p->shares = false;
        hr_p->spare = hr_spill[hr_group->number];
        for (uint hr_kind = 0; hr_kind < HEADRACE_KINDS; ++hr_kind)
            hr_p->top[hr_kind] = hr_p->bottom[hr_kind] = hr_p->added[hr_kind] = 0;
        // The last seed gives the kind of all seeds. A launch that begins with transferred units has no seeds, and
        // no index to ask for.
        uint hr_kind_of_seeds = 0;
        if (HR_HAS_KINDS && hr_control->seed_end != 0 && hr_load(&hr_control->pending.value) != 0)
            hr_seed(hr_control->seed_end - 1, &hr_kind_of_seeds, &hr_lane.unit, HEADRACE_ARGUMENTS);
        hr_p->seed_kind = hr_kind_of_seeds < HEADRACE_KINDS ? hr_kind_of_seeds : 0;
    }
    uint hr_act;
    bool hr_skips = false; // this lane was to be filled, but its index has no unit
    do {
        hr_sync(); // all lanes have done their part of the last step
        if (hr_leads) hr_lead(hr_group, hr_p, hr_control, hr_slots, hr_spill);
        hr_sync(); // the plan is complete
        const __local HrPlan* hr_plan = &hr_p->plan;
        hr_act = hr_plan->act;
        hr_skips = false;
        if (hr_act == HR_FILL) {
            hr_skips =
                hr_fill(hr_p, hr_me, &hr_lane, hr_liq, hr_p->liq_units, hr_bundles, HEADRACE_ARGUMENTS);
        } else if (hr_act == HR_SHARE) {
            if (hr_me < hr_plan->bundle_units) {
                HrUnit hr_shared =
                    hr_liq_read(hr_liq, hr_p->liq_units, hr_plan->kind, hr_plan->place + hr_me);
#if HEADRACE_RANGES
                if (hr_plan->cut != 0) hr_shared = hr_with_begin(hr_shared, hr_plan->cut);
#endif
                hr_write_column(hr_bundle(hr_bundles, hr_plan->bundle), HEADRACE_QUEUE_LANES, hr_me,
                                hr_shared);
            }
        } else if (hr_act == HR_SHELVE) {
            if (hr_has(hr_plan->lanes, hr_me))
                hr_liq_write(hr_liq, hr_p->liq_units, hr_plan->kind,
                             hr_plan->place + hr_count_below(hr_plan->lanes, hr_me), hr_lane.unit);
        } else if (hr_act == HR_RESTORE) {
            hr_restore(hr_p, hr_me, &hr_lane, hr_liq);
        } else if (hr_act == HR_SAVE) {
            hr_save(hr_p, hr_me, &hr_lane, hr_liq);
        }
        hr_sync(); // the LIQ is read and may be written
        if (hr_has(hr_plan->chosen, hr_me) && !hr_skips) {
            const HrUnit hr_unit = hr_lane.unit; // a continuation may replace it
            hr_lane.running = hr_p->running;
            hr_lane.continues = false;
            hr_lane.staged = 0;
#ifdef HEADRACE_PHASES
            if (hr_p->running == HEADRACE_RESUMABLE) hr_walk(hr_p, &hr_lane, hr_unit, HEADRACE_ARGUMENTS);
#endif
#if !defined(HEADRACE_PHASES)
            hr_run(hr_handle, hr_p->running, hr_unit, HEADRACE_ARGUMENTS);
#elif HR_LANE_KINDS > 1
            else
                hr_run(hr_handle, hr_p->running, hr_unit, HEADRACE_ARGUMENTS);
#endif
            // All lanes of a group kernel have spawned the same units, so one lane acts for them.
            if (hr_leads || HEADRACE_QUEUE_LANES > 1) hr_collect(hr_p, hr_me, &hr_lane, hr_liq);
            hr_end_together();
        }
    } while (hr_act != HR_SAVE && hr_act != HR_LEAVE);
}
