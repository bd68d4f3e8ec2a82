// apps/random/turns.h - directions around an axis. C++ and OpenCL C read this file.
#ifndef HEADRACE_RANDOM_TURNS_H
#define HEADRACE_RANDOM_TURNS_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(random_numbers)

/// Sine and cosine of `turns` full turns, 0 <= turns < 1, to 1e-7. Polynomials on an eighth of a turn either
/// side of the nearest quarter: every math library has other last bits, and results of two devices should
/// have the same.
HEADRACE_FUNCTION void sin_cos_of_turns(HEADRACE_ANY(float) turns, HEADRACE_ANY(float*) sine,
                                        HEADRACE_ANY(float*) cosine) {
    const HEADRACE_ANY(float) quarters = turns * 4.0f;
    const HEADRACE_ANY(int) quadrant = int_of(quarters + 0.5f);
    const HEADRACE_ANY(float) x = (quarters - float_of(quadrant)) * 1.57079633f;
    const HEADRACE_ANY(float) x2 = x * x;
    const HEADRACE_ANY(float) s =
        x * (1.0f +
             x2 * (-1.66666667e-1f + x2 * (8.33333333e-3f + x2 * (-1.98412698e-4f + x2 * 2.75573192e-6f))));
    const HEADRACE_ANY(float) c =
        1.0f + x2 * (-0.5f + x2 * (4.16666667e-2f + x2 * (-1.38888889e-3f + x2 * 2.48015873e-5f)));
    const HEADRACE_ANY(bool) swaps = (quadrant & 1) != 0;
    const HEADRACE_ANY(float) sine_size = choose(swaps, c, s);
    const HEADRACE_ANY(float) cosine_size = choose(swaps, s, c);
    *sine = choose((quadrant & 2) != 0, -sine_size, sine_size);
    *cosine = choose(((quadrant + 1) & 2) != 0, -cosine_size, cosine_size);
}

HEADRACE_END_NAMESPACE

#endif
