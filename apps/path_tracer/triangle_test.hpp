// apps/path_tracer/triangle_test.hpp - where a ray meets a triangle, so that no ray passes between two of
// them.
#pragma once
#include "vector_math.hpp"

namespace path_tracer {

struct Ray {
    Float3 origin, direction; ///< the direction has length 1
};

struct Hit {
    float distance;
    uint32_t triangle = PATH_TRACER_NO_TRIANGLE;
    float u, v; ///< the point is (1 - u - v) a + u b + v c
};

/// A ray with two directions across it, which see corners as points of a plane.
struct Sight {
    Ray ray;
    Float3 across, up;

    HEADRACE_HOST_DEVICE explicit Sight(const Ray& along) : ray(along) {
        make_frame(ray.direction, across, up);
    }
};

/// A triangle that a ray goes through: twice the areas opposite to its corners in the plane across the ray,
/// and the corners' depths along it.
struct SeenTriangle {
    float of_a, of_b, of_c;
    float depth_a, depth_b, depth_c;
};

/// False if the ray passes the triangle by.
///
/// Neighbours see shared corners as the same points of a plane, and ask on which side of a line between two
/// of them the ray is by comparing two products. Rounding may make such products equal, but never swaps
/// them, and what is equal counts as inside: no ray passes between two triangles. (A difference of the
/// products would not do: where a compiler makes one multiply-add of it, its sign can be wrong.)
///
/// Source  Woop et al., "Watertight ray/triangle intersection", JCGT 2013. Differs in: any plane across the
///         ray instead of permuted and sheared axes, and no case needs double precision
HEADRACE_HOST_DEVICE inline bool goes_through(const Triangle& triangle, const Sight& sight,
                                              SeenTriangle& seen) {
    const Float3 a = triangle.a - sight.ray.origin, b = triangle.b - sight.ray.origin,
                 c = triangle.c - sight.ray.origin;
    const float ax = dot(a, sight.across), bx = dot(b, sight.across), cx = dot(c, sight.across);
    const float ay = dot(a, sight.up), by = dot(b, sight.up), cy = dot(c, sight.up);
    const float bc = bx * cy, ca = cx * ay, ab = ax * by;
    const float cb = cx * by, ac = ax * cy, ba = bx * ay;
    const bool left = bc >= cb && ca >= ac && ab >= ba;
    if (!left && !(bc <= cb && ca <= ac && ab <= ba)) return false;
    const float turn = left ? 1.0f : -1.0f; // none is below 0, except by a multiply-add
    seen = {larger((bc - cb) * turn, 0.0f), larger((ca - ac) * turn, 0.0f), larger((ab - ba) * turn, 0.0f),
            dot(a, sight.ray.direction),    dot(b, sight.ray.direction),    dot(c, sight.ray.direction)};
    return true;
}

/// Shortens `hit` to the triangle if the ray meets it before hit.distance, and more than 0 away.
HEADRACE_HOST_DEVICE inline bool meet(const Triangle& triangle, uint32_t index, const Sight& sight,
                                      Hit& hit) {
    SeenTriangle seen;
    if (!goes_through(triangle, sight, seen)) return false;
    const float sum = seen.of_a + seen.of_b + seen.of_c;
    if (!(sum > 0)) return false; // seen along its plane
    const float distance =
        (seen.of_a * seen.depth_a + seen.of_b * seen.depth_b + seen.of_c * seen.depth_c) / sum;
    // Of two as near the one with the lower index: it may not matter who was asked first.
    if (!(distance > 0 && (distance < hit.distance || (distance == hit.distance && index < hit.triangle))))
        return false;
    hit = {distance, index, seen.of_b / sum, seen.of_c / sum};
    return true;
}

} // namespace path_tracer
