// apps/path_tracer/vector_math.hpp - vector_math.h with operators, for code of the host.
#pragma once
#include "vector_math.h"

namespace path_tracer {

constexpr Float3 operator+(Float3 a, Float3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Float3 operator-(Float3 a, Float3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Float3 operator-(Float3 a) { return {-a.x, -a.y, -a.z}; }
constexpr Float3 operator*(Float3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
constexpr float dot(Float3 a, Float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Float3 cross(Float3 a, Float3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline float length(Float3 a) { return sqrt(dot(a, a)); }

HEADRACE_HOST_DEVICE constexpr Rgb operator+(Rgb a, Rgb b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
constexpr Rgb operator*(Rgb a, Rgb b) { return {a.r * b.r, a.g * b.g, a.b * b.b}; }
constexpr Rgb operator*(Rgb a, float s) { return {a.r * s, a.g * s, a.b * s}; }

} // namespace path_tracer
