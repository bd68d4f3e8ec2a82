// persistent/opencl/prelude.cl - what a kernel in OpenCL C may call. control.h comes before it, the user's
// source and the loop after it.
//
// The host defines HEADRACE_LANES (work-items in a lane group, which is one work-group), HEADRACE_LOCAL_STATE
// (bytes), HEADRACE_CONSUMER or HEADRACE_PRODUCER; for producers HEADRACE_KINDS, HEADRACE_UNIT_WORDS,
// HEADRACE_MAX_SPAWNS; and HEADRACE_PTX, the compute capability (80 for 8.0), where the compiler takes
// NVIDIA's assembler.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

typedef struct HrLane HrLane;

#ifdef HEADRACE_PRODUCER
// Spawns *unit, an HrUnit, of the given kind. It is run after hr_run has returned.
void hr_spawn(HrLane* lane, uint kind, const void* unit);
#endif

// Adds without order: sums are read after the kernel, whose end publishes them.
HR_FUNCTION void hr_atomic_add_float(__global float* to, float amount) {
#ifdef HEADRACE_PTX
    asm volatile("red.global.add.f32 [%0], %1;" : : "l"((ulong)to), "f"(amount) : "memory");
#else
    volatile __global uint* word = (volatile __global uint*)to;
    uint seen = *word;
    for (;;) {
        const uint before = atomic_cmpxchg(word, seen, as_uint(as_float(seen) + amount));
        if (before == seen) break;
        seen = before;
    }
#endif
}
HR_FUNCTION void hr_atomic_add_uint(__global uint* to, uint amount) { atomic_add(to, amount); }
HR_FUNCTION void hr_atomic_add_ulong(__global ulong* to, ulong amount) { atom_add(to, amount); }
