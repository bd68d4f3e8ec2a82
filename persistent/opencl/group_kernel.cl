// persistent/opencl/group_kernel.cl - kernels that process each unit with a whole lane group:
// group_kernel.hpp in OpenCL C.
//
// The queues hold one unit for a group and not one for each lane (HEADRACE_QUEUE_LANES is 1). All lanes then
// act for this one, with the same values.

struct HrKernelGroup {
    __local HrGroup* state;
    __local uint* scratch;
    uint row; // row of the next exchange
    __global HrControl* control;
#ifdef HEADRACE_PRODUCER
    HrLane* lane; // stages spawned units
#endif
};

#ifdef HEADRACE_PRODUCER
void hr_spawn(HrKernelGroup* group, uint kind, const void* unit) { hr_stage(group->lane, kind, unit); }
#endif

__local uint* hr_scratch(HrKernelGroup* group) { return group->scratch; }

// Shows the value of each lane to all lanes. They may read it until the exchange after the next one, which
// uses the same row. A lane writes to that row only when all lanes have come to the next exchange, after
// their reads.
HR_FUNCTION const __local ulong* hr_exchange(HrKernelGroup* group, ulong mine) {
    __local ulong* row = group->state->exchange[group->row];
    group->row ^= 1u;
    row[get_local_id(0)] = mine;
    hr_sync();
    return row;
}

uint hr_ballot(HrKernelGroup* group, bool vote) {
    uint mask = 0;
#ifdef HEADRACE_PTX // a group is a warp
    asm volatile("{ .reg .pred votes; setp.ne.u32 votes, %1, 0; vote.sync.ballot.b32 %0, votes, 0xffffffff; }"
                 : "=r"(mask)
                 : "r"((uint)vote));
#else
    const __local ulong* votes = hr_exchange(group, vote ? 1 : 0);
    for (uint lane = 0; lane < HEADRACE_LANES; ++lane) mask |= (uint)votes[lane] << lane;
#endif
    return mask;
}

ulong hr_shuffle_ulong(HrKernelGroup* group, ulong mine, uint from) { return hr_exchange(group, mine)[from]; }
uint hr_shuffle_uint(HrKernelGroup* group, uint mine, uint from) {
    return (uint)hr_shuffle_ulong(group, mine, from);
}
float hr_shuffle_float(HrKernelGroup* group, float mine, uint from) {
    return as_float(hr_shuffle_uint(group, as_uint(mine), from));
}

bool hr_others_are_idle(HrKernelGroup* group) {
    const uint asked = get_local_id(0) != 0 ? 0 : hr_load32(&group->control->idle_groups) | hr_load32(&group->control->pause);
    return hr_shuffle_uint(group, asked, 0) != 0;
}

ulong hr_sum_ulong(HrKernelGroup* group, ulong mine) {
    const __local ulong* all = hr_exchange(group, mine);
    ulong sum = 0;
    for (uint lane = 0; lane < HEADRACE_LANES; ++lane) sum += all[lane];
    return sum;
}
uint hr_sum_uint(HrKernelGroup* group, uint mine) { return (uint)hr_sum_ulong(group, mine); }
float hr_sum_float(HrKernelGroup* group, float mine) {
    const __local ulong* all = hr_exchange(group, as_uint(mine));
    float sum = 0;
    for (uint lane = 0; lane < HEADRACE_LANES; ++lane) sum += as_float((uint)all[lane]);
    return sum;
}
