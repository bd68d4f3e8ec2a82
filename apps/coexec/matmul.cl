// apps/coexec/matmul.cl - matmul.kernels.hpp in OpenCL C, with -DREAL=float or double.
#ifdef cl_khr_fp64
    #pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define HEADRACE_PARAMETERS                                                                                  \
    __global const REAL* a, __global const REAL* b, __global REAL* c, ulong columns, ulong inner
#define HEADRACE_ARGUMENTS a, b, c, columns, inner

void hr_consume(HrLane* lane, ulong element, HEADRACE_PARAMETERS)
{
    __global const REAL* left = a + element / columns * inner;
    __global const REAL* right = b + element % columns;
    REAL sum = 0;
    for (ulong k = 0; k < inner; ++k, right += columns) sum += left[k] * *right;
    c[element] = sum;
}
