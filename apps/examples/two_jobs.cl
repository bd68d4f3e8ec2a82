// apps/examples/two_jobs.cl - two_jobs.kernels.hpp in OpenCL C: its first kernel, or with -DREAD its second.
#ifndef READ
    #define HEADRACE_PARAMETERS __global uint* steps
    #define HEADRACE_ARGUMENTS steps

void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    uint count = 0;
    for (ulong n = index + 1; n != 1; n = n % 2 != 0 ? 3 * n + 1 : n / 2) ++count;
    steps[index] = count;
}
#else
    #define HEADRACE_PARAMETERS __global const uint *steps, __global ulong *numbers
    #define HEADRACE_ARGUMENTS steps, numbers

void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) { hr_atomic_add_ulong(&numbers[steps[index]], 1); }
#endif
