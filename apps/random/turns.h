// apps/random/turns.h - directions around an axis. C++ and OpenCL C read this file.
#ifndef HEADRACE_RANDOM_TURNS_H
#define HEADRACE_RANDOM_TURNS_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(random_numbers)

/// Sine and cosine of `turns` full turns, 0 <= turns < 1, to 1e-7. Polynomials on an eighth of a turn either
/// side of the nearest quarter: every math library has other last bits, and results of two devices should
/// have the same.
HEADRACE_FUNCTION void sin_cos_of_turns(float turns, float* sine, float* cosine) {
    const float quarters = turns * 4.0f;
    const int quadrant = (int)(quarters + 0.5f);
    const float x = (quarters - (float)quadrant) * 1.57079633f;
    const float x2 = x * x;
    const float s = x * (1.0f + x2 * (-1.66666667e-1f +
                                      x2 * (8.33333333e-3f + x2 * (-1.98412698e-4f + x2 * 2.75573192e-6f))));
    const float c =
        1.0f + x2 * (-0.5f + x2 * (4.16666667e-2f + x2 * (-1.38888889e-3f + x2 * 2.48015873e-5f)));
    const bool swaps = (quadrant & 1) != 0;
    const float sine_size = swaps ? c : s;
    const float cosine_size = swaps ? s : c;
    *sine = (quadrant & 2) != 0 ? -sine_size : sine_size;
    *cosine = ((quadrant + 1) & 2) != 0 ? -cosine_size : cosine_size;
}

HEADRACE_END_NAMESPACE

#endif
