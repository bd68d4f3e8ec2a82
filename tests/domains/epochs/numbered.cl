// tests/domains/epochs/numbered.cl - Numbered of epochs.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global ulong *sums, __global ulong *counts, ulong cells
#define HEADRACE_ARGUMENTS sums, counts, cells

void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    ulong mixed = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ul;
    mixed ^= mixed >> 27;
    hr_atomic_add_ulong(&sums[i % cells], mixed);
    hr_atomic_add_ulong(&counts[i % cells], 1);
}
