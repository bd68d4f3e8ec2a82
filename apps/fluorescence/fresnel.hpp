// apps/fluorescence/fresnel.hpp - what a boundary reflects. fresnel.cl has it in OpenCL C: change both.
#pragma once
#include "layout.h"
#include <headrace/devices/kernels/macros.hpp>

#include <cmath>

namespace fluorescence {

/// Fresnel's reflectance for unpolarised light; `cosine_beyond` becomes that of the refracted ray. No cosine
/// is too large for it, however it is rounded: the sine of the ray is not asked for.
HEADRACE_HOST_DEVICE inline float reflectance(const Side& side, float cosine, float& cosine_beyond) {
    cosine_beyond = cosine;
    if (side.n_ratio == 1) return 0;
    const float a = side.n_ratio * cosine, square = a * a + side.beyond;
    if (!(square > 0)) return 1;
    const float b = std::sqrt(square), c = side.n_ratio * b;
    cosine_beyond = std::fmax(b, side.least_refracted);
    const float s = (a - b) / (a + b), p = (c - cosine) / (c + cosine);
    return 0.5f * (s * s + p * p);
}

} // namespace fluorescence
