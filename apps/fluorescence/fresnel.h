// apps/fluorescence/fresnel.h - what a boundary reflects. C++ and OpenCL C read this file.
#ifndef HEADRACE_FLUORESCENCE_FRESNEL_H
#define HEADRACE_FLUORESCENCE_FRESNEL_H
#include "layout.h"

HEADRACE_NAMESPACE(fluorescence)

/// Fresnel's reflectance for unpolarised light; `cosine_beyond` becomes that of the refracted ray. No cosine
/// is too large for it, however it is rounded: the sine of the ray is not asked for.
HEADRACE_FUNCTION float reflectance(const Side* side, float cosine, float* cosine_beyond) {
    *cosine_beyond = cosine;
    if (side->n_ratio == 1) return 0;
    const float a = side->n_ratio * cosine, square = a * a + side->beyond;
    if (!(square > 0)) return 1;
    const float b = sqrt(square), c = side->n_ratio * b;
    *cosine_beyond = fmax(b, side->least_refracted);
    const float s = (a - b) / (a + b), p = (c - cosine) / (c + cosine);
    return 0.5f * (s * s + p * p);
}

HEADRACE_END_NAMESPACE

#endif
