// persistent/opencl/prelude.cl - what a kernel in OpenCL C may call. control.h comes before it; atomics.cl,
// exact_sum.cl, the user's source and the loop come after it.
//
// The host defines HEADRACE_LANES (work-items in a lane group, which is one work-group), HEADRACE_QUEUE_LANES
// (units that they process at once), HEADRACE_LOCAL_STATE (bytes), HEADRACE_SCRATCH_WORDS, HEADRACE_CONSUMER
// or HEADRACE_PRODUCER; for producers HEADRACE_KINDS, HEADRACE_UNIT_WORDS, HEADRACE_MAX_SPAWNS,
// HEADRACE_RANGES (a bit for each kind that is one of ranges) and HEADRACE_RANGE_OF (four bits for each kind:
// the one that it expands to); for group kernels HEADRACE_BY_GROUP; and HEADRACE_PTX, the compute capability
// (80 for 8.0), where the compiler takes NVIDIA's assembler.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

// What the user's function is called with. Two names, so that no compiler takes one for the other.
#ifdef HEADRACE_BY_GROUP
typedef struct HrKernelGroup HrKernelGroup;
    #define HR_HANDLE HrKernelGroup
#else
typedef struct HrLane HrLane;
    #define HR_HANDLE HrLane
#endif

#ifdef HEADRACE_PRODUCER
// Spawns *unit, an HrUnit, of the given kind. It is run after hr_run has returned.
void hr_spawn(HR_HANDLE* lane, uint kind, const void* unit);
    #if HEADRACE_RANGES
// Spawns the range [begin, end) of the given kind, with the payload of *unit, an HrUnit.
void hr_spawn_range(HR_HANDLE* lane, uint kind, ulong begin, ulong end, const void* unit);
    #endif
#endif

// All lanes are here, and what each wrote before is seen by all after. In lane kernels only the engine may.
HR_FUNCTION void hr_sync(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }

// Masks of lanes, as hr_ballot gives them; popcount counts their lanes.
HR_FUNCTION bool hr_has(uint mask, uint lane) { return (mask >> lane & 1u) != 0; }
HR_FUNCTION uint hr_count_below(uint mask, uint lane) { return popcount(mask & ((1u << lane) - 1u)); }

#ifdef HEADRACE_BY_GROUP
// HEADRACE_SCRATCH_WORDS, aligned to 16 bytes. A unit finds in them what the last one left.
__local uint* hr_scratch(HrKernelGroup* group);
// These are for all lanes at once, like hr_sync, but order nothing else that is read or written. The calling
// lane is get_local_id(0), the leader 0.
uint hr_ballot(HrKernelGroup* group, bool vote); // the lanes that vote
// What lane `from` has.
uint hr_shuffle_uint(HrKernelGroup* group, uint mine, uint from);
ulong hr_shuffle_ulong(HrKernelGroup* group, ulong mine, uint from);
float hr_shuffle_float(HrKernelGroup* group, float mine, uint from);
// The sum over all lanes, in their order.
uint hr_sum_uint(HrKernelGroup* group, uint mine);
ulong hr_sum_ulong(HrKernelGroup* group, ulong mine);
float hr_sum_float(HrKernelGroup* group, float mine);
// A hint: other groups wait for work, or for all to park, so a unit that can be split had better be.
bool hr_others_are_idle(HrKernelGroup* group);
#endif
