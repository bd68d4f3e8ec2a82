// apps/path_tracer/intersect.h - what a ray meets: a walk through the BVH, watertight at shared edges. C++
// and OpenCL C read this file, after the scene as kernels see it (scene_view.hpp, path_tracer.cl).
#ifndef HEADRACE_PATH_TRACER_INTERSECT_H
#define HEADRACE_PATH_TRACER_INTERSECT_H
#include "box_test.h"
#include "exact_test.h"
#include "instance.h"
#include "opacity.h"

#if !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(__OPENCL_C_VERSION__)
    #define PATH_TRACER_ON_HOST 1
    #include "host_walk.hpp"
#else
    #define PATH_TRACER_ON_HOST 0
#endif

HEADRACE_NAMESPACE(path_tracer)

HEADRACE_FUNCTION Float3 point_of(const Triangle* triangle, float u, float v) {
    return add(add(scaled(triangle->a, 1 - u - v), scaled(triangle->b, u)), scaled(triangle->c, v));
}

/// Kinds of a node's children; none of them for PATH_TRACER_WALK_ENDS and PATH_TRACER_MESH_ENDS.
HEADRACE_FUNCTION bool is_inner(uint32_t child) { return (child & 15) == 0; }
HEADRACE_FUNCTION bool is_leaf(uint32_t child) { return (child & 15) - 1 < PATH_TRACER_MOST_IN_LEAF; }
HEADRACE_FUNCTION bool is_instance(uint32_t child) {
    return (child & 15) == PATH_TRACER_INSTANCE && child != PATH_TRACER_WALK_ENDS;
}

/// Reciprocal of a ray's slope along one axis. Kept finite, so that 0 x infinity never arises where the ray's
/// origin lies in the plane of a box.
HEADRACE_FUNCTION float inverse_slope(float slope) {
    const float least = 1e-20f;
    const float size = slope < 0 ? -slope : slope;
    return 1.0f / (size > least ? slope : slope < 0 ? -least : least);
}

/// What a look at a triangle says.
typedef enum Met { MET_NO, MET_YES, FLOATS_CANNOT_TELL } Met;

/// True if the hit is on just this triangle, as another leaf has it, or one with the same corners in the same
/// order. (Twins with their corners in another order are seen with other errors: they are told apart as any.)
HEADRACE_FUNCTION bool is_again(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                const Triangle* triangle, uint32_t instance, const Hit* hit) {
    if (hit->triangle == PATH_TRACER_NO_TRIANGLE) return false;
    if (scene->triangles[hit->triangle].id != triangle->id) return false;
    HEADRACE_IF_CONSTEXPR (has_instances) {
        if (instance != hit->instance) return false;
    }
    const Triangle other = triangle_of(has_instances, scene, hit->instance, hit->triangle);
    return is_same_point(triangle->a, other.a) && is_same_point(triangle->b, other.b);
}

/// True for triangles that the ray cannot meet: see Ray. No instance emits light, so none is its goal.
HEADRACE_FUNCTION bool is_end_of(HEADRACE_ANY(bool) any_hit, HEADRACE_ANY(bool) has_instances, const Ray* ray,
                                 const Triangle* triangle, uint32_t instance) {
    if (any_hit && triangle->id == ray->goal_id) return true;
    if (triangle->id != ray->left_id) return false;
    HEADRACE_IF_CONSTEXPR (has_instances) return instance == ray->left_instance;
    return true;
}

/// What floats move the corners of a triangle and the ray's origin, in an instance or where the ray leaves
/// one.
HEADRACE_FUNCTION float placing_error(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                      uint32_t instance, const Sight* sight) {
    HEADRACE_IF_CONSTEXPR (has_instances) {
        return corner_error_of(has_instances, scene, instance) + sight->origin_error;
    }
    return 0;
}

