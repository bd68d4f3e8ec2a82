// apps/path_tracer/triangle_test.h - where a ray meets a triangle, in floats with a bound of their error:
// either it is sure, or exact_test.h decides. C++ and OpenCL C read this file.
#ifndef HEADRACE_PATH_TRACER_TRIANGLE_TEST_H
#define HEADRACE_PATH_TRACER_TRIANGLE_TEST_H
#include "vector_math.h"

HEADRACE_NAMESPACE(path_tracer)

typedef struct Ray {
    Float3 origin, direction; ///< the direction has length 1
    /// The triangle that the ray leaves, and where: its exact origin. Without one it is `origin` itself.
    uint32_t left, left_instance; ///< see PathVertex
    float u, v;
    /// Triangles that the ray cannot meet, by id: the one that it leaves, and the one that a shadow ray goes
    /// to.
    uint32_t left_id, goal_id;
    float width, spread; ///< of a sample at the origin; and how much wider it is after one unit of length
} Ray;

/// A ray that leaves no triangle.
HEADRACE_FUNCTION Ray ray_along(Float3 origin, Float3 direction) {
    const Ray ray = {origin, direction, PATH_TRACER_NO_TRIANGLE, PATH_TRACER_NONE,
                     0,      0,         PATH_TRACER_NO_TRIANGLE, PATH_TRACER_NO_TRIANGLE,
                     0,      0};
    return ray;
}

typedef struct Hit {
    float distance;
    float doubt; ///< the distance is right to this
    uint32_t triangle;
    float u, v;        ///< the point is (1 - u - v) a + u b + v c
    uint32_t instance; ///< of the triangle, or PATH_TRACER_NONE
} Hit;

/// Nothing is met before `limit`.
HEADRACE_FUNCTION Hit no_hit(float limit) {
    const Hit none = {limit, 0, PATH_TRACER_NO_TRIANGLE, 0, 0, PATH_TRACER_NONE};
    return none;
}

/// A ray with two directions across it, which see corners as points of a plane.
typedef struct Sight {
    Ray ray;
    Float3 across, up;
    float origin_error; ///< what floats move the origin, as they move corners: see Instance::corner_error
} Sight;

HEADRACE_FUNCTION Sight sight_along(const Ray* ray) {
    Sight sight;
    sight.ray = *ray;
    sight.origin_error = 0;
    make_frame(ray->direction, &sight.across, &sight.up);
    return sight;
}

/// How sums of products are rounded. Where only the bounds of errors count, as is fastest, which differs from
/// device to device; what is shown in a picture, in the same way on all.
typedef enum Rounding { ROUNDED_FASTEST, ROUNDED_THE_SAME } Rounding;

HEADRACE_FUNCTION float rounded_dot(HEADRACE_ANY(Rounding) how, Float3 a, Float3 b) {
    return how == ROUNDED_FASTEST ? fused(a.x, b.x, fused(a.y, b.y, a.z * b.z)) : dot_of(a, b);
}
/// a b - c d
HEADRACE_FUNCTION float rounded_difference(HEADRACE_ANY(Rounding) how, float a, float b, float c, float d) {
    return how == ROUNDED_FASTEST ? fused(a, b, -(c * d)) : a * b - c * d;
}

/// A triangle as a ray sees it: corners as points of a plane, PATH_TRACER_SIGHT_ERROR away from where they
/// are, at most; those that are near, PATH_TRACER_SIGHT_ERROR_AT. What floats cannot tell takes a hundred
/// times as long, so that a close bound pays.
///
/// The ray is inside if twice the areas between it and all edges have one sign; where one is smaller than its
/// error, nothing is sure.
///
/// Source  Woop et al., "Watertight ray/triangle intersection", JCGT 2013, for looking along the ray
typedef struct SeenTriangle {
    Float3 a, b, c; ///< from the ray's origin
    float of_a, of_b, of_c, least,
        most;    ///< twice the area between the ray and the edge that faces a corner
    float reach; ///< how far corners are from the ray, together
    float depth_a, depth_b, depth_c, nearest, farthest; ///< along the ray
    float error;                                        ///< of corners in the plane
} SeenTriangle;

