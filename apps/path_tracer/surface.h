// apps/path_tracer/surface.h - what a surface is at the point where it is met: its material with what
// textures and corners make of it, as a BSDF. C++ and OpenCL C read this file, after the scene as kernels see
// it.
#ifndef HEADRACE_PATH_TRACER_SURFACE_H
#define HEADRACE_PATH_TRACER_SURFACE_H
#include "bsdf.h"
#include "instance.h"
#include "opacity.h"
#include "texture.h"

HEADRACE_NAMESPACE(path_tracer)

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
/// `place`: of the texture. `scale`: of how far it leans
/// `shading`: on the side from which the triangle's corners run counter-clockwise
HEADRACE_FUNCTION Float3 textured_normal(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                         uint32_t place, float scale, const SurfacePoint* point,
                                         Float3 shading) {
    const Triangle triangle = triangle_of(has_instances, scene, point->instance, point->triangle);
    const Texture texture = fetch(scene->textures, place);
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
    const Rgb leaning = texture_value(scene, place, point).colour;
    const float x = (2 * leaning.r - 1) * scale;
    const float y = (2 * leaning.g - 1) * scale;
    const Float3 sum = add(add(scaled(tangent, x), scaled(bitangent, y)), scaled(shading, 2 * leaning.b - 1));
    const float sum2 = dot_of(sum, sum);
    return sum2 > 1e-6f ? scaled(sum, 1.0f / sqrt(sum2)) : shading;
}

/// The same for a normal on the side of `normal`, the triangle's; `is_front`: that is the side above.
HEADRACE_FUNCTION Float3 leaning_normal(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                        uint32_t place, float scale, const SurfacePoint* point,
                                        Float3 shading, Float3 normal, bool is_front) {
    if (place == PATH_TRACER_NONE) return shading;
    const Float3 leaning =
        textured_normal(has_instances, scene, place, scale, point, is_front ? shading : negated(shading));
    return on_side_of(is_front ? leaning : negated(leaning), normal);
}

/// A shading normal, turned so far that it is seen from `out`: else the surface would have no value.
HEADRACE_FUNCTION Float3 turned_to(Float3 shading, Float3 out) {
    const float least = 1e-2f, cosine = dot_of(shading, out);
    return cosine >= least ? shading : normalised(add(shading, scaled(out, least - cosine)));
}

HEADRACE_FUNCTION void give_textures_to_coat(const SceneView* scene, const SurfaceTextures* textures,
                                             const SurfacePoint* point, float* coat, float* roughness) {
    if (textures->coat != PATH_TRACER_NONE)
        *coat *= smaller(texture_value(scene, textures->coat, point).colour.r, 1.0f);
    if (textures->coat_roughness != PATH_TRACER_NONE)
        *roughness *= smaller(texture_value(scene, textures->coat_roughness, point).colour.g, 1.0f);
}

HEADRACE_FUNCTION void give_textures_to(const SceneView* scene, const SurfaceTextures* textures,
                                        const SurfacePoint* point, Finish* values) {
    if (textures->colour != PATH_TRACER_NONE)
        values->base = rgb_mul(values->base, texture_value(scene, textures->colour, point).colour);
    if (textures->metal != PATH_TRACER_NONE) {
        const Rgb metal = texture_value(scene, textures->metal, point).colour;
        values->metallic *= smaller(metal.b, 1.0f);
        values->roughness *= smaller(metal.g, 1.0f);
    }
    if (textures->transmission != PATH_TRACER_NONE)
        values->transmitted *= smaller(texture_value(scene, textures->transmission, point).colour.r, 1.0f);
    if (textures->highlight != PATH_TRACER_NONE)
        values->highlight_edge *= smaller(texture_value(scene, textures->highlight, point).opacity, 1.0f);
    if (textures->highlight_tint != PATH_TRACER_NONE)
        values->highlight =
            rgb_mul(values->highlight, texture_value(scene, textures->highlight_tint, point).colour);
    give_textures_to_coat(scene, textures, point, &values->coat, &values->coat_roughness);
    if (textures->sheen != PATH_TRACER_NONE)
        values->sheen = rgb_mul(values->sheen, texture_value(scene, textures->sheen, point).colour);
    if (textures->sheen_roughness != PATH_TRACER_NONE)
        values->sheen_roughness *=
            smaller(texture_value(scene, textures->sheen_roughness, point).opacity, 1.0f);
}

