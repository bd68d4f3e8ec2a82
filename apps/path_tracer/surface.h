// apps/path_tracer/surface.h - what a surface is at the point where it is met: its material with what
// textures and corners make of it. C++ and OpenCL C read this file, after the scene as kernels see it.
#ifndef HEADRACE_PATH_TRACER_SURFACE_H
#define HEADRACE_PATH_TRACER_SURFACE_H
#include "corner_shading.h"
#include "material.h"
#include "texture.h"

HEADRACE_NAMESPACE(path_tracer)

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

/// Where `textures` say so, the material's parts are made of one colour:
///
///     mirror = base x metallic, glass = base x (1 - metallic) x transmitted, Lambert = what is left of it
HEADRACE_FUNCTION void give_textures_to(const SceneView* scene, const SurfaceTextures* textures,
                                        const SurfacePoint* point, Material* material) {
    Rgb glass = rgb_scaled(material->glass, material->glass_chance);
    Rgb mirror = rgb_scaled(material->mirror, material->mirror_chance);
    Rgb diffuse = material->albedo;
    const bool mixes = textures->metal != PATH_TRACER_NONE || textures->transmission != PATH_TRACER_NONE;
    if (mixes) {
        float metallic = textures->metallic, transmitted = textures->transmitted;
        if (textures->metal != PATH_TRACER_NONE)
            metallic *= smaller(texture_value(scene, textures->metal, point).colour.b, 1.0f);
        if (textures->transmission != PATH_TRACER_NONE)
            transmitted *= smaller(texture_value(scene, textures->transmission, point).colour.r, 1.0f);
        mirror = rgb_scaled(textures->base, metallic);
        glass = rgb_scaled(textures->base, (1 - metallic) * transmitted);
        diffuse = rgb_scaled(textures->base, (1 - metallic) * (1 - transmitted));
    }
    if (textures->colour != PATH_TRACER_NONE) {
        const Rgb tint = texture_value(scene, textures->colour, point).colour;
        diffuse = rgb_mul(diffuse, tint);
        if (textures->colours_all != 0) {
            mirror = rgb_mul(mirror, tint);
            glass = rgb_mul(glass, tint);
        }
    } else if (!mixes) {
        return;
    }
    set_parts(material, glass, mirror, diffuse);
}

/// `emission`, as the texture has it at a point.
HEADRACE_FUNCTION Rgb textured_emission(const SceneView* scene, uint32_t textures, const SurfacePoint* point,
                                        Rgb emission) {
    if (textures == PATH_TRACER_NONE) return emission;
    const uint32_t texture = scene->surface_textures[textures].emission;
    if (texture == PATH_TRACER_NONE) return emission;
    return rgb_mul(emission, texture_value(scene, texture, point).colour);
}

/// From one place to another, in the picture.
HEADRACE_FUNCTION TexturePoint way_in_picture(const Texture* texture, TexturePoint from, TexturePoint to) {
    const float u = to.u - from.u, v = to.v - from.v;
    const TexturePoint way = {texture->u_from_u * u + texture->u_from_v * v,
                              texture->v_from_u * u + texture->v_from_v * v};
    return way;
}

/// The shading normal, leaning as the texture says: its red along u, its green against v, which is up in a
/// picture, and its blue along the normal.
///
/// `shading`: on the side from which the triangle's corners run counter-clockwise
HEADRACE_FUNCTION Float3 textured_normal(const SceneView* scene, const SurfaceTextures* textures,
                                         const SurfacePoint* point, Float3 shading) {
    const Triangle triangle = fetch(scene->triangles, point->triangle);
    const Texture texture = fetch(scene->textures, textures->normal);
    const CornerPlaces places = corner_places(scene, point->triangle, texture.set);
    const Float3 to_b = sub(triangle.b, triangle.a), to_c = sub(triangle.c, triangle.a);
    const TexturePoint in_b = way_in_picture(&texture, places.a, places.b);
    const TexturePoint in_c = way_in_picture(&texture, places.a, places.c);
    const float sign = in_b.u * in_c.v - in_c.u * in_b.v < 0 ? -1.0f : 1.0f;
    // Along u, and against v, of any length.
    const Float3 along = scaled(sub(scaled(to_b, in_c.v), scaled(to_c, in_b.v)), sign);
    const Float3 up = scaled(sub(scaled(to_b, in_c.u), scaled(to_c, in_b.u)), sign);
    const Float3 on_surface = sub(along, scaled(shading, dot_of(shading, along)));
    const float size2 = dot_of(on_surface, on_surface);
    if (!(size2 > 0)) return shading; // the triangle is a line in its texture
    const Float3 tangent = scaled(on_surface, 1.0f / sqrt(size2));
    Float3 bitangent = cross_of(shading, tangent);
    if (dot_of(bitangent, up) < 0) bitangent = negated(bitangent);
    const Rgb leaning = texture_value(scene, textures->normal, point).colour;
    const float x = (2 * leaning.r - 1) * textures->normal_scale;
    const float y = (2 * leaning.g - 1) * textures->normal_scale;
    const Float3 sum = add(add(scaled(tangent, x), scaled(bitangent, y)), scaled(shading, 2 * leaning.b - 1));
    const float sum2 = dot_of(sum, sum);
    return sum2 > 1e-6f ? scaled(sum, 1.0f / sqrt(sum2)) : shading;
}

HEADRACE_END_NAMESPACE

#endif
