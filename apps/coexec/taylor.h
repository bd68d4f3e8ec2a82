// apps/coexec/taylor.h - sine and cosine by so many terms of their series. C++ and OpenCL C read this file.
#ifndef HEADRACE_COEXEC_TAYLOR_H
#define HEADRACE_COEXEC_TAYLOR_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(coexec)

typedef struct SineCosine {
    float sine, cosine;
} SineCosine;

/// From the last term to the first (Horner's scheme), which are the largest: no term is too small for a
/// float, and few roundings matter.
HEADRACE_FUNCTION SineCosine sine_and_cosine(float x, uint32_t terms) {
    const float square = x * x;
    float sine = 1, cosine = 1;
    for (uint32_t term = terms - 1; term > 0; --term) {
        const float even = 2 * (float)term;
        cosine = 1 - square / (even * (even - 1)) * cosine;
        sine = 1 - square / (even * (even + 1)) * sine;
    }
    const SineCosine both = {x * sine, cosine};
    return both;
}

HEADRACE_END_NAMESPACE

#endif
