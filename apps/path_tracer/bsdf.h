// apps/path_tracer/bsdf.h - what a surface does to light, with all that a material can have: its value for
// two directions, and a choice of the next one. C++ and OpenCL C read this file, after the scene as kernels
// see it.
//
//     a coat, and below it fibres (sheen), and below them
//         metal and mirror        reflect on facets
//         clear layer on Lambert  reflects on facets, and lets the rest through
//         glass                   reflects and refracts on facets
//
// Each layer lets through what it does not reflect, on average over all directions, as albedo tables have it.
// So hardly any light is lost or made, and what facets reflect to one another counts (albedo_tables.hpp).
//
// Facets are those of the shading normal. A direction that leads to the wrong side of the triangle is
// mirrored to the other one: the value of a direction includes that of its mirror image. No light passes,
// and none is lost.
#ifndef HEADRACE_PATH_TRACER_BSDF_H
#define HEADRACE_PATH_TRACER_BSDF_H
#include "corner_shading.h"
#include "microfacets.h"
#include "random_block.h"

HEADRACE_NAMESPACE(path_tracer)

/// A surface at the point where it is met, seen along one direction. Reflectances are those with all layers.
/// Where an alpha is 0, the lobe is one direction, and has no value.
typedef struct Bsdf {
    Float3 out;         ///< to where the surface is seen from
    Float3 normal;      ///< the triangle's, on that side
    Float3 shading;     ///< the normal of facets, on that side
    Float3 lobe;        ///< see lambert_lobe
    Float3 coat_normal; ///< on that side
    Rgb diffuse;        ///< Lambert
    Rgb head_on, edge;  ///< of facets: reflectance along their normals, and across them
    Rgb sheen;          ///< of fibres
    Rgb glass;          ///< of what facets refract
    float glass_mirror; ///< of what the same facets reflect
    float ratio;        ///< see fresnel
    float alpha;        ///< of facets
    float coat, coat_alpha;
    float sheen_alpha;
    float coat_chance, facet_chance, glass_chance; ///< of their being taken; what is left has Lambert
    uint32_t is_thin;                              ///< 1: glass does not change the direction of light
    uint32_t is_leaning;                           ///< 1: some normal is not that of the triangle
} Bsdf;

/// Schlick's reflectance between two values.
HEADRACE_FUNCTION float reflectance_between(float head_on, float edge, float cosine) {
    return head_on + (edge - head_on) * edge_share(cosine);
}

#define PATH_TRACER_COAT_HEAD_ON 0.04f /* that of an index of refraction of 1.5 */

/// Part of the value on the side of `out`, for facets, glass, fibres and the coat. Adds to `density`.
HEADRACE_FUNCTION Rgb reflected_value(const Bsdf* bsdf, Float3 in, float* density) {
    Rgb value = rgb(0, 0, 0);
    const float in_cosine = dot_of(bsdf->shading, in);
    if (in_cosine > 0) {
        const float out_cosine = dot_of(bsdf->shading, bsdf->out);
        if (bsdf->alpha > 0 && bsdf->facet_chance + bsdf->glass_chance > 0) {
            const Float3 facet = normalised(add(bsdf->out, in));
            const float cosine = dot_of(bsdf->out, facet);
            float chance = bsdf->facet_chance;
            value = rgb(reflectance_between(bsdf->head_on.r, bsdf->edge.r, cosine),
                        reflectance_between(bsdf->head_on.g, bsdf->edge.g, cosine),
                        reflectance_between(bsdf->head_on.b, bsdf->edge.b, cosine));
            if (bsdf->glass_chance > 0) {
                float ignored;
                const float mirrors = fresnel(smaller(cosine, 1.0f), bsdf->ratio, &ignored);
                const float by_glass = bsdf->glass_mirror * mirrors;
                value = rgb_add(value, rgb(by_glass, by_glass, by_glass));
                chance += bsdf->glass_chance * mirrors;
            }
            const float facets = facet_density(bsdf->shading, facet, bsdf->alpha);
            value = rgb_scaled(value, reflected_by_facets(facets, out_cosine, in_cosine, bsdf->alpha));
            *density += chance * reflected_facet_density(facets, out_cosine, bsdf->alpha);
        }
        if (!is_black(bsdf->sheen))
            value = rgb_add(value, rgb_scaled(bsdf->sheen,
                                              reflected_by_fibres(bsdf->out, in, bsdf->shading,
                                                                  bsdf->sheen_alpha, out_cosine, in_cosine)));
    }
    if (bsdf->coat_chance > 0 && bsdf->coat_alpha > 0) {
        const float coat_in = dot_of(bsdf->coat_normal, in);
        if (coat_in > 0) {
            const Float3 facet = normalised(add(bsdf->out, in));
            const float coat_out = dot_of(bsdf->coat_normal, bsdf->out);
            const float facets = facet_density(bsdf->coat_normal, facet, bsdf->coat_alpha);
            const float by_coat = bsdf->coat *
                                  reflectance_between(PATH_TRACER_COAT_HEAD_ON, 1, dot_of(bsdf->out, facet)) *
                                  reflected_by_facets(facets, coat_out, coat_in, bsdf->coat_alpha);
            value = rgb_add(value, rgb(by_coat, by_coat, by_coat));
            *density += bsdf->coat_chance * reflected_facet_density(facets, coat_out, bsdf->coat_alpha);
        }
    }
    return value;
}

