// apps/path_tracer/exact_test.hpp - where a ray meets a triangle, for the few that floats cannot tell.
//
// Everything is in double precision: corners, the ray's origin on the triangle that it leaves, edges and
// distances. Origins lie a millionth of their triangle inside of its edges (path.hpp), which is ten thousand
// times what double precision confuses in a triangle a million times as long as wide. So a ray that begins
// beside a wall meets this wall, and neighbours agree on the edge that they share, in any scene.
#pragma once
#include "gpu_habits.hpp"
#include "triangle_test.hpp"
#include <headrace/domains/view.hpp>

namespace path_tracer {

/// Double precision; an OpenCL device without has to do with less.
using Wide = double;

struct Wide3 {
    Wide x, y, z;
};

HEADRACE_HOST_DEVICE constexpr Wide3 operator+(Wide3 a, Wide3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
HEADRACE_HOST_DEVICE constexpr Wide3 operator-(Wide3 a, Wide3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
HEADRACE_HOST_DEVICE constexpr Wide3 operator*(Wide3 a, Wide s) { return {a.x * s, a.y * s, a.z * s}; }
HEADRACE_HOST_DEVICE constexpr Wide dot(Wide3 a, Wide3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HEADRACE_HOST_DEVICE constexpr Wide3 widened(Float3 a) { return {Wide{a.x}, Wide{a.y}, Wide{a.z}}; }

/// a b - c d: see difference_of_products in point.hpp.
HEADRACE_HOST_DEVICE inline Wide wide_difference(Wide a, Wide b, Wide c, Wide d) {
    const Wide second = c * d;
    return fma(a, b, -second) + fma(-c, d, second);
}
HEADRACE_HOST_DEVICE inline Wide3 cross(Wide3 a, Wide3 b) {
    return {wide_difference(a.y, b.z, a.z, b.y), wide_difference(a.z, b.x, a.x, b.z),
            wide_difference(a.x, b.y, a.y, b.x)};
}

struct WideTriangle {
    Wide3 a, b, c;
};

HEADRACE_HOST_DEVICE inline WideTriangle widened(const Triangle& triangle, const TriangleDetail& detail) {
    return {widened(triangle.a) + widened(detail.low_a), widened(triangle.b) + widened(detail.low_b),
            widened(triangle.c) + widened(detail.low_c)};
}

/// A ray with its exact origin and two directions across it.
struct WideSight {
    Wide3 from, across, up, along;

    HEADRACE_HOST_DEVICE WideSight(const Triangle* triangles, const TriangleDetail* details, uint32_t left,
                                   float u, float v, Float3 origin, Float3 direction)
        : from(widened(origin)) {
        if (left != PATH_TRACER_NO_TRIANGLE) {
            const WideTriangle ground = widened(triangles[left], details[left]);
            from = ground.a + (ground.b - ground.a) * Wide{u} + (ground.c - ground.a) * Wide{v};
        }
        Float3 float_across, float_up;
        make_frame(direction, float_across, float_up);
        across = widened(float_across);
        up = widened(float_up);
        along = cross(across, up); // what is across both; floats have the direction nearly so
    }
};

struct ExactHit {
    Wide distance; ///< 0: the ray does not meet the triangle
    float u, v;
};

/// Neighbours see shared corners as the same points of a plane, and ask on which side of a line between two
/// of them the ray is by comparing two products. Rounding may make such products equal, but never swaps them,
/// and what is equal counts as inside: no ray passes between two triangles.
///
/// Source  Woop et al., "Watertight ray/triangle intersection", JCGT 2013. Differs in: any plane across the
///         ray instead of permuted and sheared axes; the distance is that of the triangle's plane, as areas
///         are too coarse for it in needles
HEADRACE_HOST_DEVICE inline ExactHit exact_hit(const WideSight& sight, const WideTriangle& triangle) {
    const Wide3 a = triangle.a - sight.from, b = triangle.b - sight.from, c = triangle.c - sight.from;
    const Wide ax = dot(a, sight.across), bx = dot(b, sight.across), cx = dot(c, sight.across);
    const Wide ay = dot(a, sight.up), by = dot(b, sight.up), cy = dot(c, sight.up);
    const Wide bc = bx * cy, ca = cx * ay, ab = ax * by;
    const Wide cb = cx * by, ac = ax * cy, ba = bx * ay;
    const bool left_turn = bc >= cb && ca >= ac && ab >= ba, right_turn = bc <= cb && ca <= ac && ab <= ba;
    const Wide of_a = bc - cb, of_b = ca - ac, of_c = ab - ba;
    const Wide sum = of_a + of_b + of_c;
    const Wide3 normal = cross(triangle.b - triangle.a, triangle.c - triangle.a);
    const Wide distance = dot(normal, a) / dot(normal, sight.along);
    if (!(left_turn || right_turn) || sum == 0 || !(distance > 0)) return {0, 0, 0};
    return {distance, static_cast<float>(of_b / sum), static_cast<float>(of_c / sum)};
}

/// Whether and where the ray meets the triangle `index`, before it meets `other` if there is one; of two that
/// it meets at the same distance, the lower index. Never inlined: registers that it needs would be lacking
/// where the time goes.
[[nodiscard]] HEADRACE_HOST_DEVICE inline __attribute__((noinline)) ExactHit
exact_hit_before(const Triangle* triangles, const TriangleDetail* details, uint32_t left, float u, float v,
                 Float3 origin, Float3 direction, uint32_t index, uint32_t other) {
    const WideSight sight(triangles, details, left, u, v, origin, direction);
    ExactHit hit = exact_hit(sight, widened(triangles[index], details[index]));
    if (!(hit.distance > 0) || other == PATH_TRACER_NO_TRIANGLE) return hit;
    const Wide before = exact_hit(sight, widened(triangles[other], details[other])).distance;
    if (before > 0 && (before < hit.distance || (before == hit.distance && other < index))) hit.distance = 0;
    return hit;
}

} // namespace path_tracer