/// Where a ray meets a triangle that it is known to meet, with the same bits on all devices. False: floats
/// cannot tell. `error`: see placing_error
HEADRACE_FUNCTION bool find_place_in(const Triangle* triangle, float error, uint32_t instance, uint32_t index,
                                     const Sight* sight, Hit* hit) {
    SeenTriangle seen = seen_triangle(HEADRACE_CONSTANT(Rounding, ROUNDED_THE_SAME), triangle, sight);
    look_along(HEADRACE_CONSTANT(Rounding, ROUNDED_THE_SAME), &seen, sight->ray.direction);
    seen.error += error;
    if (!has_place(&seen)) return false;
    *hit = met_at(HEADRACE_CONSTANT(Rounding, ROUNDED_THE_SAME), &seen, instance, index);
    return true;
}
HEADRACE_FUNCTION bool find_place(HEADRACE_ANY(bool) has_instances, const SceneView* scene, uint32_t instance,
                                  uint32_t index, const Sight* sight, Hit* hit) {
    const Triangle triangle = triangle_of(has_instances, scene, instance, index);
    return find_place_in(&triangle, placing_error(has_instances, scene, instance, sight), instance, index,
                         sight, hit);
}

/// Shortens `hit` to the triangle if the ray meets it before; with `any_hit`, if it meets it before
/// hit->distance. Which triangle of two is nearer, or comes first at one distance, does not depend on their
/// order.
///
/// `passes_holes`: the ray meets no triangle at a point where all light passes
HEADRACE_FUNCTION Met meet(HEADRACE_ANY(bool) any_hit, HEADRACE_ANY(bool) has_instances,
                           HEADRACE_ANY(bool) passes_holes, HEADRACE_ANY(Rounding) how,
                           const SceneView* scene, const Triangle* triangle, uint32_t instance,
                           uint32_t index, const Sight* sight, Hit* hit) {
    const float error = placing_error(has_instances, scene, instance, sight);
    SeenTriangle seen = seen_triangle(how, triangle, sight);
    if (is_passed_by(&seen, PATH_TRACER_SIGHT_ERROR + error)) return MET_NO;
    const Ray* ray = &sight->ray;
    if (is_end_of(any_hit, has_instances, ray, triangle, instance)) return MET_NO;
    look_along(how, &seen, ray->direction);
    seen.error += error;
    const float farthest = hit->distance + hit->doubt;
    if (is_missed(&seen, farthest)) return MET_NO;
    const bool is_sure = how == ROUNDED_FASTEST ? is_met(&seen) : has_place(&seen);
    if (!is_sure) return FLOATS_CANNOT_TELL;
    const Hit met = met_at(how, &seen, instance, index);
    const float earliest = met.distance - met.doubt, latest = met.distance + met.doubt;
    if (latest <= 0 || earliest >= farthest) return MET_NO;
    HEADRACE_IF_CONSTEXPR (passes_holes) {
        if (may_have_hole(triangle)) {
            Hit place = met;
            if (!find_place_in(triangle, error, instance, index, sight, &place)) return FLOATS_CANNOT_TELL;
            if (is_hole(*scene, *triangle, place, ray->width + ray->spread * place.distance)) return MET_NO;
        }
    }
    if (earliest > 0 && latest < hit->distance - hit->doubt) {
        *hit = met;
        return MET_YES;
    }
    if (any_hit || met.distance != hit->distance || !is_again(has_instances, scene, triangle, instance, hit))
        return FLOATS_CANNOT_TELL;
    if (index < hit->triangle) hit->triangle = index;
    return MET_NO;
}

/// As `meet`, and exact_test.h decides where floats cannot tell. The place and the distance that count then
/// depend on the ray and the triangle alone.
HEADRACE_FUNCTION bool decide(HEADRACE_ANY(bool) any_hit, HEADRACE_ANY(bool) has_instances,
                              const SceneView* scene, uint32_t instance, uint32_t index, const Sight* sight,
                              Hit* hit) {
    const Ray* ray = &sight->ray;
    const Triangle triangle = triangle_of(has_instances, scene, instance, index);
    const Met met =
        meet(any_hit, has_instances, HEADRACE_CONSTANT(bool, false),
             HEADRACE_CONSTANT(Rounding, ROUNDED_THE_SAME), scene, &triangle, instance, index, sight, hit);
    if (met != FLOATS_CANNOT_TELL) return met == MET_YES;
    const ExactScene exactly = {PATH_TRACER_ORIGIN(scene->triangles), PATH_TRACER_ORIGIN(scene->details),
                                PATH_TRACER_ORIGIN(scene->instances)};
    const ExactHit exact =
        exact_hit_before(exactly, ray->left, ray->left_instance, ray->u, ray->v, ray->origin, ray->direction,
                         instance, index, hit->instance, any_hit ? PATH_TRACER_NO_TRIANGLE : hit->triangle);
    if (!(exact.distance > 0) || (any_hit && !(exact.distance < (Wide)hit->distance))) return false;
    if (find_place(has_instances, scene, instance, index, sight, hit)) return true;
    hit->distance = (float)exact.distance;
    hit->doubt = hit->distance * 0x1p-23f;
    hit->instance = instance;
    hit->triangle = index;
    hit->u = exact.u;
    hit->v = exact.v;
    return true;
}

