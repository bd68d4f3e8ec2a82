// apps/path_tracer/intersect.hpp - what a ray meets: a walk through the BVH, watertight at shared edges.
#pragma once
#include "box_test.hpp"
#include "exact_test.hpp"
#include "gpu_habits.hpp"
#include "triangle_test.hpp"
#include <headrace/domains/view.hpp>

namespace path_tracer {

/// The scene as kernels see it.
struct SceneView {
    headrace::View<const BvhNode> nodes;
    headrace::View<const Triangle> triangles;     ///< in the order of the leaves
    headrace::View<const TriangleDetail> details; ///< of each triangle
    headrace::View<const Material> materials;
    headrace::View<const Light> lights;
};

/// Kinds of a node's children; neither for PATH_TRACER_WALK_ENDS.
HEADRACE_HOST_DEVICE inline bool is_inner(uint32_t child) { return (child & 15) == 0; }
HEADRACE_HOST_DEVICE inline bool is_leaf(uint32_t child) {
    return !is_inner(child) && child != PATH_TRACER_WALK_ENDS;
}

/// Reciprocal of a ray's slope along one axis. Kept finite, so that 0 x infinity never arises where the ray's
/// origin lies in the plane of a box.
HEADRACE_HOST_DEVICE inline float inverse_slope(float slope) {
    constexpr float least = 1e-20f;
    const float size = slope < 0 ? -slope : slope;
    return 1.0f / (size > least ? slope : slope < 0 ? -least : least);
}

/// What happens where floats cannot tell: the walk ends, and another one begins; or exact_test.hpp decides. A
/// call of that in a loop would cost registers in all of the loop.
enum class Doubts : uint8_t { end_the_walk, are_decided };

/// Shortens `hit` to the triangle if the ray meets it before; with AnyHit, if it meets it before
/// hit.distance. Which triangle of two is nearer, or has the lower index at one distance, does not depend on
/// their order, and neither do the place and the distance that count then.
///
/// `is_doubtful`: becomes true where the walk is to end.
template <bool AnyHit, Doubts How>
HEADRACE_HOST_DEVICE inline bool meet(const SceneView& scene, const Triangle& triangle, uint32_t index,
                                      const Sight& sight, Hit& hit, bool& is_doubtful) {
    const Ray& ray = sight.ray;
    if (triangle.id == ray.left_id || (AnyHit && triangle.id == ray.goal_id)) return false;
    SeenTriangle seen = look_at(triangle, index, sight, hit.distance + hit.doubt);
    if (!seen.may_be_met) return false;
    Hit& met = seen.met;
    if (seen.is_sure) {
        if (met.distance - met.doubt > 0 && met.distance + met.doubt < hit.distance - hit.doubt) {
            hit = met;
            return true;
        }
        if (met.distance == hit.distance && met.u == hit.u && met.v == hit.v) { // from another leaf
            hit.triangle = index < hit.triangle ? index : hit.triangle;
            return false;
        }
    }
    if constexpr (How == Doubts::end_the_walk) {
        is_doubtful = true;
        return false;
    }
    const ExactHit exact =
        exact_hit_before(scene.triangles.origin, scene.details.origin, ray.left, ray.u, ray.v, ray.origin,
                         ray.direction, index, AnyHit ? PATH_TRACER_NO_TRIANGLE : hit.triangle);
    if (!(exact.distance > 0) || (AnyHit && !(exact.distance < Wide{hit.distance}))) return false;
    if (!seen.is_sure) {
        const auto distance = static_cast<float>(exact.distance);
        met = {distance, distance * 0x1p-23f, index, exact.u, exact.v};
    }
    hit = met;
    return true;
}

/// The walk behind nearest_hit and is_blocked: `AnyHit` ends it at the first triangle met, a doubt ends it
/// if `How` says so.
///
/// First down to a leaf, then its triangles, so that lanes which run in step do the same at most times. A
/// lane that has found a leaf goes on while others still look for theirs: it keeps the first and stops at
/// the next.
///
/// Source  Aila and Laine, "Understanding the efficiency of ray traversal on GPUs", HPG 2009
template <bool AnyHit, Doubts How>
HEADRACE_HOST_DEVICE inline Hit walk(const SceneView& scene, const Ray& ray, float limit, bool& is_doubtful) {
    constexpr uint32_t none = 0; // the root, which is no leaf
    Hit hit{limit, 0, PATH_TRACER_NO_TRIANGLE, 0, 0};
    const Sight sight(ray);
    const Float3 inverse{inverse_slope(ray.direction.x), inverse_slope(ray.direction.y),
                         inverse_slope(ray.direction.z)};
    uint32_t stack[PATH_TRACER_STACK + 1];
    stack[0] = PATH_TRACER_WALK_ENDS;
    uint32_t waiting = 1;
    uint32_t child = 0; // the root
    uint32_t leaf = none;
    is_doubtful = false;
    while (child != PATH_TRACER_WALK_ENDS && !is_doubtful) {
        while (is_inner(child)) {
            const BvhNode node = fetch(scene.nodes, child >> 4);
            float near0, near1;
            enter_children(node, ray.origin, inverse, hit.distance + hit.doubt, near0, near1);
            const bool zero_first = near0 <= near1;
            const float nearer = zero_first ? near0 : near1;
            const float farther = zero_first ? near1 : near0;
            if (nearer < PATH_TRACER_MISSES) {
                if (farther < PATH_TRACER_MISSES) stack[waiting++] = zero_first ? node.child1 : node.child0;
                child = zero_first ? node.child0 : node.child1;
            } else {
                child = stack[--waiting];
            }
            if (leaf == none && is_leaf(child)) {
                leaf = child;
                child = stack[--waiting];
            }
            if (nobody(leaf == none)) break;
        }
        while (leaf != none) {
            const uint32_t first = leaf >> 4, end = first + (leaf & 15);
            for (uint32_t i = first; i < end; ++i)
                if (meet<AnyHit, How>(scene, fetch(scene.triangles, i), i, sight, hit, is_doubtful) && AnyHit)
                    return hit;
            leaf = none;
            if (is_leaf(child)) {
                leaf = child;
                child = stack[--waiting];
            }
        }
    }
    return hit;
}

/// For the few rays that meet a doubtful triangle. Never inlined, as above.
template <bool AnyHit>
[[nodiscard]] HEADRACE_HOST_DEVICE inline __attribute__((noinline)) Hit
decided_walk(const SceneView& scene, const Ray& ray, float limit) {
    bool is_doubtful;
    return walk<AnyHit, Doubts::are_decided>(scene, ray, limit, is_doubtful);
}

template <bool AnyHit>
HEADRACE_HOST_DEVICE inline Hit walk(const SceneView& scene, const Ray& ray, float limit) {
    bool is_doubtful;
    const Hit hit = walk<AnyHit, Doubts::end_the_walk>(scene, ray, limit, is_doubtful);
    return is_doubtful ? decided_walk<AnyHit>(scene, ray, limit) : hit;
}

HEADRACE_HOST_DEVICE inline Hit nearest_hit(const SceneView& scene, const Ray& ray) {
    return walk<false>(scene, ray, PATH_TRACER_FAR_AWAY);
}

/// True if something lies between the ray's origin and `distance`.
HEADRACE_HOST_DEVICE inline bool is_blocked(const SceneView& scene, const Ray& ray, float distance) {
    return walk<true>(scene, ray, distance).triangle != PATH_TRACER_NO_TRIANGLE;
}

} // namespace path_tracer
