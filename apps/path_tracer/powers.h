// apps/path_tracer/powers.h - exponents and logarithms with the same bits on every device. C++ and OpenCL C
// read this file.
#ifndef HEADRACE_PATH_TRACER_POWERS_H
#define HEADRACE_PATH_TRACER_POWERS_H
#include "vector_math.h"

HEADRACE_NAMESPACE(path_tracer)

/// 2 to this exponent, to 2e-7 of the result. Exponents beyond 126 on either side count as 126.
HEADRACE_FUNCTION float power_of_two(float exponent) {
    const float kept = smaller(larger(exponent, -126.0f), 126.0f);
    const float whole = floor(kept + 0.5f);
    const float x = (kept - whole) * 0.693147181f; // the series of e^x; x is at most 0.35
    const float series =
        1 +
        x * (1 + x * (0.5f + x * (1.66666667e-1f +
                                  x * (4.16666667e-2f +
                                       x * (8.33333333e-3f + x * (1.38888889e-3f + x * 1.98412698e-4f))))));
    return series * as_float((uint32_t)((int32_t)whole + 127) << 23);
}

/// The binary logarithm of a number from 2^-126 on, to 2e-7 of the result or of 1.
HEADRACE_FUNCTION float binary_logarithm(float number) {
    // The mantissa, between 1 / sqrt(2) and sqrt(2).
    const uint32_t shifted = as_uint(number) - 0x3f3504f3u;
    const int32_t exponent = (int32_t)shifted >> 23;
    const float mantissa = as_float((shifted & 0x7fffffu) + 0x3f3504f3u);
    const float t = (mantissa - 1) / (mantissa + 1),
                t2 = t * t; // log((1 + t) / (1 - t)) / 2 = t + t^3 / 3 ...
    const float series =
        t * (1 + t2 * (3.33333333e-1f + t2 * (0.2f + t2 * (1.42857143e-1f + t2 * 1.11111111e-1f))));
    return (float)exponent + series * 2.88539008f;
}

/// e to this exponent.
HEADRACE_FUNCTION float exponential(float exponent) { return power_of_two(exponent * 1.44269504f); }

/// A number from 0 to 1 to this exponent, which is above 0.
HEADRACE_FUNCTION float power_of(float base, float exponent) {
    return base > 0x1p-126f ? power_of_two(exponent * binary_logarithm(base)) : 0.0f;
}

HEADRACE_END_NAMESPACE

#endif