/// Triangles where floats cannot tell. A call of exact_test.h in a loop would cost registers in all of the
/// loop, and other lanes would wait for it each time: so such triangles wait until the walk has ended. Of
/// a million rays some hundred meet too many of them; these walk again, and decide at once.
#define PATH_TRACER_MOST_DOUBTS 8u

/// Triangles that wait. One more is counted where there were too many.
typedef struct Waiting {
    uint32_t triangles[PATH_TRACER_MOST_DOUBTS], instances[PATH_TRACER_MOST_DOUBTS];
    uint32_t count;
} Waiting;

/// The boxes of a node as a ray sees them: those of the scene, or of a mesh in its own coordinates, where
/// the ray is not as long.
typedef struct BoxRay {
    Float3 origin, inverse;
    Float3 margin; ///< see Instance
} BoxRay;

HEADRACE_FUNCTION Float3 inverse_slopes(Float3 direction) {
    return vec(inverse_slope(direction.x), inverse_slope(direction.y), inverse_slope(direction.z));
}
HEADRACE_FUNCTION BoxRay box_ray(const Ray* ray) {
    const BoxRay boxes = {ray->origin, inverse_slopes(ray->direction), {0, 0, 0}};
    return boxes;
}
HEADRACE_FUNCTION BoxRay box_ray_in(const Instance* instance, const Ray* ray) {
    const BoxRay boxes = {mapped_point(&instance->to_mesh, ray->origin),
                          inverse_slopes(turned_way(&instance->to_mesh, ray->direction)), instance->margin};
    return boxes;
}

/// The walk behind nearest_hit_before and any_hit_before: `any_hit` ends it at the first triangle met, and so
/// does a doubt for which there is no room. Where doubts wait, only the hit's triangle is right; unless
/// `decides` at once. A walk passes holes; one that decides does not, and its caller looks whether the hit is
/// one.
///
/// First down to a leaf, then its triangles, so that lanes which run in step do the same at most times. A
/// lane that has found a leaf goes on while others still look for theirs: it keeps the first and stops at
/// the next. With no leaf kept, it may go from the scene to a mesh and back.
///
/// Source  Aila and Laine, "Understanding the efficiency of ray traversal on GPUs", HPG 2009
#if !PATH_TRACER_ON_HOST
    #define PATH_TRACER_WALK HEADRACE_FUNCTION
#else
    #define PATH_TRACER_WALK                                                                                 \
        HEADRACE_FUNCTION_APART // where g++ puts it into the shading, registers are lacking