/// Part of the value behind the surface: rough glass. Adds to `density`.
HEADRACE_FUNCTION Rgb refracted_value(const Bsdf* bsdf, Float3 in, float* density) {
    const float in_cosine = -dot_of(bsdf->shading, in);
    if (!(in_cosine > 0)) return rgb(0, 0, 0);
    const float out_cosine = dot_of(bsdf->shading, bsdf->out);
    float own_density, value;
    if (bsdf->is_thin != 0) { // what facets of a pane let through is spread as what they reflect
        const Float3 reflected = add(in, scaled(bsdf->shading, 2 * in_cosine));
        const Float3 facet = normalised(add(bsdf->out, reflected));
        float ignored;
        const float passes = 1 - fresnel(smaller(dot_of(bsdf->out, facet), 1.0f), bsdf->ratio, &ignored);
        const float facets = facet_density(bsdf->shading, facet, bsdf->alpha);
        own_density = passes * reflected_facet_density(facets, out_cosine, bsdf->alpha);
        value = passes * reflected_by_facets(facets, out_cosine, in_cosine, bsdf->alpha);
    } else {
        value = refracted_by_facets(bsdf->out, in, bsdf->shading, bsdf->ratio, bsdf->alpha, out_cosine,
                                    in_cosine, &own_density);
    }
    *density += bsdf->glass_chance * own_density;
    return rgb_scaled(bsdf->glass, value);
}

HEADRACE_FUNCTION float lambert_chance(const Bsdf* bsdf) {
    return 1 - bsdf->coat_chance - bsdf->facet_chance - bsdf->glass_chance;
}

/// The BSDF for light from `in`, times its cosine, without what goes in one direction alone. `density`: per
/// solid angle, with which next_direction comes to it.
HEADRACE_FUNCTION Rgb bsdf_value(const Bsdf* bsdf, Float3 in, float* density) {
    Rgb value = rgb(0, 0, 0);
    *density = 0;
    const float rise = dot_of(bsdf->normal, in);
    const Float3 image = sub(in, scaled(bsdf->normal, 2 * rise));
    if (rise > 0) {
        const float cosine = dot_of(bsdf->lobe, in) * PATH_TRACER_INVERSE_PI;
        if (cosine > 0) {
            value = rgb_scaled(bsdf->diffuse, cosine);
            *density = lambert_chance(bsdf) * cosine;
        }
        value = rgb_add(value, reflected_value(bsdf, in, density));
        if (bsdf->is_leaning != 0) value = rgb_add(value, reflected_value(bsdf, image, density));
    } else if (bsdf->glass_chance > 0 && bsdf->alpha > 0) {
        value = refracted_value(bsdf, in, density);
        if (bsdf->is_leaning != 0) value = rgb_add(value, refracted_value(bsdf, image, density));
    }
    return value;
}

/// Whether shadow rays may bring light: not where all lobes are one direction.
HEADRACE_FUNCTION bool has_value(const Bsdf* bsdf) {
    return !is_black(bsdf->diffuse) || !is_black(bsdf->sheen) ||
           (bsdf->alpha > 0 && bsdf->facet_chance + bsdf->glass_chance > 0) ||
           (bsdf->coat_alpha > 0 && bsdf->coat_chance > 0);
}

/// Where a path goes on.
typedef struct NextDirection {
    Float3 direction;
    Rgb weight;    ///< factor of its throughput; black: it ends
    float density; ///< see bsdf_value; 0: this lobe is one direction
} NextDirection;

HEADRACE_FUNCTION NextDirection one_direction(Float3 direction, Rgb weight) {
    const NextDirection next = {direction, weight, 0};
    return next;
}

