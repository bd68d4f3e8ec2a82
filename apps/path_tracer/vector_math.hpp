// apps/path_tracer/vector_math.hpp - arithmetic on Float3 and Rgb, and the few functions that must agree to
// the last bit between technologies. path_tracer.cl has the same functions in OpenCL C.
#pragma once
#include "layout.h"
#include "random/turns.h"
#include <headrace/devices/kernels/macros.hpp>

#include <cmath>

// Multiplications and additions are not fused, on any device, but where `fused` says so: see README.md.
// CMakeLists.txt says the same to nvcc and g++, which have no pragma for it.
#if defined(__clang__)
    #pragma clang fp contract(off)
#endif

namespace path_tracer {

HEADRACE_HOST_DEVICE constexpr Float3 operator+(Float3 a, Float3 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
HEADRACE_HOST_DEVICE constexpr Float3 operator-(Float3 a, Float3 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
HEADRACE_HOST_DEVICE constexpr Float3 operator-(Float3 a) { return {-a.x, -a.y, -a.z}; }
HEADRACE_HOST_DEVICE constexpr Float3 operator*(Float3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
HEADRACE_HOST_DEVICE constexpr float dot(Float3 a, Float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HEADRACE_HOST_DEVICE constexpr Float3 cross(Float3 a, Float3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

HEADRACE_HOST_DEVICE constexpr Rgb operator+(Rgb a, Rgb b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
HEADRACE_HOST_DEVICE constexpr Rgb operator*(Rgb a, Rgb b) { return {a.r * b.r, a.g * b.g, a.b * b.b}; }
HEADRACE_HOST_DEVICE constexpr Rgb operator*(Rgb a, float s) { return {a.r * s, a.g * s, a.b * s}; }
HEADRACE_HOST_DEVICE constexpr bool is_black(Rgb c) { return c.r == 0 && c.g == 0 && c.b == 0; }

// No operand here is ever NaN, so this is fminf; g++ makes one instruction of it, but a call of std::fmin.
HEADRACE_HOST_DEVICE inline float smaller(float a, float b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return fminf(a, b);
#else
    return a < b ? a : b;
#endif
}
HEADRACE_HOST_DEVICE inline float larger(float a, float b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return fmaxf(a, b);
#else
    return a > b ? a : b;
#endif
}

/// a b + c, in one rounding where that is faster: only where the last bits decide nothing.
HEADRACE_HOST_DEVICE inline float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

HEADRACE_HOST_DEVICE inline float largest(Rgb c) { return larger(c.r, larger(c.g, c.b)); }
HEADRACE_HOST_DEVICE constexpr float luminance(Rgb c) {
    return 0.2126f * c.r + 0.7152f * c.g + 0.0722f * c.b;
}

HEADRACE_HOST_DEVICE inline float length(Float3 a) { return sqrtf(dot(a, a)); }
HEADRACE_HOST_DEVICE inline Float3 normalised(Float3 a) { return a * (1.0f / length(a)); }

using random_numbers::sin_cos_of_turns;

/// Two directions that make a right-handed orthonormal frame with the unit vector `n`.
/// Source    Duff et al., "Building an Orthonormal Basis, Revisited", JCGT 2017
HEADRACE_HOST_DEVICE inline void make_frame(Float3 n, Float3& tangent, Float3& bitangent) {
    const float sign = n.z < 0.0f ? -1.0f : 1.0f;
    const float a = -1.0f / (sign + n.z);
    const float b = n.x * n.y * a;
    tangent = {1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x};
    bitangent = {b, sign + n.y * n.y * a, -n.y};
}

} // namespace path_tracer
