// persistent/opencl/leader.cl - the leader of a lane group that processes units and the units that they
// spawn. It follows docs/engine.md, like producer_group.hpp, but in steps. A step ends where all lanes have
// to act. plan.cl has its state, sources.cl and sharing.cl what it plans.

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