#endif
PATH_TRACER_WALK Hit walk(HEADRACE_ANY(bool) any_hit, HEADRACE_ANY(int) shading, HEADRACE_ANY(bool) decides,
                          const SceneView* scene, const Sight* sight, float limit, Waiting* waiting) {
    const uint32_t none = 0; // the root, which is no leaf
    Hit hit = no_hit(limit);
    BoxRay boxes = box_ray(&sight->ray);
    uint32_t instance = PATH_TRACER_NONE; // in which it is just now
    uint32_t stack[PATH_TRACER_STACK + 1];
    stack[0] = PATH_TRACER_WALK_ENDS;
    uint32_t on_stack = 1;
    uint32_t child = 0; // the root
    uint32_t leaf = none;
    while (child != PATH_TRACER_WALK_ENDS) {
        while (is_inner(child)) {
            const BvhNode node = fetch(scene->nodes, child >> 4);
            float near0, near1;
            enter_children(PATH_TRACER_HAS_INSTANCES(shading), &node, boxes.origin, boxes.inverse,
                           boxes.margin, hit.distance + hit.doubt, &near0, &near1);
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
            if (no_lane(leaf == none)) break;
        }
        while (leaf != none) {
            const uint32_t first = leaf >> 4, end = first + (leaf & 15);
            for (uint32_t i = first; i < end; ++i) {
                HEADRACE_IF_CONSTEXPR (decides) {
                    if (decide(any_hit, PATH_TRACER_HAS_INSTANCES(shading), scene, instance, i, sight,
                               &hit) &&
                        any_hit)
                        return hit;
                    continue;
                }
                const Triangle triangle = triangle_of(PATH_TRACER_HAS_INSTANCES(shading), scene, instance, i);
                const Met met = meet(
                    any_hit, PATH_TRACER_HAS_INSTANCES(shading), PATH_TRACER_MAY_HAVE_HOLES(shading),
                    HEADRACE_CONSTANT(Rounding, ROUNDED_FASTEST), scene, &triangle, instance, i, sight, &hit);
                if (any_hit && met == MET_YES) return hit;
                if (met == FLOATS_CANNOT_TELL) {
                    if (waiting->count >= PATH_TRACER_MOST_DOUBTS) {
                        waiting->count = PATH_TRACER_MOST_DOUBTS + 1;
                        return hit;
                    }
                    waiting->instances[waiting->count] = instance;
                    waiting->triangles[waiting->count++] = i;
                }
            }
            leaf = none;
            if (is_leaf(child)) {
                leaf = child;
                child = stack[--on_stack];
            }
        }
        HEADRACE_IF_CONSTEXPR (shading == SHADING_ALL) {
            if (is_instance(child)) {
                instance = child >> 4;
                const Instance mesh = fetch(scene->instances, instance);
                boxes = box_ray_in(&mesh, &sight->ray);
                stack[on_stack++] = PATH_TRACER_MESH_ENDS;
                child = mesh.root << 4;
            } else if (child == PATH_TRACER_MESH_ENDS) {
                instance = PATH_TRACER_NONE;
                boxes = box_ray(&sight->ray);
                child = stack[--on_stack];
            }
        }
    }
    return hit;
}

/// The first walk of a ray. On a CPU, a scene without instances and holes has a tree for it: see
/// host_walk.hpp.
HEADRACE_FUNCTION Hit walk_first(HEADRACE_ANY(bool) any_hit, HEADRACE_ANY(int) shading,
                                 const SceneView* scene, const Sight* sight, float limit, Waiting* waiting) {
#if PATH_TRACER_ON_HOST
    if constexpr (shading != SHADING_ALL)
        if (scene->host_tree != nullptr) return walk_wide_tree(any_hit, *scene, *sight, limit, *waiting);
#endif
    return walk(any_hit, shading, HEADRACE_CONSTANT(bool, false), scene, sight, limit, waiting);
}

