// apps/path_tracer/triangle_test.hpp - where a ray meets a triangle, in floats with a bound of their error:
// either it is sure, or exact_test.hpp decides.
#pragma once
#include "vector_math.hpp"

namespace path_tracer {

struct Ray {
    Float3 origin, direction; ///< the direction has length 1
    /// The triangle that the ray leaves, and where: its exact origin. Without one it is `origin` itself.
    uint32_t left = PATH_TRACER_NO_TRIANGLE;
    float u = 0, v = 0;
    /// Triangles that the ray cannot meet, by id: the one that it leaves, and the one that a shadow ray goes
    /// to.
    uint32_t left_id = PATH_TRACER_NO_TRIANGLE, goal_id = PATH_TRACER_NO_TRIANGLE;
};

struct Hit {
    float distance;
    float doubt; ///< the distance is right to this
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

/// A triangle as a ray sees it.
struct SeenTriangle {
    /// False: the ray passes by, or meets it behind its origin or beyond all that counts. For certain.
    bool may_be_met;
    /// Whether `met` is known: the ray passes inside of all edges, and the triangle is broad enough to be
    /// seen.
    bool is_sure;
    Hit met;
};

/// Corners are seen as points of a plane, each PATH_TRACER_SIGHT_ERROR away from where it is, at most; those
/// that are near, PATH_TRACER_SIGHT_ERROR_AT. What floats cannot tell takes a hundred times as long, so that
/// a close bound pays. The ray is inside if twice the areas between it and all edges have one sign; where one
/// is smaller than its error, nothing is sure.
///
/// `farthest`: what is met beyond does not count.
/// Source  Woop et al., "Watertight ray/triangle intersection", JCGT 2013, for looking along the ray
HEADRACE_HOST_DEVICE inline SeenTriangle look_at(const Triangle& triangle, uint32_t index, const Sight& sight,
                                                 float farthest) {
    constexpr float most_error = PATH_TRACER_SIGHT_ERROR;
    SeenTriangle seen;
    seen.may_be_met = false;
    const Float3 a = triangle.a - sight.ray.origin, b = triangle.b - sight.ray.origin,
                 c = triangle.c - sight.ray.origin;
    const float ax = dot(a, sight.across), bx = dot(b, sight.across), cx = dot(c, sight.across);
    const float ay = dot(a, sight.up), by = dot(b, sight.up), cy = dot(c, sight.up);
    const float of_a = bx * cy - cx * by, of_b = cx * ay - ax * cy, of_c = ax * by - bx * ay;
    const float reach = fabsf(ax) + fabsf(ay) + fabsf(bx) + fabsf(by) + fabsf(cx) + fabsf(cy);
    const float most_area_error = most_error * (reach + 2 * most_error);
    const float least = smaller(smaller(of_a, of_b), of_c), most = larger(larger(of_a, of_b), of_c);
    if (least < -most_area_error && most > most_area_error) return seen;

    const float depth_a = dot(a, sight.ray.direction), depth_b = dot(b, sight.ray.direction),
                depth_c = dot(c, sight.ray.direction);
    const float nearest_corner = smaller(smaller(depth_a, depth_b), depth_c),
                farthest_corner = larger(larger(depth_a, depth_b), depth_c);
    const float far = larger(fabsf(nearest_corner), fabsf(farthest_corner)) + reach;
    const float error = smaller(most_error, PATH_TRACER_SIGHT_ERROR_AT(far));
    const float area_error = error * (reach + 2 * error);
    if (least < -area_error && most > area_error) return seen;
    if (farthest_corner <= -2 * error || nearest_corner - 2 * error >= farthest) return seen;
    seen.may_be_met = true;
    const float range = farthest_corner - nearest_corner;
    const float sum = of_a + of_b + of_c;
    // The last: in a triangle seen as a needle the error of an area would move the point far along it.
    seen.is_sure =
        (least > area_error || most < -area_error) && error * reach * (reach + range) < 0x1p-10f * fabsf(sum);
    if (!seen.is_sure) return seen;
    const float inverse = 1 / sum;
    seen.met = {(of_a * depth_a + of_b * depth_b + of_c * depth_c) * inverse,
                4 * error * (1 + reach * range * fabsf(inverse)), index, of_b * inverse, of_c * inverse};
    seen.may_be_met = seen.met.distance + seen.met.doubt > 0 && seen.met.distance - seen.met.doubt < farthest;
    return seen;
}

} // namespace path_tracer
