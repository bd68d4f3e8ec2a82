// apps/path_tracer/first_hit.h - what a path meets first: the layers that denoisers and compositors want. C++
// and OpenCL C read this file, after the scene as kernels see it.
#ifndef HEADRACE_PATH_TRACER_FIRST_HIT_H
#define HEADRACE_PATH_TRACER_FIRST_HIT_H
#include "path.h"

HEADRACE_NAMESPACE(path_tracer)

/// Of a path that begins at the camera. `shading`: SHADING_FULL for scenes that need no more, whatever the
/// frame has; SHADING_ALL for all.
HEADRACE_FUNCTION FirstHit first_hit(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                     const PathVertex* vertex) {
    FirstHit first = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    Meeting met;
    if (!next_meeting(shading, scene, frame, vertex, &met)) return first;
    first.distance = met.distance_to;
    first.hits = 1;
    first.normal = met.normal;
    Rgb tint = rgb(1, 1, 1);
    if (frame->shading != SHADING_FLAT) {
        const CornerShading corners = fetch(scene->corner_shading, met.hit.triangle);
        first.normal = shading_normal_of(PATH_TRACER_HAS_INSTANCES(shading), scene, met.hit.instance, corners,
                                         met.hit.u, met.hit.v, met.normal);
        tint = corner_tint(scene, corners, met.hit.u, met.hit.v);
    }
    const Material material = fetch(scene->materials, met.triangle.material);
    if (frame->shading < SHADING_FULL) {
        const Rgb mirror = rgb_scaled(material.mirror, material.mirror_chance);
        const Rgb glass = rgb_scaled(material.glass, material.glass_chance);
        first.albedo = rgb_mul(tint, rgb_add(material.albedo, rgb_add(mirror, glass)));
    } else {
        Finish values = fetch(scene->finishes, met.triangle.material);
        if (material.textures != PATH_TRACER_NONE) {
            const SurfaceTextures textures = fetch(scene->surface_textures, material.textures);
            const SurfacePoint point = met_point(frame, vertex, &met.triangle, &met.hit, met.distance_to);
            give_textures_to(scene, &textures, &point, &values);
            first.normal =
                leaning_normal(PATH_TRACER_HAS_INSTANCES(shading), scene, textures.normal,
                               textures.normal_scale, &point, first.normal, met.normal, met.is_front);
        }
        first.albedo = rgb_mul(tint, rgb_add(values.base, values.mirror));
    }
    first.albedo =
        rgb(smaller(first.albedo.r, 1.0f), smaller(first.albedo.g, 1.0f), smaller(first.albedo.b, 1.0f));
    return first;
}

HEADRACE_END_NAMESPACE

#endif
