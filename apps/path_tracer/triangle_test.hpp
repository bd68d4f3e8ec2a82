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

/// How sums of products are rounded. Where only the bounds of errors count, as is fastest, which differs from
/// device to device; what is shown in a picture, in the same way on all.
enum class Rounding : uint8_t { fastest, same };

template <Rounding How>
HEADRACE_HOST_DEVICE inline float rounded_dot(Float3 a, Float3 b) {
    if constexpr (How == Rounding::fastest)
        return fused(a.x, b.x, fused(a.y, b.y, a.z * b.z));
    else
        return dot(a, b);
}
/// a b - c d
template <Rounding How>
HEADRACE_HOST_DEVICE inline float rounded_difference(float a, float b, float c, float d) {
    if constexpr (How == Rounding::fastest)
        return fused(a, b, -(c * d));
    else
        return a * b - c * d;
}

/// A triangle as a ray sees it: corners as points of a plane, PATH_TRACER_SIGHT_ERROR away from where they
/// are, at most; those that are near, PATH_TRACER_SIGHT_ERROR_AT. What floats cannot tell takes a hundred
/// times as long, so that a close bound pays.
///
/// The ray is inside if twice the areas between it and all edges have one sign; where one is smaller than its
/// error, nothing is sure.
///
/// Source  Woop et al., "Watertight ray/triangle intersection", JCGT 2013, for looking along the ray
template <Rounding How>
class SeenTriangle {
public:
    HEADRACE_HOST_DEVICE SeenTriangle(const Triangle& triangle, const Sight& sight)
        : a_(triangle.a - sight.ray.origin),
          b_(triangle.b - sight.ray.origin),
          c_(triangle.c - sight.ray.origin) {
        const float ax = rounded_dot<How>(a_, sight.across), bx = rounded_dot<How>(b_, sight.across),
                    cx = rounded_dot<How>(c_, sight.across);
        const float ay = rounded_dot<How>(a_, sight.up), by = rounded_dot<How>(b_, sight.up),
                    cy = rounded_dot<How>(c_, sight.up);
        of_a_ = rounded_difference<How>(bx, cy, cx, by);
        of_b_ = rounded_difference<How>(cx, ay, ax, cy);
        of_c_ = rounded_difference<How>(ax, by, bx, ay);
        reach_ = fabsf(ax) + fabsf(ay) + fabsf(bx) + fabsf(by) + fabsf(cx) + fabsf(cy);
        least_ = smaller(smaller(of_a_, of_b_), of_c_);
        most_ = larger(larger(of_a_, of_b_), of_c_);
    }

    /// The ray passes outside of an edge, for certain. So it is with most triangles.
    [[nodiscard]] HEADRACE_HOST_DEVICE bool is_passed() const {
        return is_passed_by(PATH_TRACER_SIGHT_ERROR);
    }

    /// What `is_passed` in the next calls, and they themselves, need to know of how far along the ray it is.
    HEADRACE_HOST_DEVICE void look_along(Float3 along) {
        depth_a_ = rounded_dot<How>(a_, along);
        depth_b_ = rounded_dot<How>(b_, along);
        depth_c_ = rounded_dot<How>(c_, along);
        nearest_ = smaller(smaller(depth_a_, depth_b_), depth_c_);
        farthest_ = larger(larger(depth_a_, depth_b_), depth_c_);
        const float far = larger(fabsf(nearest_), fabsf(farthest_)) + reach_;
        error_ = smaller(PATH_TRACER_SIGHT_ERROR, PATH_TRACER_SIGHT_ERROR_AT(far));
    }
    /// The same as `is_passed`, as exactly as can be told; or the triangle is behind the origin or beyond
    /// `farthest`.
    [[nodiscard]] HEADRACE_HOST_DEVICE bool is_missed(float farthest) const {
        return is_passed_by(error_) || farthest_ <= -2 * error_ || nearest_ - 2 * error_ >= farthest;
    }
    /// The ray passes inside of all edges, and the bound of the distance holds: the areas together are many
    /// times their error.
    [[nodiscard]] HEADRACE_HOST_DEVICE bool is_met() const {
        const float area_error = area_error_for(error_);
        return (least_ > area_error || most_ < -area_error) && 12 * area_error < fabsf(of_a_ + of_b_ + of_c_);
    }
    /// The same, and the triangle is broad enough for the place in it: seen as a needle, the error of an area
    /// would move the point far along it.
    [[nodiscard]] HEADRACE_HOST_DEVICE bool has_place() const {
        return is_met() &&
               error_ * reach_ * (reach_ + (farthest_ - nearest_)) < 0x1p-10f * fabsf(of_a_ + of_b_ + of_c_);
    }
    /// Where it is met, if it is. Parts of the areas' sum are wrong by 8 area errors / sum, all together, so
    /// that the distance is wrong by half of that times the range of depths.
    [[nodiscard]] HEADRACE_HOST_DEVICE Hit met(uint32_t index) const {
        const float inverse = 1 / (of_a_ + of_b_ + of_c_);
        return {rounded_dot<How>({of_a_, of_b_, of_c_}, {depth_a_, depth_b_, depth_c_}) * inverse,
                4 * error_ * (1 + reach_ * (farthest_ - nearest_) * fabsf(inverse)), index, of_b_ * inverse,
                of_c_ * inverse};
    }

private:
    [[nodiscard]] HEADRACE_HOST_DEVICE float area_error_for(float error) const {
        return error * (reach_ + 2 * error);
    }
    [[nodiscard]] HEADRACE_HOST_DEVICE bool is_passed_by(float error) const {
        const float area_error = area_error_for(error);
        return least_ < -area_error && most_ > area_error;
    }

    Float3 a_, b_, c_; ///< from the ray's origin
    float of_a_, of_b_, of_c_, least_,
        most_;    ///< twice the area between the ray and the edge that faces a corner
    float reach_; ///< how far corners are from the ray, together
    float depth_a_, depth_b_, depth_c_, nearest_, farthest_; ///< along the ray
    float error_;                                            ///< of corners in the plane
};

} // namespace path_tracer
