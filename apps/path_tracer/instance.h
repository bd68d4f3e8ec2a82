// apps/path_tracer/instance.h - meshes that are shown in several places: triangles and normals as an instance
// has them. C++ and OpenCL C read this file, after the scene as kernels see it.
//
// `has_instances` says, when it is compiled, that there may be such. Where an instance is PATH_TRACER_NONE,
// the triangle lies in the scene as it is.
#ifndef HEADRACE_PATH_TRACER_INSTANCE_H
#define HEADRACE_PATH_TRACER_INSTANCE_H
#include "corner_shading.h"
#include "triangle_test.h"

HEADRACE_NAMESPACE(path_tracer)

/// Of a Shading that is known when this is compiled.
#define PATH_TRACER_HAS_INSTANCES(shading) HEADRACE_CONSTANT(bool, (shading) == SHADING_ALL)

HEADRACE_FUNCTION float turned_row(MapRow row, Float3 way) {
    return row.x * way.x + row.y * way.y + row.z * way.z;
}
HEADRACE_FUNCTION Float3 turned_way(const AffineMap* map, Float3 way) {
    return vec(turned_row(map->x, way), turned_row(map->y, way), turned_row(map->z, way));
}
HEADRACE_FUNCTION Float3 mapped_point(const AffineMap* map, Float3 point) {
    return add(turned_way(map, point), vec(map->x.shift, map->y.shift, map->z.shift));
}

/// A triangle of the scene, with the coordinates that it has there.
HEADRACE_FUNCTION Triangle triangle_of(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                       uint32_t instance, uint32_t index) {
    Triangle triangle = fetch(scene->triangles, index);
    HEADRACE_IF_CONSTEXPR (has_instances) {
        if (instance != PATH_TRACER_NONE) {
            const AffineMap placed = fetch(scene->instances, instance).placed;
            triangle.a = mapped_point(&placed, triangle.a);
            triangle.b = mapped_point(&placed, triangle.b);
            triangle.c = mapped_point(&placed, triangle.c);
        }
    }
    return triangle;
}

HEADRACE_FUNCTION float corner_error_of(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                        uint32_t instance) {
    HEADRACE_IF_CONSTEXPR (has_instances) {
        if (instance != PATH_TRACER_NONE) return fetch(scene->instances, instance).corner_error;
    }
    return 0;
}

/// sight_along for a ray that may leave an instance.
HEADRACE_FUNCTION Sight sight_from(HEADRACE_ANY(bool) has_instances, const SceneView* scene, const Ray* ray) {
    Sight sight = sight_along(ray);
    HEADRACE_IF_CONSTEXPR (has_instances) {
        sight.origin_error = corner_error_of(has_instances, scene, ray->left_instance);
    }
    return sight;
}

/// A normal of a mesh, of length 1, as an instance has it: what is outside stays outside.
HEADRACE_FUNCTION Float3 placed_normal(const SceneView* scene, uint32_t instance, Float3 normal) {
    // Normals go the other way than points: by the transpose of the way back.
    const AffineMap back = fetch(scene->instances, instance).to_mesh;
    const Float3 placed = add(add(scaled(vec(back.x.x, back.x.y, back.x.z), normal.x),
                                  scaled(vec(back.y.x, back.y.y, back.y.z), normal.y)),
                              scaled(vec(back.z.x, back.z.y, back.z.z), normal.z));
    const float size = larger(larger(fabs(placed.x), fabs(placed.y)), fabs(placed.z));
    return normalised(scaled(placed, 1.0f / size)); // its square may be beyond what floats hold
}

/// The normal of a triangle: see TriangleDetail.
HEADRACE_FUNCTION Float3 normal_of(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                   uint32_t instance, uint32_t index) {
    const Float3 normal = fetch(scene->details, index).normal;
    HEADRACE_IF_CONSTEXPR (has_instances) {
        if (instance != PATH_TRACER_NONE) return placed_normal(scene, instance, normal);
    }
    return normal;
}

/// The shading normal at a point of a triangle: see shading_normal.
HEADRACE_FUNCTION Float3 shading_normal_of(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                           uint32_t instance, CornerShading corners, float u, float v,
                                           Float3 normal) {
    HEADRACE_IF_CONSTEXPR (has_instances) {
        if (instance != PATH_TRACER_NONE && corners.normal_a != PATH_TRACER_NONE)
            return between_corners(placed_normal(scene, instance, decoded_normal(corners.normal_a)),
                                   placed_normal(scene, instance, decoded_normal(corners.normal_b)),
                                   placed_normal(scene, instance, decoded_normal(corners.normal_c)), u, v,
                                   normal);
    }
    return shading_normal(corners, u, v, normal);
}

HEADRACE_END_NAMESPACE

#endif