HEADRACE_FUNCTION SeenTriangle seen_triangle(HEADRACE_ANY(Rounding) how, const Triangle* triangle,
                                             const Sight* sight) {
    SeenTriangle seen;
    seen.a = sub(triangle->a, sight->ray.origin);
    seen.b = sub(triangle->b, sight->ray.origin);
    seen.c = sub(triangle->c, sight->ray.origin);
    const float ax = rounded_dot(how, seen.a, sight->across), bx = rounded_dot(how, seen.b, sight->across),
                cx = rounded_dot(how, seen.c, sight->across);
    const float ay = rounded_dot(how, seen.a, sight->up), by = rounded_dot(how, seen.b, sight->up),
                cy = rounded_dot(how, seen.c, sight->up);
    seen.of_a = rounded_difference(how, bx, cy, cx, by);
    seen.of_b = rounded_difference(how, cx, ay, ax, cy);
    seen.of_c = rounded_difference(how, ax, by, bx, ay);
    seen.reach = fabs(ax) + fabs(ay) + fabs(bx) + fabs(by) + fabs(cx) + fabs(cy);
    seen.least = smaller(smaller(seen.of_a, seen.of_b), seen.of_c);
    seen.most = larger(larger(seen.of_a, seen.of_b), seen.of_c);
    return seen;
}

HEADRACE_FUNCTION float area_error_for(const SeenTriangle* seen, float error) {
    return error * (seen->reach + 2 * error);
}
/// The ray passes outside of an edge, for certain. So it is with most triangles.
HEADRACE_FUNCTION bool is_passed_by(const SeenTriangle* seen, float error) {
    const float area_error = area_error_for(seen, error);
    return seen->least < -area_error && seen->most > area_error;
}

/// What the next functions need to know of how far along the ray it is.
HEADRACE_FUNCTION void look_along(HEADRACE_ANY(Rounding) how, SeenTriangle* seen, Float3 along) {
    seen->depth_a = rounded_dot(how, seen->a, along);
    seen->depth_b = rounded_dot(how, seen->b, along);
    seen->depth_c = rounded_dot(how, seen->c, along);
    seen->nearest = smaller(smaller(seen->depth_a, seen->depth_b), seen->depth_c);
    seen->farthest = larger(larger(seen->depth_a, seen->depth_b), seen->depth_c);
    const float far = larger(fabs(seen->nearest), fabs(seen->farthest)) + seen->reach;
    seen->error = smaller(PATH_TRACER_SIGHT_ERROR, PATH_TRACER_SIGHT_ERROR_AT(far));
}
/// The same as is_passed_by, as exactly as can be told; or the triangle is behind the origin or beyond
/// `farthest`.
HEADRACE_FUNCTION bool is_missed(const SeenTriangle* seen, float farthest) {
    return is_passed_by(seen, seen->error) || seen->farthest <= -2 * seen->error ||
           seen->nearest - 2 * seen->error >= farthest;
}
HEADRACE_FUNCTION float sum_of_areas(const SeenTriangle* seen) {
    return seen->of_a + seen->of_b + seen->of_c;
}
/// The ray passes inside of all edges, and the bound of the distance holds: the areas together are many
/// times their error.
HEADRACE_FUNCTION bool is_met(const SeenTriangle* seen) {
    const float area_error = area_error_for(seen, seen->error);
    return (seen->least > area_error || seen->most < -area_error) &&
           12 * area_error < fabs(sum_of_areas(seen));
}
/// The same, and the triangle is broad enough for the place in it: seen as a needle, the error of an area
/// would move the point far along it.
HEADRACE_FUNCTION bool has_place(const SeenTriangle* seen) {
    return is_met(seen) && seen->error * seen->reach * (seen->reach + (seen->farthest - seen->nearest)) <
                               0x1p-10f * fabs(sum_of_areas(seen));
}
/// Where it is met, if it is. Parts of the areas' sum are wrong by 8 area errors / sum, all together, so
/// that the distance is wrong by half of that times the range of depths.
HEADRACE_FUNCTION Hit met_at(HEADRACE_ANY(Rounding) how, const SeenTriangle* seen, uint32_t instance,
                             uint32_t index) {
    const float inverse = 1 / sum_of_areas(seen);
    Hit met;
    met.distance = rounded_dot(how, vec(seen->of_a, seen->of_b, seen->of_c),
                               vec(seen->depth_a, seen->depth_b, seen->depth_c)) *
                   inverse;
    met.doubt = 4 * seen->error * (1 + seen->reach * (seen->farthest - seen->nearest) * fabs(inverse));
    met.triangle = index;
    met.instance = instance;
    met.u = seen->of_b * inverse;
    met.v = seen->of_c * inverse;
    return met;
}

HEADRACE_END_NAMESPACE

#endif
