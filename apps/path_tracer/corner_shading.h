// apps/path_tracer/corner_shading.h - normals and colours that a file gives to the corners of its triangles:
// how they are stored, and what shading makes of them. C++ and OpenCL C read this file, after the scene as
// kernels see it.
//
// The surface stays that of the triangles: what a ray meets, on which side it is, and to which side it may go
// on are those of the triangle's own normal, so no light passes. The shading normal turns only the
// distribution of directions.
#ifndef HEADRACE_PATH_TRACER_CORNER_SHADING_H
#define HEADRACE_PATH_TRACER_CORNER_SHADING_H
#include "vector_math.h"

HEADRACE_NAMESPACE(path_tracer)

/// The least rise of a direction above its triangle: rounding does not turn it to the other side.
#define PATH_TRACER_LEAST_RISE 0x1p-20f

/// A direction of length 1 from its two numbers.
HEADRACE_FUNCTION Float3 decoded_normal(uint32_t code) {
    const float step = 2.0f / (float)PATH_TRACER_NORMAL_STEPS;
    const float x = (float)(code & 0xffffu) * step - 1, y = (float)(code >> 16) * step - 1;
    const float z = 1 - magnitude(x) - magnitude(y);
    if (z >= 0) return normalised(vec(x, y, z));
    return normalised(
        vec((1 - magnitude(y)) * (x < 0 ? -1.0f : 1.0f), (1 - magnitude(x)) * (y < 0 ? -1.0f : 1.0f), z));
}

/// The direction, or its opposite.
HEADRACE_FUNCTION Float3 on_side_of(Float3 direction, Float3 normal) {
    return dot_of(direction, normal) < 0 ? negated(direction) : direction;
}

/// The normal between those of three corners, on the side of `normal`; that itself if there is none.
HEADRACE_FUNCTION Float3 between_corners(Float3 a, Float3 b, Float3 c, float u, float v, Float3 normal) {
    const Float3 sum = add(add(scaled(a, 1 - u - v), scaled(b, u)), scaled(c, v));
    const float size2 = dot_of(sum, sum);
    if (!(size2 > 1e-6f)) return normal; // they point in opposite directions
    return on_side_of(scaled(sum, 1.0f / sqrt(size2)), normal);
}

/// The shading normal at a point of a triangle, on the side of `normal`, its own; that itself if the triangle
/// is flat.
HEADRACE_FUNCTION Float3 shading_normal(CornerShading corners, float u, float v, Float3 normal) {
    if (corners.normal_a == PATH_TRACER_NONE) return normal;
    return between_corners(decoded_normal(corners.normal_a), decoded_normal(corners.normal_b),
                           decoded_normal(corners.normal_c), u, v, normal);
}

/// A direction that lies below the triangle, mirrored to the other side.
HEADRACE_FUNCTION Float3 turned_above(Float3 direction, Float3 normal) {
    const float rise = dot_of(direction, normal);
    if (rise >= PATH_TRACER_LEAST_RISE) return direction;
    return sub(direction, scaled(normal, 2 * smaller(rise, -PATH_TRACER_LEAST_RISE)));
}

/// Of the Lambert part: its dot product with a direction above the triangle is what the part sends there,
/// without the albedo and 1 / pi; where it is negative, nothing. Directions below the triangle get nothing
/// either, and the others more by so much that no light is lost: a plane at this angle to the horizon sees
/// (1 + cosine) / 2 of the sky.
HEADRACE_FUNCTION Float3 lambert_lobe(Float3 shading, Float3 normal) {
    return scaled(shading, 2 / (1 + dot_of(shading, normal)));
}

/// A direction above the triangle, distributed as the Lambert part is, from a random point (x, y) of the unit
/// disk.
///
/// Points of the disk, lifted onto the sphere around the shading normal, are distributed as the cosine. Those
/// below the triangle lie beyond half an ellipse. Squeezing the disk along the tilt, chord by chord, to what
/// is left of it keeps the points uniform.
HEADRACE_FUNCTION Float3 lambert_direction(Float3 shading, Float3 normal, float x, float y) {
    const float cosine = dot_of(shading, normal);
    Float3 tangent = sub(normal, scaled(shading, cosine)), bitangent;
    const float sine2 = dot_of(tangent, tangent);
    if (sine2 > 1e-6f) {
        tangent = scaled(tangent, 1.0f / sqrt(sine2));
        bitangent = cross_of(shading, tangent);
        const float half_chord = sqrt(larger(1 - y * y, 0.0f));
        x = 0.5f * (x * (1 + cosine) + half_chord * (1 - cosine));
    } else {
        make_frame(shading, &tangent, &bitangent);
    }
    const float up = sqrt(larger(1 - x * x - y * y, 0.0f));
    const Float3 direction =
        normalised(add(add(scaled(tangent, x), scaled(bitangent, y)), scaled(shading, up)));
    return turned_above(direction, normal);
}

/// A ray along `direction`, mirrored at the shading normal, and lifted where that would lead below the
/// triangle: as if the normal were bent.
///
/// Source  Keller et al., "The Iray light transport simulation and rendering system", 2017
HEADRACE_FUNCTION Float3 mirrored_above(Float3 direction, Float3 shading, Float3 normal) {
    const Float3 mirrored = sub(direction, scaled(shading, 2 * dot_of(shading, direction)));
    const float lacks = 16 * PATH_TRACER_LEAST_RISE - dot_of(mirrored, normal);
    return normalised(lacks > 0 ? add(mirrored, scaled(normal, lacks)) : mirrored);
}

/// The opacity of a triangle at a point: a factor of that of its material.
HEADRACE_FUNCTION float corner_opacity(const SceneView* scene, CornerShading corners, float u, float v) {
    if (corners.colours == PATH_TRACER_NONE) return 1;
    const CornerColours colours = fetch(scene->corner_colours, corners.colours);
    const float opacity = (1 - u - v) * colours.opacity_a + u * colours.opacity_b + v * colours.opacity_c;
    return smaller(larger(opacity, 0.0f), 1.0f);
}

/// The colour of a triangle at a point: a factor of what its surface sends on.
HEADRACE_FUNCTION Rgb corner_tint(const SceneView* scene, CornerShading corners, float u, float v) {
    if (corners.colours == PATH_TRACER_NONE) return rgb(1, 1, 1);
    const CornerColours colours = fetch(scene->corner_colours, corners.colours);
    // Rounding may move the point a little outside, where a colour could be negative.
    return rgb_add(
        rgb_add(rgb_scaled(colours.a, larger(1 - u - v, 0.0f)), rgb_scaled(colours.b, larger(u, 0.0f))),
        rgb_scaled(colours.c, larger(v, 0.0f)));
}

HEADRACE_END_NAMESPACE

#endif
