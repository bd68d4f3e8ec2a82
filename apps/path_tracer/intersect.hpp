// apps/path_tracer/intersect.hpp - what a ray meets: a walk through the BVH, watertight at shared edges.
#pragma once
#include "vector_math.hpp"
#include <headrace/domains/view.hpp>

namespace path_tracer {

/// The scene as kernels see it.
struct SceneView {
    headrace::View<const BvhNode> nodes;
    headrace::View<const Triangle> triangles; ///< in the order of the leaves
    headrace::View<const Material> materials;
    headrace::View<const Light> lights;
};

struct Ray {
    Float3 origin, direction; ///< the direction has length 1
};

struct Hit {
    float distance;
    uint32_t triangle = PATH_TRACER_NO_TRIANGLE;
    float u, v; ///< the point is (1 - u - v) a + u b + v c
};

/// A corner as seen along a ray: `depth` along it, `x` and `y` across.
struct SeenCorner {
    float x, y, depth;
};

/// A ray with two directions across it, which see corners in two dimensions.
struct Sight {
    Ray ray;
    Float3 across, up;

    HEADRACE_HOST_DEVICE explicit Sight(const Ray& along) : ray(along) {
        make_frame(ray.direction, across, up);
    }
    HEADRACE_HOST_DEVICE SeenCorner operator()(Float3 corner) const {
        const Float3 way = corner - ray.origin;
        return {dot(way, across), dot(way, up), dot(way, ray.direction)};
    }
};

/// Shortens `hit` to the triangle if the ray meets it before hit.distance, and more than 0 away.
///
/// Neighbours see shared corners as the same points of a plane, and ask on which side of a line between two
/// of them the ray is by comparing two products. Rounding may make such products equal, but never swaps them,
/// and what is equal counts as inside: no ray passes between two triangles. (A difference of the products
/// would not do: where a compiler makes one multiply-add of it, its sign can be wrong.) Source    Woop et
/// al., "Watertight ray/triangle intersection", JCGT 2013; differs in: any plane across the ray
///           instead of permuted and sheared axes, and no case needs double precision
HEADRACE_HOST_DEVICE inline bool meet(const Triangle& triangle, uint32_t index, const Sight& sight,
                                      Hit& hit) {
    const SeenCorner a = sight(triangle.a), b = sight(triangle.b), c = sight(triangle.c);
    const float bc = b.x * c.y, cb = c.x * b.y;
    const float ca = c.x * a.y, ac = a.x * c.y;
    const float ab = a.x * b.y, ba = b.x * a.y;
    const bool left = bc >= cb && ca >= ac && ab >= ba;
    const bool right = bc <= cb && ca <= ac && ab <= ba;
    if (!left && !right) return false;
    const float turn = left ? 1.0f : -1.0f;
    const float of_a = larger((bc - cb) * turn, 0.0f); // twice the areas opposite to the corners
    const float of_b = larger((ca - ac) * turn, 0.0f);
    const float of_c = larger((ab - ba) * turn, 0.0f);
    const float sum = of_a + of_b + of_c;
    if (!(sum > 0)) return false; // seen along its plane
    const float distance = (of_a * a.depth + of_b * b.depth + of_c * c.depth) / sum;
    if (!(distance > 0 && distance < hit.distance)) return false;
    hit = {distance, index, of_b / sum, of_c / sum};
    return true;
}

/// Reciprocal of a ray's slope along one axis. Kept finite, so that 0 x infinity never arises where the ray's
/// origin lies in the plane of a box.
HEADRACE_HOST_DEVICE inline float inverse_slope(float slope) {
    constexpr float least = 1e-20f;
    const float size = slope < 0 ? -slope : slope;
    return 1.0f / (size > least ? slope : slope < 0 ? -least : least);
}

/// Distance at which the ray enters the box; more than `limit` if it misses or is farther away.
HEADRACE_HOST_DEVICE inline float enter(Float3 lo, Float3 hi, const Ray& ray, Float3 inverse, float limit) {
    const float x0 = (lo.x - ray.origin.x) * inverse.x, x1 = (hi.x - ray.origin.x) * inverse.x;
    const float y0 = (lo.y - ray.origin.y) * inverse.y, y1 = (hi.y - ray.origin.y) * inverse.y;
    const float z0 = (lo.z - ray.origin.z) * inverse.z, z1 = (hi.z - ray.origin.z) * inverse.z;
    const float near = larger(larger(smaller(x0, x1), smaller(y0, y1)), larger(smaller(z0, z1), 0.0f));
    const float far = smaller(smaller(larger(x0, x1), larger(y0, y1)), smaller(larger(z0, z1), limit));
    // The factor covers the roundings above (Ize, "Robust BVH Ray Traversal", JCGT 2013): no box is missed
    // whose contents are hit.
    return near <= far * 1.0000005f ? near : PATH_TRACER_MISSES;
}

/// The walk behind nearest_hit and is_blocked: `AnyHit` ends it at the first triangle met.
template <bool AnyHit>
HEADRACE_HOST_DEVICE inline Hit walk(const SceneView& scene, const Ray& ray, float limit) {
    Hit hit{limit, PATH_TRACER_NO_TRIANGLE, 0, 0};
    const Sight sight(ray);
    const Float3 inverse{inverse_slope(ray.direction.x), inverse_slope(ray.direction.y),
                         inverse_slope(ray.direction.z)};
    uint32_t stack[PATH_TRACER_STACK];
    uint32_t waiting = 0;
    uint32_t child = 0; // the root
    for (;;) {
        const uint32_t first = child >> 4;
        if (const uint32_t count = child & 15; count != 0) {
            for (uint32_t i = first; i < first + count; ++i)
                if (meet(scene.triangles[i], i, sight, hit) && AnyHit) return hit;
        } else {
            const BvhNode node = scene.nodes[first];
            const float near0 = enter(node.lo0, node.hi0, ray, inverse, hit.distance);
            const float near1 = enter(node.lo1, node.hi1, ray, inverse, hit.distance);
            const bool zero_first = near0 <= near1;
            const float nearer = zero_first ? near0 : near1;
            const float farther = zero_first ? near1 : near0;
            if (nearer < PATH_TRACER_MISSES) {
                if (farther < PATH_TRACER_MISSES) stack[waiting++] = zero_first ? node.child1 : node.child0;
                child = zero_first ? node.child0 : node.child1;
                continue;
            }
        }
        if (waiting == 0) return hit;
        child = stack[--waiting];
    }
}

HEADRACE_HOST_DEVICE inline Hit nearest_hit(const SceneView& scene, const Ray& ray) {
    return walk<false>(scene, ray, PATH_TRACER_FAR_AWAY);
}

/// True if something lies between the ray's origin and `distance`.
HEADRACE_HOST_DEVICE inline bool is_blocked(const SceneView& scene, const Ray& ray, float distance) {
    return walk<true>(scene, ray, distance).triangle != PATH_TRACER_NO_TRIANGLE;
}

} // namespace path_tracer