/// The part of the glass that does not reflect, in the direction of the smooth one.
HEADRACE_FUNCTION NextDirection next_through_smooth_glass(const Bsdf* bsdf, Float3 facet, float cosine,
                                                          float cosine_in_far) {
    Float3 direction = negated(bsdf->out);
    if (bsdf->is_thin == 0)
        direction = turned_above(refracted_at(bsdf->out, facet, cosine, bsdf->ratio, cosine_in_far),
                                 negated(bsdf->normal));
    return one_direction(direction, rgb_scaled(bsdf->glass, 1 / bsdf->glass_chance));
}

/// A direction, by chance, about as often as the surface sends light there.
HEADRACE_FUNCTION NextDirection next_direction(const Bsdf* bsdf, Random4 random) {
    NextDirection next = one_direction(bsdf->normal, rgb(0, 0, 0));
    const float choice = random.x - bsdf->coat_chance;
    bool passes = false;
    if (choice < 0) {
        if (bsdf->coat_alpha == 0) {
            const float by_coat =
                bsdf->coat / bsdf->coat_chance *
                reflectance_between(PATH_TRACER_COAT_HEAD_ON, 1, dot_of(bsdf->coat_normal, bsdf->out));
            return one_direction(mirrored_above(negated(bsdf->out), bsdf->coat_normal, bsdf->normal),
                                 rgb(by_coat, by_coat, by_coat));
        }
        next.direction = mirrored_at(
            bsdf->out, visible_facet(bsdf->out, bsdf->coat_normal, bsdf->coat_alpha, random.y, random.z));
        if (!(dot_of(bsdf->coat_normal, next.direction) > 0)) return next;
    } else if (choice < bsdf->facet_chance + bsdf->glass_chance) {
        const bool is_smooth = bsdf->alpha == 0;
        const Float3 mirrored =
            is_smooth ? mirrored_above(negated(bsdf->out), bsdf->shading, bsdf->normal) : bsdf->normal;
        // Where a mirrored direction was lifted, the normal that mirrors so.
        const Float3 facet = is_smooth
                                 ? normalised(add(mirrored, bsdf->out))
                                 : visible_facet(bsdf->out, bsdf->shading, bsdf->alpha, random.y, random.z);
        const float cosine = smaller(dot_of(bsdf->out, facet), 1.0f);
        float cosine_in_far = 0;
        bool reflects = true;
        Rgb weight;
        if (choice < bsdf->facet_chance) {
            weight = rgb_scaled(rgb(reflectance_between(bsdf->head_on.r, bsdf->edge.r, cosine),
                                    reflectance_between(bsdf->head_on.g, bsdf->edge.g, cosine),
                                    reflectance_between(bsdf->head_on.b, bsdf->edge.b, cosine)),
                                1 / bsdf->facet_chance);
        } else {
            const float mirrors = fresnel(cosine, bsdf->ratio, &cosine_in_far);
            reflects = choice - bsdf->facet_chance < mirrors * bsdf->glass_chance;
            const float by_glass = bsdf->glass_mirror / bsdf->glass_chance;
            weight = rgb(by_glass, by_glass, by_glass);
        }
        if (is_smooth)
            return reflects ? one_direction(mirrored, weight)
                            : next_through_smooth_glass(bsdf, facet, cosine, cosine_in_far);
        passes = !reflects;
        next.direction = mirrored_at(bsdf->out, facet);
        if (passes && bsdf->is_thin != 0)
            next.direction =
                sub(next.direction, scaled(bsdf->shading, 2 * dot_of(bsdf->shading, next.direction)));
        else if (passes)
            next.direction = refracted_at(bsdf->out, facet, cosine, bsdf->ratio, cosine_in_far);
        const float own_side = dot_of(bsdf->shading, next.direction);
        if (!(passes ? own_side < 0 : own_side > 0)) return next; // other facets hide it
    } else {
        float sine, cosine_around;
        sin_cos_of_turns(random.z, &sine, &cosine_around);
        const float radius = sqrt(random.y);
        next.direction =
            lambert_direction(bsdf->shading, bsdf->normal, radius * cosine_around, radius * sine);
        if (lambert_chance(bsdf) == 1 && is_black(bsdf->sheen)) { // exactly, and most surfaces are so
            next.weight = bsdf->diffuse;
            next.density = dot_of(bsdf->lobe, next.direction) * PATH_TRACER_INVERSE_PI;
            return next;
        }
    }
    next.direction = normalised(turned_above(next.direction, passes ? negated(bsdf->normal) : bsdf->normal));
    const Rgb value = bsdf_value(bsdf, next.direction, &next.density);
    if (next.density > 0) next.weight = rgb_scaled(value, 1 / next.density);
    return next;
}

HEADRACE_END_NAMESPACE

#endif
