// apps/coexec/rap.cl - rap.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global const int* first, __global const int* second, __global int* best
#define HEADRACE_ARGUMENTS first, second, best

void hr_consume(HrLane* lane, ulong amount, HEADRACE_PARAMETERS)
{
    int most = first[0] + second[amount];
    for (ulong i = 1; i <= amount; ++i) most = max(most, first[i] + second[amount - i]);
    best[amount] = most;
}
