// apps/path_tracer/opacity.h - how much light a surface stops at a point. C++ and OpenCL C read this file,
// after the scene as kernels see it.
#ifndef HEADRACE_PATH_TRACER_OPACITY_H
#define HEADRACE_PATH_TRACER_OPACITY_H
#include "corner_shading.h"
#include "texture.h"

HEADRACE_NAMESPACE(path_tracer)

/// Of a Shading that is known when this is compiled.
#define PATH_TRACER_MAY_HAVE_HOLES(shading) HEADRACE_CONSTANT(bool, (shading) == SHADING_ALL)

HEADRACE_FUNCTION bool may_have_hole(const Triangle* triangle) {
    return (triangle->id & PATH_TRACER_HAS_HOLES) != 0;
}

/// The share of light that does not pass, from 0 to 1.
HEADRACE_FUNCTION float opacity_at(const SceneView* scene, uint32_t material, const SurfacePoint* point) {
    const uint32_t place = scene->materials[material].textures;
    if (place == PATH_TRACER_NONE) return 1;
    const SurfaceTextures textures = fetch(scene->surface_textures, place);
    if (textures.cutoff < 0) return 1;
    float opacity = textures.opaque *
                    corner_opacity(scene, fetch(scene->corner_shading, point->triangle), point->u, point->v);
    if (textures.opacity != PATH_TRACER_NONE) {
        SurfacePoint sharp = *point;
        if (textures.cutoff > 0) sharp.part = 0; // means of holes would close them, or all the rest
        opacity *= texture_value(scene, textures.opacity, &sharp).opacity;
    }
    if (textures.cutoff == 0) return smaller(opacity, 1.0f);
    return opacity >= textures.cutoff ? 1 : 0;
}

/// NVIDIA's OpenCL compiler works for minutes where such a function is part of a walk, or of the loop around
/// it.
#if defined(__OPENCL_C_VERSION__)
    #define PATH_TRACER_LAYER HEADRACE_FUNCTION_APART
#else
    #define PATH_TRACER_LAYER HEADRACE_FUNCTION
#endif

/// Whether all light passes a triangle at a point. `width`: of the sample there. Structs come as copies, so
/// that those of the caller stay in registers.
PATH_TRACER_LAYER bool is_hole(SceneView scene, Triangle triangle, Hit place, float width) {
    const SurfacePoint point =
        surface_point(&triangle, place.instance, place.triangle, place.u, place.v, width);
    return opacity_at(&scene, triangle.material, &point) <= 0;
}

HEADRACE_END_NAMESPACE

#endif