/// What the ray meets, of the triangle that a walk has found and those that wait. For few rays: never
/// inlined. Its arguments are numbers: those go in registers, and structs by way of memory, which all rays
/// would write to.
HEADRACE_FUNCTION_APART Hit decided_apart(
    HEADRACE_ANY(bool) any_hit, HEADRACE_ANY(int) shading, HEADRACE_GLOBAL const BvhNode* nodes,
    HEADRACE_GLOBAL const Triangle* triangles, HEADRACE_GLOBAL const TriangleDetail* details,
    HEADRACE_GLOBAL const Instance* instances, float x, float y, float z, float along_x, float along_y,
    float along_z, uint32_t left, uint32_t left_instance, float u, float v, uint32_t left_id,
    uint32_t goal_id, float limit, uint32_t found_instance, uint32_t found, Waiting* waiting) {
    const SceneView scene = scene_of(nodes, triangles, details, instances);
    const Ray ray = {{x, y, z}, {along_x, along_y, along_z}, left, left_instance, u, v, left_id, goal_id, 0,
                     0};
    const Sight sight = sight_from(PATH_TRACER_HAS_INSTANCES(shading), &scene, &ray);
    if (waiting->count > PATH_TRACER_MOST_DOUBTS)
        return walk(any_hit, shading, HEADRACE_CONSTANT(bool, true), &scene, &sight, limit, waiting);
    Hit hit = no_hit(limit);
    if (found != PATH_TRACER_NO_TRIANGLE)
        decide(any_hit, PATH_TRACER_HAS_INSTANCES(shading), &scene, found_instance, found, &sight, &hit);
    for (uint32_t i = 0; i < waiting->count; ++i)
        if (decide(any_hit, PATH_TRACER_HAS_INSTANCES(shading), &scene, waiting->instances[i],
                   waiting->triangles[i], &sight, &hit) &&
            any_hit)
            break;
    return hit;
}
HEADRACE_FUNCTION Hit decided(HEADRACE_ANY(bool) any_hit, HEADRACE_ANY(int) shading, const SceneView* scene,
                              const Ray* ray, float limit, uint32_t found_instance, uint32_t found,
                              Waiting* waiting) {
    return decided_apart(any_hit, shading, PATH_TRACER_ORIGIN(scene->nodes),
                         PATH_TRACER_ORIGIN(scene->triangles), PATH_TRACER_ORIGIN(scene->details),
                         PATH_TRACER_ORIGIN(scene->instances), ray->origin.x, ray->origin.y, ray->origin.z,
                         ray->direction.x, ray->direction.y, ray->direction.z, ray->left, ray->left_instance,
                         ray->u, ray->v, ray->left_id, ray->goal_id, limit, found_instance, found, waiting);
}

/// The nearest triangle that the ray meets before `limit`. It may be at a hole if exact_test.h has found it.
HEADRACE_FUNCTION Hit nearest_hit_before(HEADRACE_ANY(int) shading, const SceneView* scene, const Ray* ray,
                                         float limit) {
    const Sight sight = sight_from(PATH_TRACER_HAS_INSTANCES(shading), scene, ray);
    Waiting waiting;
    waiting.count = 0;
    Hit hit = walk_first(HEADRACE_CONSTANT(bool, false), shading, scene, &sight, limit, &waiting);
    if (waiting.count == 0) {
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE) return no_hit(limit);
        if (find_place(PATH_TRACER_HAS_INSTANCES(shading), scene, hit.instance, hit.triangle, &sight, &hit))
            return hit;
    }
    return decided(HEADRACE_CONSTANT(bool, false), shading, scene, ray, limit, hit.instance, hit.triangle,
                   &waiting);
}
HEADRACE_FUNCTION Hit nearest_hit(HEADRACE_ANY(int) shading, const SceneView* scene, const Ray* ray) {
    return nearest_hit_before(shading, scene, ray, PATH_TRACER_FAR_AWAY);
}

/// Some triangle that the ray meets before `limit`. `is_exact`: exact_test.h has found it, so that it may be
/// at a hole.
HEADRACE_FUNCTION Hit any_hit_before(HEADRACE_ANY(int) shading, const SceneView* scene, const Ray* ray,
                                     float limit, bool* is_exact) {
    const Sight sight = sight_from(PATH_TRACER_HAS_INSTANCES(shading), scene, ray);
    Waiting waiting;
    waiting.count = 0;
    const Hit hit = walk_first(HEADRACE_CONSTANT(bool, true), shading, scene, &sight, limit, &waiting);
    *is_exact = hit.triangle == PATH_TRACER_NO_TRIANGLE && waiting.count != 0;
    if (!*is_exact) return hit;
    return decided(HEADRACE_CONSTANT(bool, true), shading, scene, ray, limit, PATH_TRACER_NONE,
                   PATH_TRACER_NO_TRIANGLE, &waiting);
}
/// True if something lies between the ray's origin and `limit`. For scenes without holes.
HEADRACE_FUNCTION bool is_blocked(HEADRACE_ANY(int) shading, const SceneView* scene, const Ray* ray,
                                  float limit) {
    bool is_exact;
    return any_hit_before(shading, scene, ray, limit, &is_exact).triangle != PATH_TRACER_NO_TRIANGLE;
}

HEADRACE_END_NAMESPACE

#endif
