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

/// What a look at a triangle says.
enum class Met : uint8_t { no, yes, floats_cannot_tell };

/// True if the hit is on just this triangle, as another leaf has it, or one with the same corners in the same
/// order. (Twins with their corners in another order are seen with other errors: they are told apart as any.)
HEADRACE_HOST_DEVICE inline bool is_again(const SceneView& scene, const Triangle& triangle, const Hit& hit) {
    if (hit.triangle == PATH_TRACER_NO_TRIANGLE) return false;
    const Triangle& other = scene.triangles[hit.triangle];
    const auto is_same = [](Float3 a, Float3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
    return triangle.id == other.id && is_same(triangle.a, other.a) && is_same(triangle.b, other.b);
}

/// Shortens `hit` to the triangle if the ray meets it before; with AnyHit, if it meets it before
/// hit.distance. Which triangle of two is nearer, or has the lower index at one distance, does not depend on
/// their order.
template <bool AnyHit, Rounding How>
HEADRACE_HOST_DEVICE inline Met meet(const SceneView& scene, const Triangle& triangle, uint32_t index,
                                     const Sight& sight, Hit& hit) {
    SeenTriangle<How> seen(triangle, sight);
    if (seen.is_passed()) return Met::no;
    const Ray& ray = sight.ray;
    if (triangle.id == ray.left_id || (AnyHit && triangle.id == ray.goal_id)) return Met::no;
    seen.look_along(ray.direction);
    const float farthest = hit.distance + hit.doubt;
    if (seen.is_missed(farthest)) return Met::no;
    const bool is_sure = How == Rounding::fastest ? seen.is_met() : seen.has_place();
    if (!is_sure) return Met::floats_cannot_tell;
    const Hit met = seen.met(index);
    const float earliest = met.distance - met.doubt, latest = met.distance + met.doubt;
    if (latest <= 0 || earliest >= farthest) return Met::no;
    if (earliest > 0 && latest < hit.distance - hit.doubt) {
        hit = met;
        return Met::yes;
    }
    if (AnyHit || met.distance != hit.distance || !is_again(scene, triangle, hit))
        return Met::floats_cannot_tell;
    if (index < hit.triangle) hit.triangle = index;
    return Met::no;
}

/// The same, and exact_test.hpp decides where floats cannot tell. The place and the distance that count then
/// depend on the ray and the triangle alone.
template <bool AnyHit>
HEADRACE_HOST_DEVICE inline bool decide(const SceneView& scene, uint32_t index, const Sight& sight,
                                        Hit& hit) {
    const Ray& ray = sight.ray;
    const Triangle triangle = fetch(scene.triangles, index);
    const Met met = meet<AnyHit, Rounding::same>(scene, triangle, index, sight, hit);
    if (met != Met::floats_cannot_tell) return met == Met::yes;
    const ExactHit exact =
        exact_hit_before(scene.triangles.origin, scene.details.origin, ray.left, ray.u, ray.v, ray.origin,
                         ray.direction, index, AnyHit ? PATH_TRACER_NO_TRIANGLE : hit.triangle);
    if (!(exact.distance > 0) || (AnyHit && !(exact.distance < Wide{hit.distance}))) return false;
    SeenTriangle<Rounding::same> seen(triangle, sight);
    seen.look_along(ray.direction);
    const auto distance = static_cast<float>(exact.distance);
    hit = seen.has_place() ? seen.met(index) : Hit{distance, distance * 0x1p-23f, index, exact.u, exact.v};
    return true;
}

/// What happens where floats cannot tell. A call of exact_test.hpp in a loop would cost registers in all of
/// the loop, and other lanes would wait for it each time: so such triangles wait until the walk has ended. Of
/// a million rays some hundred meet too many of them; these walk again, and decide at once.
enum class Doubts : uint8_t { wait, are_decided };
constexpr uint32_t most_doubts = 8; ///< triangles that wait

/// Triangles that wait. One more is counted where there were too many.
struct Waiting {
    uint32_t triangles[most_doubts];
    uint32_t count = 0;
};

/// The walk behind nearest_hit and is_blocked: `AnyHit` ends it at the first triangle met, and so does a
/// doubt for which there is no room. Where doubts wait, only the hit's triangle is right.
///
/// First down to a leaf, then its triangles, so that lanes which run in step do the same at most times. A
/// lane that has found a leaf goes on while others still look for theirs: it keeps the first and stops at
/// the next.
///
/// Source  Aila and Laine, "Understanding the efficiency of ray traversal on GPUs", HPG 2009
template <bool AnyHit, Doubts How>
HEADRACE_HOST_DEVICE inline Hit walk(const SceneView& scene, const Sight& sight, float limit,
                                     Waiting& waiting) {
    constexpr uint32_t none = 0; // the root, which is no leaf
    Hit hit{limit, 0, PATH_TRACER_NO_TRIANGLE, 0, 0};
    const Ray& ray = sight.ray;
    const Float3 inverse{inverse_slope(ray.direction.x), inverse_slope(ray.direction.y),
                         inverse_slope(ray.direction.z)};
    uint32_t stack[PATH_TRACER_STACK + 1];
    stack[0] = PATH_TRACER_WALK_ENDS;
    uint32_t on_stack = 1;
    uint32_t child = 0; // the root
    uint32_t leaf = none;
    while (child != PATH_TRACER_WALK_ENDS) {
        while (is_inner(child)) {
            const BvhNode node = fetch(scene.nodes, child >> 4);
            float near0, near1;
            enter_children(node, ray.origin, inverse, hit.distance + hit.doubt, near0, near1);
            const bool zero_first = near0 <= near1;
            const float nearer = zero_first ? near0 : near1;
            const float farther = zero_first ? near1 : near0;
            if (nearer < PATH_TRACER_MISSES) {
                if (farther < PATH_TRACER_MISSES) stack[on_stack++] = zero_first ? node.child1 : node.child0;
                child = zero_first ? node.child0 : node.child1;
            } else {
                child = stack[--on_stack];
            }
            if (leaf == none && is_leaf(child)) {
                leaf = child;
                child = stack[--on_stack];
            }
            if (nobody(leaf == none)) break;
        }
        while (leaf != none) {
            const uint32_t first = leaf >> 4, end = first + (leaf & 15);
            for (uint32_t i = first; i < end; ++i) {
                if constexpr (How == Doubts::are_decided) {
                    if (decide<AnyHit>(scene, i, sight, hit) && AnyHit) return hit;
                    continue;
                }
                const Met met =
                    meet<AnyHit, Rounding::fastest>(scene, fetch(scene.triangles, i), i, sight, hit);
                if (AnyHit && met == Met::yes) return hit;
                if (met == Met::floats_cannot_tell) {
                    if (waiting.count >= most_doubts) {
                        waiting.count = most_doubts + 1;
                        return hit;
                    }
                    waiting.triangles[waiting.count++] = i;
                }
            }
            leaf = none;
            if (is_leaf(child)) {
                leaf = child;
                child = stack[--on_stack];
            }
        }
    }
    return hit;
}

/// What the ray meets, of the triangle that a walk has found and those that wait. For few rays: never
/// inlined. Its arguments are numbers: those go in registers, and structs by way of memory, which all rays
/// would write to.
template <bool AnyHit>
[[nodiscard]] HEADRACE_HOST_DEVICE inline __attribute__((noinline)) Hit
decided(const BvhNode* nodes, const Triangle* triangles, const TriangleDetail* details, float x, float y,
        float z, float along_x, float along_y, float along_z, uint32_t left, float u, float v,
        uint32_t left_id, uint32_t goal_id, float limit, uint32_t found, Waiting& waiting) {
    constexpr headrace::Extent all{{~uint64_t{0}, 1, 1}}; // the first walk has checked them
    const SceneView scene{{nodes, all}, {triangles, all}, {details, all}, {}, {}};
    const Sight sight(Ray{{x, y, z}, {along_x, along_y, along_z}, left, u, v, left_id, goal_id});
    if (waiting.count > most_doubts) return walk<AnyHit, Doubts::are_decided>(scene, sight, limit, waiting);
    Hit hit{limit, 0, PATH_TRACER_NO_TRIANGLE, 0, 0};
    if (found != PATH_TRACER_NO_TRIANGLE) decide<AnyHit>(scene, found, sight, hit);
    for (uint32_t i = 0; i < waiting.count; ++i)
        if (decide<AnyHit>(scene, waiting.triangles[i], sight, hit) && AnyHit) break;
    return hit;
}
template <bool AnyHit>
HEADRACE_HOST_DEVICE inline Hit decided(const SceneView& scene, const Ray& ray, float limit, uint32_t found,
                                        Waiting& waiting) {
    const auto [x, y, z] = ray.origin;
    const auto [along_x, along_y, along_z] = ray.direction;
    return decided<AnyHit>(scene.nodes.origin, scene.triangles.origin, scene.details.origin, x, y, z, along_x,
                           along_y, along_z, ray.left, ray.u, ray.v, ray.left_id, ray.goal_id, limit, found,
                           waiting);
}

HEADRACE_HOST_DEVICE inline Hit nearest_hit(const SceneView& scene, const Ray& ray) {
    constexpr float limit = PATH_TRACER_FAR_AWAY;
    const Sight sight(ray);
    Waiting waiting;
    const Hit hit = walk<false, Doubts::wait>(scene, sight, limit, waiting);
    if (waiting.count == 0) {
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE) return {limit, 0, PATH_TRACER_NO_TRIANGLE, 0, 0};
        SeenTriangle<Rounding::same> seen(fetch(scene.triangles, hit.triangle), sight);
        seen.look_along(ray.direction);
        if (seen.has_place()) return seen.met(hit.triangle);
    }
    return decided<false>(scene, ray, limit, hit.triangle, waiting);
}

/// True if something lies between the ray's origin and `distance`.
HEADRACE_HOST_DEVICE inline bool is_blocked(const SceneView& scene, const Ray& ray, float distance) {
    Waiting waiting;
    const Hit hit = walk<true, Doubts::wait>(scene, Sight(ray), distance, waiting);
    if (hit.triangle != PATH_TRACER_NO_TRIANGLE) return true;
    return waiting.count != 0 &&
           decided<true>(scene, ray, distance, PATH_TRACER_NO_TRIANGLE, waiting).triangle !=
               PATH_TRACER_NO_TRIANGLE;
}

} // namespace path_tracer
