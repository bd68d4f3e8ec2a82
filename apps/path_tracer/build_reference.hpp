// apps/path_tracer/build_reference.hpp - triangles, or the parts of them that lie in a box, as the builder of
// the BVH sees them.
#pragma once
#include "vector_math.hpp"

#include <array>
#include <limits>
#include <span>
#include <utility>

namespace path_tracer {

inline float along(const Float3& point, int axis) {
    return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}
inline void set_along(Float3& point, int axis, float to) {
    (axis == 0 ? point.x : axis == 1 ? point.y : point.z) = to;
}

struct Box {
    Float3 lo{std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
              std::numeric_limits<float>::max()};
    Float3 hi{-lo.x, -lo.y, -lo.z};

    void add(const Box& other) {
        lo = {smaller(lo.x, other.lo.x), smaller(lo.y, other.lo.y), smaller(lo.z, other.lo.z)};
        hi = {larger(hi.x, other.hi.x), larger(hi.y, other.hi.y), larger(hi.z, other.hi.z)};
    }
    void add(Float3 point) { add(Box{point, point}); }
    void clip_to(const Box& other) {
        lo = {larger(lo.x, other.lo.x), larger(lo.y, other.lo.y), larger(lo.z, other.lo.z)};
        hi = {smaller(hi.x, other.hi.x), smaller(hi.y, other.hi.y), smaller(hi.z, other.hi.z)};
    }
    [[nodiscard]] bool is_empty() const { return lo.x > hi.x || lo.y > hi.y || lo.z > hi.z; }
    [[nodiscard]] float half_area() const {
        const Float3 size = hi - lo;
        return size.x < 0 ? 0 : size.x * size.y + size.y * size.z + size.z * size.x;
    }
};

inline Box united(Box a, const Box& b) {
    a.add(b);
    return a;
}

inline Box box_of(const Triangle& triangle) {
    Box box;
    for (const Float3 corner : {triangle.a, triangle.b, triangle.c}) box.add(corner);
    return box;
}

/// The order in which triangles with the same corners count: see comes_before.
inline std::array<uint32_t, 3> twin_key(const Triangle& triangle, uint32_t index) {
    return {triangle.id, triangle.material, index};
}

/// Two triangles, by their indices, or one: then the second is PATH_TRACER_NO_TRIANGLE.
using PairOfTriangles = std::array<uint32_t, 2>;

inline Box box_of(std::span<const Triangle> triangles, const PairOfTriangles& pair) {
    Box box = box_of(triangles[pair[0]]);
    if (pair[1] != PATH_TRACER_NO_TRIANGLE) box.add(box_of(triangles[pair[1]]));
    return box;
}

/// The part of triangle or pair `index` within `box`.
struct Reference {
    Box box;
    uint32_t index;

    [[nodiscard]] float centre(int axis) const { return (along(box.lo, axis) + along(box.hi, axis)) * 0.5f; }
};

/// Both sides of a plane across `axis`, which goes through the reference's box. Either may be empty.
inline std::pair<Reference, Reference> cut(const Reference& reference, const Triangle& triangle, int axis,
                                           float plane) {
    Reference below{{}, reference.index}, above{{}, reference.index};
    const Float3 corners[3] = {triangle.a, triangle.b, triangle.c};
    for (int i = 0; i < 3; ++i) {
        const Float3 from = corners[i], to = corners[(i + 1) % 3];
        const float at = along(from, axis), next = along(to, axis);
        if (at <= plane) below.box.add(from);
        if (at >= plane) above.box.add(from);
        if ((at < plane && plane < next) || (next < plane && plane < at)) {
            const float share = (plane - at) / (next - at);
            Float3 crossing = from * (1 - share) + to * share;
            set_along(crossing, axis, plane);
            below.box.add(crossing);
            above.box.add(crossing);
        }
    }
    for (Box* box : {&below.box, &above.box}) {
        box->clip_to(reference.box);
        if (box->is_empty()) *box = {}; // which Box::add ignores
    }
    return {below, above};
}

/// What references are parts of: triangles, or, if there are any, pairs of them.
struct Shapes {
    std::span<const Triangle> triangles;
    std::span<const PairOfTriangles> pairs = {};

    /// visit(triangle) for each that the reference is a part of.
    template <class Visit>
    void for_each_triangle(const Reference& reference, const Visit& visit) const {
        if (pairs.empty()) return visit(triangles[reference.index]);
        const auto [first, second] = pairs[reference.index];
        visit(triangles[first]);
        if (second != PATH_TRACER_NO_TRIANGLE) visit(triangles[second]);
    }

    /// Both sides of a plane across `axis`, which goes through the reference's box. Either may be empty.
    [[nodiscard]] std::pair<Reference, Reference> cut(const Reference& reference, int axis,
                                                      float plane) const {
        if (pairs.empty()) return path_tracer::cut(reference, triangles[reference.index], axis, plane);
        const auto [first, second] = pairs[reference.index];
        auto sides = path_tracer::cut(reference, triangles[first], axis, plane);
        if (second != PATH_TRACER_NO_TRIANGLE) {
            const auto others = path_tracer::cut(reference, triangles[second], axis, plane);
            sides.first.box.add(others.first.box);
            sides.second.box.add(others.second.box);
        }
        return sides;
    }
};

} // namespace path_tracer
