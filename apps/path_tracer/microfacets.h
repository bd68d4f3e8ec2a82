// apps/path_tracer/microfacets.h - rough surfaces as many small mirrors, by the distribution GGX, and the
// fibres of cloth. C++ and OpenCL C read this file.
//
// Everywhere here `out` leads to where light is seen from, `in` to where it comes from; both have length 1. A
// value is the BSDF times the cosine of `in`: light from all around is its integral over `in`. `alpha` is the
// square of a material's roughness. A vector is seen from its normal by a cosine and a squared sine, which do
// not cancel for the sharpest lobes.
//
// Sources  Walter et al., "Microfacet models for refraction through rough surfaces", EGSR 2007; Heitz,
//          "Understanding the masking-shadowing function in microfacet-based BRDFs", JCGT 2014
#ifndef HEADRACE_PATH_TRACER_MICROFACETS_H
#define HEADRACE_PATH_TRACER_MICROFACETS_H
#include "powers.h"

HEADRACE_NAMESPACE(path_tracer)

#define PATH_TRACER_INVERSE_PI 0.318309886f

/// Below it a surface is smooth: floats do not hold so sharp a lobe, and eyes do not see it.
#define PATH_TRACER_LEAST_ALPHA 1e-3f

/// How densely normals of facets lie around one that leans so far, per area seen from above.
HEADRACE_FUNCTION float facet_density(Float3 normal, Float3 facet, float alpha) {
    const Float3 across = cross_of(normal, facet);
    const float cosine = dot_of(normal, facet), alpha2 = alpha * alpha;
    const float spread = dot_of(across, across) + alpha2 * cosine * cosine;
    return alpha2 * PATH_TRACER_INVERSE_PI / (spread * spread);
}

/// Smith's masking is 2 cosine / (cosine + this).
HEADRACE_FUNCTION float masking_root(float cosine, float alpha) {
    const float alpha2 = alpha * alpha;
    return sqrt(alpha2 + (1 - alpha2) * cosine * cosine);
}

/// The share of facets that is seen at this cosine to the normal.
HEADRACE_FUNCTION float unmasked(float cosine, float alpha) {
    return 2 * cosine / (cosine + masking_root(cosine, alpha));
}

/// A direction at this cosine reflected by facets that reflect everything: facets hide one another from both
/// directions, where those that are low are hidden from both.
///
/// `out_cosine`, `in_cosine`: above 0
HEADRACE_FUNCTION float reflected_by_facets(float density, float out_cosine, float in_cosine, float alpha) {
    return 0.5f * density * in_cosine /
           (out_cosine * masking_root(in_cosine, alpha) + in_cosine * masking_root(out_cosine, alpha));
}

/// Per solid angle of the facet's normal, with which visible_facet takes it, over 4 times the cosine of `out`
/// to the facet: that is the density of what it reflects.
HEADRACE_FUNCTION float reflected_facet_density(float density, float out_cosine, float alpha) {
    return 0.5f * density / (out_cosine + masking_root(out_cosine, alpha));
}

/// A facet, as often as it is seen along `out`, which is above the normal's plane.
///
/// Source  Dupuy and Benyoub, "Sampling visible GGX normals with spherical caps", HPG 2023
HEADRACE_FUNCTION Float3 visible_facet(Float3 out, Float3 normal, float alpha, float random_x,
                                       float random_y) {
    Float3 tangent, bitangent;
    make_frame(normal, &tangent, &bitangent);
    // Stretched, the facets are those of a hemisphere, and what it mirrors is uniform on a cap.
    const Float3 seen_from =
        normalised(vec(alpha * dot_of(out, tangent), alpha * dot_of(out, bitangent), dot_of(out, normal)));
    const float z = (1 - random_x) * (1 + seen_from.z) - seen_from.z;
    const float radius = sqrt(larger(1 - z * z, 0.0f));
    float sine, cosine;
    sin_cos_of_turns(random_y, &sine, &cosine);
    const Float3 half_way = add(vec(radius * cosine, radius * sine, z), seen_from);
    const float up = larger(half_way.z, 1e-7f);
    return normalised(add(add(scaled(tangent, alpha * half_way.x), scaled(bitangent, alpha * half_way.y)),
                          scaled(normal, up)));
}

HEADRACE_FUNCTION Float3 mirrored_at(Float3 direction, Float3 normal) {
    return sub(scaled(normal, 2 * dot_of(direction, normal)), direction);
}

/// Schlick's (1 - cosine)^5: how far reflectance has gone from what it is head-on to what it is at the edge.
HEADRACE_FUNCTION float edge_share(float cosine) {
    const float lacks = smaller(larger(1 - cosine, 0.0f), 1.0f);
    const float squared = lacks * lacks;
    return squared * squared * lacks;
}