/// An albedo table at a cosine and a roughness, both from 0 to 1.
HEADRACE_FUNCTION AlbedoEntry albedo_entry(const SceneView* scene, uint32_t table, float cosine,
                                           float roughness) {
    const float last = (float)(PATH_TRACER_ALBEDO_STEPS - 1);
    const float column = sqrt(larger(cosine, 0.0f)) * last, row = roughness * last;
    const float left = smaller(floor(column), last - 1), upper = smaller(floor(row), last - 1);
    const float to_right = smaller(column - left, 1.0f), down = smaller(row - upper, 1.0f);
    const uint32_t first =
        (table * PATH_TRACER_ALBEDO_STEPS + (uint32_t)upper) * PATH_TRACER_ALBEDO_STEPS + (uint32_t)left;
    const AlbedoEntry a = fetch(scene->albedos, first), b = fetch(scene->albedos, first + 1);
    const AlbedoEntry c = fetch(scene->albedos, first + PATH_TRACER_ALBEDO_STEPS);
    const AlbedoEntry d = fetch(scene->albedos, first + PATH_TRACER_ALBEDO_STEPS + 1);
    const AlbedoEntry entry = {
        between(between(a.head_on, b.head_on, to_right), between(c.head_on, d.head_on, to_right), down),
        between(between(a.edge, b.edge, to_right), between(c.edge, d.edge, to_right), down),
        between(between(a.boost, b.boost, to_right), between(c.boost, d.boost, to_right), down), 0};
    return entry;
}

HEADRACE_FUNCTION float alpha_of(float roughness) {
    const float alpha = roughness * roughness;
    return alpha < PATH_TRACER_LEAST_ALPHA ? 0 : smaller(alpha, 1.0f);
}

/// The table's entry for facets, or what it is for a smooth surface.
HEADRACE_FUNCTION AlbedoEntry facet_albedo(const SceneView* scene, float cosine, float roughness,
                                           float alpha) {
    if (alpha > 0) return albedo_entry(scene, 0, cosine, smaller(roughness, 1.0f));
    const float edge = edge_share(cosine);
    const AlbedoEntry smooth = {1 - edge, edge, 0, 0};
    return smooth;
}

/// A coat with what its facets reflect to one another.
HEADRACE_FUNCTION float boosted_coat(float coat, AlbedoEntry entry) {
    return coat * (1 + PATH_TRACER_COAT_HEAD_ON * entry.boost);
}
/// The share of light from all around that a coat reflects. What lies below it has the rest.
HEADRACE_FUNCTION float coat_albedo(float coat, AlbedoEntry entry) {
    return smaller(boosted_coat(coat, entry) * (PATH_TRACER_COAT_HEAD_ON * entry.head_on + entry.edge), 1.0f);
}

/// What a surface emits at a point, at `cosine` to its triangle: as its texture has it, less the share of its
/// coat.
HEADRACE_FUNCTION Rgb emitted_at(const SceneView* scene, uint32_t material, const SurfacePoint* point,
                                 Rgb emission, float cosine) {
    const uint32_t place = scene->materials[material].textures;
    const Rgb emitted = textured_emission(scene, place, point, emission);
    float coat = scene->finishes[material].coat;
    if (!(coat > 0)) return emitted;
    float roughness = scene->finishes[material].coat_roughness;
    if (place != PATH_TRACER_NONE) {
        const SurfaceTextures textures = fetch(scene->surface_textures, place);
        give_textures_to_coat(scene, &textures, point, &coat, &roughness);
    }
    return rgb_scaled(emitted,
                      1 - coat_albedo(coat, facet_albedo(scene, cosine, roughness, alpha_of(roughness))));
}

/// Adds facets with this reflectance, and what they reflect to one another. Returns their albedo.
HEADRACE_FUNCTION float add_facets(Bsdf* bsdf, Rgb head_on, float edge, float layers, AlbedoEntry entry) {
    const Rgb boost = rgb_add(rgb(1, 1, 1), rgb_scaled(head_on, entry.boost));
    const Rgb scale = rgb_scaled(boost, layers);
    bsdf->head_on = rgb_add(bsdf->head_on, rgb_mul(head_on, scale));
    bsdf->edge = rgb_add(bsdf->edge, rgb_scaled(scale, edge));
    const Rgb albedo = rgb_mul(
        boost, rgb_add(rgb_scaled(head_on, entry.head_on), rgb_scaled(rgb(1, 1, 1), edge * entry.edge)));
    return smaller(largest(albedo), 1.0f);
}

