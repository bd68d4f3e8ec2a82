// apps/path_tracer/exact_test.h - where a ray meets a triangle, for the few that floats cannot tell. C++ and
// OpenCL C read this file.
//
// Everything is in double precision: corners, the ray's origin on the triangle that it leaves, edges and
// distances. Origins lie a millionth of their triangle inside of its edges (path.h), which is ten thousand
// times what double precision confuses in a triangle a million times as long as wide. So a ray that begins
// beside a wall meets this wall, and neighbours agree on the edge that they share, in any scene.
#ifndef HEADRACE_PATH_TRACER_EXACT_TEST_H
#define HEADRACE_PATH_TRACER_EXACT_TEST_H
#include "triangle_test.h"

HEADRACE_NAMESPACE(path_tracer)

/// Double precision; an OpenCL device without has to do with less.
#if defined(__OPENCL_C_VERSION__) && !defined(cl_khr_fp64)
typedef float Wide;
#else
typedef double Wide;
#endif

typedef struct Wide3 {
    Wide x, y, z;
} Wide3;

HEADRACE_FUNCTION Wide3 wide_vec(Wide x, Wide y, Wide z) {
    const Wide3 v = {x, y, z};
    return v;
}
HEADRACE_FUNCTION Wide3 wide_add(Wide3 a, Wide3 b) { return wide_vec(a.x + b.x, a.y + b.y, a.z + b.z); }
HEADRACE_FUNCTION Wide3 wide_sub(Wide3 a, Wide3 b) { return wide_vec(a.x - b.x, a.y - b.y, a.z - b.z); }
HEADRACE_FUNCTION Wide3 wide_scaled(Wide3 a, Wide s) { return wide_vec(a.x * s, a.y * s, a.z * s); }
HEADRACE_FUNCTION Wide wide_dot(Wide3 a, Wide3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HEADRACE_FUNCTION Wide3 widened(Float3 a) { return wide_vec(a.x, a.y, a.z); }

/// a b - c d: see difference_of_products in point.hpp.
HEADRACE_FUNCTION Wide wide_difference(Wide a, Wide b, Wide c, Wide d) {
    const Wide second = c * d;
    return fma(a, b, -second) + fma(-c, d, second);
}
HEADRACE_FUNCTION Wide3 wide_cross(Wide3 a, Wide3 b) {
    return wide_vec(wide_difference(a.y, b.z, a.z, b.y), wide_difference(a.z, b.x, a.x, b.z),
                    wide_difference(a.x, b.y, a.y, b.x));
}

typedef struct WideTriangle {
    Wide3 a, b, c;
} WideTriangle;

/// Where exact corners are.
typedef struct ExactScene {
    HEADRACE_GLOBAL const Triangle* triangles;
    HEADRACE_GLOBAL const TriangleDetail* details;
    HEADRACE_GLOBAL const Instance* instances;
} ExactScene;

HEADRACE_FUNCTION Wide wide_row(MapRow row, MapRow low, Wide3 p) {
    return ((Wide)row.x + low.x) * p.x + ((Wide)row.y + low.y) * p.y + ((Wide)row.z + low.z) * p.z +
           ((Wide)row.shift + low.shift);
}
HEADRACE_FUNCTION Wide3 wide_placed(HEADRACE_GLOBAL const Instance* instance, Wide3 p) {
    return wide_vec(wide_row(instance->placed.x, instance->low.x, p),
                    wide_row(instance->placed.y, instance->low.y, p),
                    wide_row(instance->placed.z, instance->low.z, p));
}

HEADRACE_FUNCTION WideTriangle widened_triangle(ExactScene scene, uint32_t instance, uint32_t index) {
    WideTriangle wide = {wide_add(widened(scene.triangles[index].a), widened(scene.details[index].low_a)),
                         wide_add(widened(scene.triangles[index].b), widened(scene.details[index].low_b)),
                         wide_add(widened(scene.triangles[index].c), widened(scene.details[index].low_c))};
    if (instance != PATH_TRACER_NONE) {
        wide.a = wide_placed(&scene.instances[instance], wide.a);
        wide.b = wide_placed(&scene.instances[instance], wide.b);
        wide.c = wide_placed(&scene.instances[instance], wide.c);
    }
    return wide;
}

/// A ray with its exact origin and two directions across it.
typedef struct WideSight {
    Wide3 from, across, up, along;
} WideSight;

HEADRACE_FUNCTION WideSight wide_sight(ExactScene scene, uint32_t left, uint32_t left_instance, float u,
                                       float v, Float3 origin, Float3 direction) {
    WideSight sight;
    sight.from = widened(origin);
    if (left != PATH_TRACER_NO_TRIANGLE) {
        const WideTriangle ground = widened_triangle(scene, left_instance, left);
        sight.from = wide_add(wide_add(ground.a, wide_scaled(wide_sub(ground.b, ground.a), u)),
                              wide_scaled(wide_sub(ground.c, ground.a), v));
    }
    Float3 float_across, float_up;
    make_frame(direction, &float_across, &float_up);
    sight.across = widened(float_across);
    sight.up = widened(float_up);
    sight.along =
        wide_cross(sight.across, sight.up); // what is across both; floats have the direction nearly so
    return sight;
}

typedef struct ExactHit {
    Wide distance; ///< 0: the ray does not meet the triangle
    float u, v;
} ExactHit;

/// Neighbours see shared corners as the same points of a plane, and ask on which side of a line between two
/// of them the ray is by comparing two products. Rounding may make such products equal, but never swaps them,
/// and what is equal counts as inside: no ray passes between two triangles.
///
/// Source  Woop et al., "Watertight ray/triangle intersection", JCGT 2013. Differs in: any plane across the
///         ray instead of permuted and sheared axes; the distance is that of the triangle's plane, as areas
///         are too coarse for it in needles
HEADRACE_FUNCTION ExactHit exact_hit(const WideSight* sight, const WideTriangle* triangle) {
    const ExactHit none = {0, 0, 0};
    const Wide3 a = wide_sub(triangle->a, sight->from), b = wide_sub(triangle->b, sight->from),
                c = wide_sub(triangle->c, sight->from);
    const Wide ax = wide_dot(a, sight->across), bx = wide_dot(b, sight->across),
               cx = wide_dot(c, sight->across);
    const Wide ay = wide_dot(a, sight->up), by = wide_dot(b, sight->up), cy = wide_dot(c, sight->up);
    const Wide bc = bx * cy, ca = cx * ay, ab = ax * by;
    const Wide cb = cx * by, ac = ax * cy, ba = bx * ay;
    const bool left_turn = bc >= cb && ca >= ac && ab >= ba, right_turn = bc <= cb && ca <= ac && ab <= ba;
    const Wide of_a = bc - cb, of_b = ca - ac, of_c = ab - ba;
    const Wide sum = of_a + of_b + of_c;
    const Wide3 normal = wide_cross(wide_sub(triangle->b, triangle->a), wide_sub(triangle->c, triangle->a));
    const Wide distance_to = wide_dot(normal, a) / wide_dot(normal, sight->along);
    if (!(left_turn || right_turn) || sum == 0 || !(distance_to > 0)) return none;
    const ExactHit hit = {distance_to, (float)(of_b / sum), (float)(of_c / sum)};
    return hit;
}

/// Less than 0 if `a` comes before `b` in some order of points, 0 if they are one.
HEADRACE_FUNCTION int order_of(Float3 a, Float3 b) {
    if (a.x != b.x) return a.x < b.x ? -1 : 1;
    if (a.y != b.y) return a.y < b.y ? -1 : 1;
    return a.z < b.z ? -1 : a.z > b.z ? 1 : 0;
}

/// Of two triangles that a ray meets at the same distance, the first in the scene counts; of those with the
/// same corners, the one with the lower material, then one by its order of corners; of one triangle, the
/// lower instance. So it does not depend on leaves, of which a triangle may be in several.
HEADRACE_FUNCTION bool comes_before(ExactScene scene, uint32_t index, uint32_t instance, uint32_t other,
                                    uint32_t other_instance) {
    HEADRACE_GLOBAL const Triangle* one = &scene.triangles[index];
    HEADRACE_GLOBAL const Triangle* two = &scene.triangles[other];
    if (one->id != two->id) return one->id < two->id;
    if (one->material != two->material) return one->material < two->material;
    const int by_a = order_of(one->a, two->a), by_b = order_of(one->b, two->b);
    if (by_a != 0 || by_b != 0) return by_a < 0 || (by_a == 0 && by_b < 0);
    return index < other || (index == other && instance < other_instance);
}

/// Whether and where the ray meets the triangle `index`, before it meets `other` if there is one. Never
/// inlined: registers that it needs would be lacking where the time goes.
HEADRACE_FUNCTION_APART ExactHit exact_hit_before(ExactScene scene, uint32_t left, uint32_t left_instance,
                                                  float u, float v, Float3 origin, Float3 direction,
                                                  uint32_t instance, uint32_t index, uint32_t other_instance,
                                                  uint32_t other) {
    const WideSight sight = wide_sight(scene, left, left_instance, u, v, origin, direction);
    WideTriangle triangle = widened_triangle(scene, instance, index);
    ExactHit hit = exact_hit(&sight, &triangle);
    if (!(hit.distance > 0) || other == PATH_TRACER_NO_TRIANGLE) return hit;
    triangle = widened_triangle(scene, other_instance, other);
    const Wide before = exact_hit(&sight, &triangle).distance;
    const bool is_first = comes_before(scene, other, other_instance, index, instance);
    if (before > 0 && (before < hit.distance || (before == hit.distance && is_first))) hit.distance = 0;
    return hit;
}

HEADRACE_END_NAMESPACE

#endif
