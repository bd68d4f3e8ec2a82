// apps/coexec/taylor.cl - taylor.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS                                                                                  \
    __global const float* angles, __global float* sines, __global float* cosines, uint terms
#define HEADRACE_ARGUMENTS angles, sines, cosines, terms

void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS)
{
    const float x = angles[i], square = x * x;
    float sine = 1, cosine = 1;
    for (uint term = terms - 1; term > 0; --term) {
        const float even = 2 * (float)term;
        cosine = 1 - square / (even * (even - 1)) * cosine;
        sine = 1 - square / (even * (even + 1)) * sine;
    }
    sines[i] = x * sine;
    cosines[i] = cosine;
}
