// apps/path_tracer/vector_math.h - arithmetic on Float3 and Rgb, and the few functions that must agree to the
// last bit between technologies. C++ and OpenCL C read this file; vector_math.hpp has operators for code of
// the host.
#ifndef HEADRACE_PATH_TRACER_VECTOR_MATH_H
#define HEADRACE_PATH_TRACER_VECTOR_MATH_H

// Multiplications and additions are not fused, on any device, but where `fused` says so: see README.md.
// CMakeLists.txt says the same to nvcc and g++, which have no pragma for it. First of all, so that it holds
// for what is included, too.
#if defined(__OPENCL_C_VERSION__)
    #pragma OPENCL FP_CONTRACT OFF
#elif defined(__clang__)
    #pragma clang fp contract(off)
#endif

#include "layout.h"
#include "random/turns.h"

HEADRACE_NAMESPACE(path_tracer)
HEADRACE_USING(random_numbers)

HEADRACE_FUNCTION Float3 vec(float x, float y, float z) {
    const Float3 v = {x, y, z};
    return v;
}
HEADRACE_FUNCTION Float3 add(Float3 a, Float3 b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
HEADRACE_FUNCTION Float3 sub(Float3 a, Float3 b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }
HEADRACE_FUNCTION Float3 negated(Float3 a) { return vec(-a.x, -a.y, -a.z); }
HEADRACE_FUNCTION Float3 scaled(Float3 a, float s) { return vec(a.x * s, a.y * s, a.z * s); }
HEADRACE_FUNCTION float dot_of(Float3 a, Float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HEADRACE_FUNCTION Float3 cross_of(Float3 a, Float3 b) {
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

HEADRACE_FUNCTION bool is_same_point(Float3 a, Float3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

HEADRACE_FUNCTION Rgb rgb(float r, float g, float b) {
    const Rgb c = {r, g, b};
    return c;
}
HEADRACE_FUNCTION Rgb rgb_add(Rgb a, Rgb b) { return rgb(a.r + b.r, a.g + b.g, a.b + b.b); }
HEADRACE_FUNCTION Rgb rgb_mul(Rgb a, Rgb b) { return rgb(a.r * b.r, a.g * b.g, a.b * b.b); }
HEADRACE_FUNCTION Rgb rgb_scaled(Rgb a, float s) { return rgb(a.r * s, a.g * s, a.b * s); }
HEADRACE_FUNCTION float luminance(Rgb c) { return 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b; }
HEADRACE_FUNCTION bool is_black(Rgb c) { return c.r == 0 && c.g == 0 && c.b == 0; }

// No operand here is ever NaN, so this is fmin; g++ makes one instruction of it, but a call of std::fmin.
HEADRACE_FUNCTION float smaller(float a, float b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__OPENCL_C_VERSION__)
    return fmin(a, b);
#else
    return a < b ? a : b;
#endif
}
HEADRACE_FUNCTION float larger(float a, float b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__OPENCL_C_VERSION__)
    return fmax(a, b);
#else
    return a > b ? a : b;
#endif
}

HEADRACE_FUNCTION float magnitude(float value) { return value < 0 ? -value : value; }

/// a b + c, in one rounding where that is faster: only where the last bits decide nothing.
HEADRACE_FUNCTION float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(FP_FAST_FMAF)
    return fma(a, b, c);
#else
    return a * b + c; // not OpenCL's mad: its error has no bound
#endif
}

HEADRACE_FUNCTION float largest(Rgb c) { return larger(c.r, larger(c.g, c.b)); }

HEADRACE_FUNCTION Float3 normalised(Float3 a) { return scaled(a, 1.0f / sqrt(dot_of(a, a))); }

/// Two directions that make a right-handed orthonormal frame with the unit vector `n`.
/// Source    Duff et al., "Building an Orthonormal Basis, Revisited", JCGT 2017
HEADRACE_FUNCTION void make_frame(Float3 n, Float3* tangent, Float3* bitangent) {
    const float sign = n.z < 0.0f ? -1.0f : 1.0f;
    const float a = -1.0f / (sign + n.z);
    const float b = n.x * n.y * a;
    *tangent = vec(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *bitangent = vec(b, sign + n.y * n.y * a, -n.y);
}

HEADRACE_END_NAMESPACE

#endif
