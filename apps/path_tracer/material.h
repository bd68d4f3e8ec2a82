// apps/path_tracer/material.h - how often a path takes each part of a material. C++ and OpenCL C read this
// file.
#ifndef HEADRACE_PATH_TRACER_MATERIAL_H
#define HEADRACE_PATH_TRACER_MATERIAL_H
#include "vector_math.h"

HEADRACE_NAMESPACE(path_tracer)

HEADRACE_FUNCTION Rgb divided_by_chance(Rgb part, float chance) {
    return chance > 0 ? rgb_scaled(part, 1 / chance) : rgb(0, 0, 0);
}

/// Makes a material of three parts. Each is taken as often as it sends on light: grey surfaces then have no
/// variance from it.
HEADRACE_FUNCTION void set_parts(Material* material, Rgb glass, Rgb mirror, Rgb diffuse) {
    const float by_glass = luminance(glass), by_mirror = luminance(mirror), by_diffuse = luminance(diffuse);
    const float total = by_glass + by_mirror + by_diffuse;
    const float glass_chance = total > 0 ? by_glass / total : 0;
    const float mirror_chance = total > 0 ? by_mirror / total : 0;
    const float diffuse_chance = total > 0 ? by_diffuse / total : 0;
    material->glass_chance = glass_chance;
    // Exactly 1 together where nothing is diffuse, or rounding would now and then end a path at a mirror.
    material->mirror_chance = by_diffuse > 0 ? mirror_chance : 1 - glass_chance;
    material->diffuse = divided_by_chance(diffuse, diffuse_chance);
    material->mirror = divided_by_chance(mirror, mirror_chance);
    material->glass = divided_by_chance(glass, glass_chance);
    material->albedo = diffuse;
}

HEADRACE_END_NAMESPACE

#endif
