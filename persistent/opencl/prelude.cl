// persistent/opencl/prelude.cl - what a kernel in OpenCL C may call. control.h comes before it; atomics.cl,
// exact_sum.cl, the user's source and the loop come after it.
//
// The host defines:
//   HEADRACE_LANES            work-items in a lane group, which is one work-group
//   HEADRACE_QUEUE_LANES      units that they process at once
//   HEADRACE_LOCAL_STATE      bytes of a group's state in local memory
//   HEADRACE_SCRATCH_WORDS    words of a kernel's scratch
//   HEADRACE_CONSUMER, HEADRACE_PRODUCER    one of the two
// For producers:
//   HEADRACE_KINDS, HEADRACE_UNIT_WORDS, HEADRACE_MAX_SPAWNS
//   HEADRACE_RANGES           one bit for each kind: set for a kind of ranges
//   HEADRACE_RANGE_OF         four bits for each kind: the kind that it expands to
// For group kernels:
//   HEADRACE_BY_GROUP
// Where the compiler accepts NVIDIA's assembler:
//   HEADRACE_PTX              the compute capability: 80 for 8.0
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

// The handle that the user's function gets. It has two names, so that no compiler takes one for the other.
#ifdef HEADRACE_BY_GROUP
typedef struct HrKernelGroup HrKernelGroup;
    #define HR_HANDLE HrKernelGroup
#else
typedef struct HrLane HrLane;
    #define HR_HANDLE HrLane
#endif

#ifdef HEADRACE_PRODUCER
// Spawns *unit, an HrUnit, of the given kind. The unit runs after hr_run has returned.
void hr_spawn(HR_HANDLE* lane, uint kind, const void* unit);
    #if HEADRACE_RANGES
// Spawns the range [begin, end) of the given kind, with the payload of *unit, an HrUnit.
void hr_spawn_range(HR_HANDLE* lane, uint kind, ulong begin, ulong end, const void* unit);
    #endif
#endif

// The phase after the last step of a resumable unit.
#define HR_DONE 0xffffffffu

// Waits for all lanes. All lanes then see what each lane wrote before. In lane kernels, only the engine may
// call it.
HR_FUNCTION void hr_sync(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }

// Masks of lanes, as hr_ballot returns them. popcount counts their lanes.
HR_FUNCTION bool hr_has(uint mask, uint lane) { return (mask >> lane & 1u) != 0; }
HR_FUNCTION uint hr_count_below(uint mask, uint lane) { return popcount(mask & ((1u << lane) - 1u)); }

#ifdef HEADRACE_BY_GROUP
// HEADRACE_SCRATCH_WORDS words, aligned to 16 bytes. They keep their values from one unit to the next.
__local uint* hr_scratch(HrKernelGroup* group);
// All lanes must call these functions, like hr_sync. They order no other reads or writes. The calling lane is
// get_local_id(0); the leader is 0.
uint hr_ballot(HrKernelGroup* group, bool vote); // the lanes that vote true
// Returns the value of lane `from`.
uint hr_shuffle_uint(HrKernelGroup* group, uint mine, uint from);
ulong hr_shuffle_ulong(HrKernelGroup* group, ulong mine, uint from);
float hr_shuffle_float(HrKernelGroup* group, float mine, uint from);
// Returns the sum over all lanes, added in their order.
uint hr_sum_uint(HrKernelGroup* group, uint mine);
ulong hr_sum_ulong(HrKernelGroup* group, ulong mine);
float hr_sum_float(HrKernelGroup* group, float mine);
// A hint: other groups are idle, or all groups pause. A unit that can be split should then split.
bool hr_others_are_idle(HrKernelGroup* group);
#endif
