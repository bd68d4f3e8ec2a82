// apps/coexec/taylor.cl - taylor.kernels.hpp in OpenCL C.
#include "taylor.h"

#define HEADRACE_PARAMETERS                                                                                  \
    __global const float* angles, __global float* sines, __global float* cosines, uint terms
#define HEADRACE_ARGUMENTS angles, sines, cosines, terms

void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS)
{
    const SineCosine both = sine_and_cosine(angles[i], terms);
    sines[i] = both.sine;
    cosines[i] = both.cosine;
}