/// Reflectance of a smooth boundary for unpolarised light, by Fresnel's equations.
///
/// Units     `ratio` is the index of refraction on the far side over that on the near side
/// Result    1 under total internal reflection; else `cosine_in_far` is that of the refracted ray
HEADRACE_FUNCTION float fresnel(float cosine, float ratio, float* cosine_in_far) {
    const float sine2 = (1 - cosine * cosine) / (ratio * ratio);
    if (sine2 >= 1) return 1;
    *cosine_in_far = sqrt(1 - sine2);
    const float across = (cosine - ratio * *cosine_in_far) / (cosine + ratio * *cosine_in_far);
    const float along = (ratio * cosine - *cosine_in_far) / (ratio * cosine + *cosine_in_far);
    return 0.5f * (across * across + along * along);
}

/// What a facet that `out` meets at this cosine makes of it behind the boundary.
HEADRACE_FUNCTION Float3 refracted_at(Float3 out, Float3 facet, float cosine, float ratio,
                                      float cosine_in_far) {
    return normalised(sub(scaled(facet, cosine / ratio - cosine_in_far), scaled(out, 1 / ratio)));
}

/// What facets refract, and with which density visible_facet and refracted_at come to `in`.
///
/// `in`: behind the boundary. `cosine`s: to the normal, above 0
HEADRACE_FUNCTION float refracted_by_facets(Float3 out, Float3 in, Float3 normal, float ratio, float alpha,
                                            float out_cosine, float in_cosine, float* density) {
    *density = 0;
    Float3 facet = add(out, scaled(in, ratio));
    const float size2 = dot_of(facet, facet);
    if (!(size2 > 1e-12f)) return 0; // without refraction, and straight on: no facet does that alone
    facet = scaled(facet, (dot_of(facet, normal) < 0 ? -1.0f : 1.0f) / sqrt(size2));
    const float out_facet = dot_of(out, facet), in_facet = -dot_of(in, facet);
    if (!(out_facet > 0 && in_facet > 0)) return 0;
    float ignored;
    const float passes = 1 - fresnel(smaller(out_facet, 1.0f), ratio, &ignored);
    const float jacobian = ratio * ratio * in_facet / size2;
    const float seen =
        unmasked(out_cosine, alpha) * facet_density(normal, facet, alpha) * out_facet / out_cosine;
    *density = passes * seen * jacobian;
    return *density * unmasked(in_cosine, alpha);
}

/// An exponent of fibres' masking.
HEADRACE_FUNCTION float fibre_exponent(float cosine, float smoothness2) {
    const float a = 21.5473f + (25.3245f - 21.5473f) * smoothness2;
    const float b = 3.82987f + (3.32435f - 3.82987f) * smoothness2;
    const float c = 0.19823f + (0.16801f - 0.19823f) * smoothness2;
    const float d = -1.97760f + (-1.27393f + 1.97760f) * smoothness2;
    const float e = -4.32054f + (-4.85967f + 4.32054f) * smoothness2;
    return a / (1 + b * power_of(cosine, c)) + d * cosine + e;
}
HEADRACE_FUNCTION float fibre_masking(float cosine, float alpha) {
    const float smoothness2 = (1 - alpha) * (1 - alpha);
    return exponential(cosine < 0.5f
                           ? fibre_exponent(cosine, smoothness2)
                           : 2 * fibre_exponent(0.5f, smoothness2) - fibre_exponent(1 - cosine, smoothness2));
}

/// What upright fibres reflect, which are brightest at the edge of what is seen.
///
/// Source  Estevez and Kulla, "Production friendly microfacet sheen BRDF", SIGGRAPH 2017
HEADRACE_FUNCTION float reflected_by_fibres(Float3 out, Float3 in, Float3 normal, float alpha,
                                            float out_cosine, float in_cosine) {
    const Float3 between = add(out, in);
    const Float3 half_way = scaled(between, 1.0f / sqrt(larger(dot_of(between, between), 1e-12f)));
    const Float3 across = cross_of(normal, half_way);
    const float sine = sqrt(smaller(dot_of(across, across), 1.0f));
    const float density = (2 + 1 / alpha) * power_of(sine, 1 / alpha) * (0.5f * PATH_TRACER_INVERSE_PI);
    const float seen = 1 / ((1 + fibre_masking(out_cosine, alpha) + fibre_masking(in_cosine, alpha)) * 4 *
                            out_cosine * in_cosine);
    return density * smaller(seen, 1.0f) * in_cosine;
}

HEADRACE_END_NAMESPACE

#endif