/// The BSDF of a material seen along `out`. `normal`: the triangle's, on that side; `is_front`: it is its
/// front. `tint`: of the corners
HEADRACE_FUNCTION Bsdf bsdf_of(const SceneView* scene, const Finish* values, Float3 out, Float3 normal,
                               Float3 shading, Float3 coat_normal, bool is_front, Rgb tint) {
    Bsdf bsdf;
    bsdf.out = out;
    bsdf.normal = normal;
    bsdf.shading = turned_to(shading, out);
    bsdf.coat_normal = turned_to(coat_normal, out);
    bsdf.lobe = lambert_lobe(bsdf.shading, normal);
    bsdf.is_leaning =
        dot_of(bsdf.shading, normal) < 0.999999f || dot_of(bsdf.coat_normal, normal) < 0.999999f;
    bsdf.alpha = alpha_of(values->roughness);
    bsdf.coat_alpha = alpha_of(values->coat_roughness);
    bsdf.is_thin = values->glass_table == PATH_TRACER_NONE;
    bsdf.ratio = is_front || bsdf.is_thin != 0 ? values->ior : 1 / values->ior;

    float layers = 1; // the share of light that comes through them
    bsdf.coat = values->coat;
    float by_coat = 0;
    if (values->coat > 0) {
        const AlbedoEntry entry =
            facet_albedo(scene, dot_of(bsdf.coat_normal, out), values->coat_roughness, bsdf.coat_alpha);
        bsdf.coat = boosted_coat(values->coat, entry);
        by_coat = coat_albedo(values->coat, entry);
        layers -= by_coat;
    }
    const float cosine = dot_of(bsdf.shading, out);
    bsdf.sheen = rgb(0, 0, 0);
    bsdf.sheen_alpha = 1;
    if (!is_black(values->sheen)) {
        const float least = 0.1f, roughness = smaller(larger(values->sheen_roughness, least), 1.0f);
        const float albedo = albedo_entry(scene, PATH_TRACER_FIBRE_TABLE, cosine, roughness).head_on;
        const float scale = albedo > 1 ? 1 / albedo : 1;
        bsdf.sheen = rgb_scaled(values->sheen, scale * layers);
        bsdf.sheen_alpha = roughness * roughness;
        layers *= larger(1 - largest(values->sheen) * scale * albedo, 0.0f);
    }

    const AlbedoEntry entry = facet_albedo(scene, cosine, values->roughness, bsdf.alpha);
    const float metallic = values->metallic, others = 1 - metallic;
    const float glass = others * values->transmitted, matt = others * (1 - values->transmitted);
    const Rgb base = rgb_mul(values->base, tint);
    bsdf.head_on = bsdf.edge = rgb(0, 0, 0);
    if (metallic > 0) add_facets(&bsdf, base, 1, layers * metallic, entry);
    if (!is_black(values->mirror)) { // as bright as it says, at any angle
        const Rgb mirror = rgb_scaled(rgb_mul(values->mirror, tint), layers * (1 + entry.boost));
        bsdf.head_on = rgb_add(bsdf.head_on, mirror);
        bsdf.edge = rgb_add(bsdf.edge, mirror);
    }
    bsdf.diffuse = rgb_scaled(base, layers * matt);
    if (values->highlight_edge > 0 && matt > 0) {
        const Rgb head_on =
            rgb_scaled(rgb(smaller(values->highlight.r, 1.0f), smaller(values->highlight.g, 1.0f),
                           smaller(values->highlight.b, 1.0f)),
                       values->highlight_edge);
        const float albedo = add_facets(&bsdf, head_on, values->highlight_edge, layers * matt, entry);
        bsdf.diffuse = rgb_scaled(bsdf.diffuse, 1 - albedo);
    }
    bsdf.glass = rgb(0, 0, 0);
    bsdf.glass_mirror = 0;
    if (glass > 0) {
        float boost = 1;
        if (bsdf.alpha > 0)
            boost = bsdf.is_thin != 0 ? 1 + entry.boost
                                      : albedo_entry(scene, values->glass_table + (is_front ? 0 : 1), cosine,
                                                     smaller(values->roughness, 1.0f))
                                            .boost;
        bsdf.glass_mirror = layers * glass * boost;
        bsdf.glass = rgb_scaled(base, bsdf.glass_mirror);
    }

    const float by_facets =
        luminance(rgb_scaled(bsdf.head_on, entry.head_on)) + luminance(rgb_scaled(bsdf.edge, entry.edge));
    const float by_glass = layers * glass * larger(luminance(base), 0.1f);
    const float by_lambert = luminance(bsdf.diffuse) + luminance(bsdf.sheen);
    const float total = by_coat + by_facets + by_glass + by_lambert;
    const float scale = total > 0 ? 1 / total : 0;
    bsdf.coat_chance = by_coat * scale;
    bsdf.facet_chance = by_facets * scale;
    bsdf.glass_chance = by_glass * scale;
    if (by_lambert == 0) { // exactly 1 together, or rounding would now and then end a path
        if (bsdf.glass_chance > 0)
            bsdf.glass_chance = 1 - bsdf.coat_chance - bsdf.facet_chance;
        else
            bsdf.facet_chance = 1 - bsdf.coat_chance;
    }
    return bsdf;
}

HEADRACE_END_NAMESPACE

#endif
