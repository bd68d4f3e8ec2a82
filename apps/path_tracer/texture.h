// apps/path_tracer/texture.h - what a texture has at a point of a triangle. C++ and OpenCL C read this file,
// after the scene as kernels see it.
//
// A sample stands for a part of its pixel, and so for more or fewer texels. Those are averaged beforehand, in
// pictures of half the size each, and the two of nearest size are mixed. The narrow side of what a sample
// covers counts, not the long one: samples of a pixel lie in different places, and together make up for that.
//
// Sources  Williams, "Pyramidal parametrics", SIGGRAPH 1983; for the width along a path, Amanatides, "Ray
//          tracing with cones", SIGGRAPH 1984
#ifndef HEADRACE_PATH_TRACER_TEXTURE_H
#define HEADRACE_PATH_TRACER_TEXTURE_H
#include "vector_math.h"

HEADRACE_NAMESPACE(path_tracer)

typedef struct Rgba {
    Rgb colour;
    float opacity;
} Rgba;

/// A point of a triangle where a sample meets it.
typedef struct SurfacePoint {
    uint32_t triangle; ///< its index
    float u, v;
    float part;        ///< the square of the sample's width, in parts of twice the triangle's area
    uint32_t instance; ///< of the triangle, or PATH_TRACER_NONE
} SurfacePoint;

/// `triangle`: as it lies in the scene. `width`: of the sample.
HEADRACE_FUNCTION SurfacePoint surface_point(const Triangle* triangle, uint32_t instance, uint32_t index,
                                             float u, float v, float width) {
    const Float3 across = cross_of(sub(triangle->b, triangle->a), sub(triangle->c, triangle->a));
    const float area = sqrt(dot_of(across, across));
    const SurfacePoint point = {index, u, v, area > 0 ? width * width / area : 0.0f, instance};
    return point;
}

/// A float of 16 bits that is not negative. One below 2^-14 may be 0.
HEADRACE_FUNCTION float half_value(uint32_t bits) { return as_float((bits & 0x7fffu) << 13) * 0x1p112f; }

HEADRACE_FUNCTION Rgba texel_value(Texel texel) {
    const Rgba value = {
        {half_value(texel.red_green), half_value(texel.red_green >> 16), half_value(texel.blue_opacity)},
        half_value(texel.blue_opacity >> 16)};
    return value;
}

HEADRACE_FUNCTION float between(float a, float b, float share_of_b) { return a + (b - a) * share_of_b; }
HEADRACE_FUNCTION Rgba rgba_between(Rgba a, Rgba b, float share_of_b) {
    const Rgba value = {{between(a.colour.r, b.colour.r, share_of_b),
                         between(a.colour.g, b.colour.g, share_of_b),
                         between(a.colour.b, b.colour.b, share_of_b)},
                        between(a.opacity, b.opacity, share_of_b)};
    return value;
}

/// A coordinate in the picture, from 0 to 1.
HEADRACE_FUNCTION float wrapped(float place, uint32_t wrap) {
    if (wrap == WRAP_KEEPS_EDGE) return smaller(larger(place, 0.0f), 1.0f);
    if (wrap == WRAP_REPEATS) return place - floor(place);
    const float there_and_back = place - 2 * floor(0.5f * place);
    return there_and_back > 1 ? 2 - there_and_back : there_and_back;
}

/// The texel that is `place`, which is at most one beyond the edges.
HEADRACE_FUNCTION uint32_t wrapped_texel(int32_t place, uint32_t count, uint32_t wrap) {
    if (place < 0) return wrap == WRAP_REPEATS ? count - 1 : 0;
    if ((uint32_t)place >= count) return wrap == WRAP_REPEATS ? 0 : count - 1;
    return (uint32_t)place;
}

/// Texels beside each other along one axis, and the share of the second.
typedef struct TexelPair {
    uint32_t first, second;
    float share_of_second;
} TexelPair;

/// `place`: from 0 to 1.
HEADRACE_FUNCTION TexelPair texels_around(float place, uint32_t count, uint32_t wrap, bool is_pixelated) {
    const float in_texels = place * (float)count;
    if (is_pixelated) {
        const uint32_t own = wrapped_texel((int32_t)floor(in_texels), count, wrap);
        const TexelPair one = {own, own, 0};
        return one;
    }
    const float from_centre = in_texels - 0.5f;
    const float before = floor(from_centre);
    const int32_t first = (int32_t)before;
    const TexelPair pair = {wrapped_texel(first, count, wrap), wrapped_texel(first + 1, count, wrap),
                            from_centre - before};
    return pair;
}

HEADRACE_FUNCTION Rgba level_value(const SceneView* scene, const Texture* texture, uint32_t number, float u,
                                   float v, bool is_pixelated) {
    const TextureLevel level = fetch(scene->texture_levels, texture->level + number);
    const TexelPair columns = texels_around(u, level.width, texture->wrap_u, is_pixelated);
    const TexelPair rows = texels_around(v, level.height, texture->wrap_v, is_pixelated);
    const uint32_t upper = level.first + rows.first * level.width;
    const uint32_t lower = level.first + rows.second * level.width;
    return rgba_between(
        rgba_between(texel_value(scene->texels[upper + columns.first]),
                     texel_value(scene->texels[upper + columns.second]), columns.share_of_second),
        rgba_between(texel_value(scene->texels[lower + columns.first]),
                     texel_value(scene->texels[lower + columns.second]), columns.share_of_second),
        rows.share_of_second);
}

/// The binary logarithm of a number above 0, to 0.09, without steps.
HEADRACE_FUNCTION float rough_log2(float number) { return (float)as_uint(number) * 0x1p-23f - 127; }

/// Where the triangle lies in its textures of this set.
HEADRACE_FUNCTION CornerPlaces corner_places(const SceneView* scene, uint32_t triangle, uint32_t set) {
    CornerPlaces places = fetch(scene->corner_places, triangle);
    for (; set > 0; --set) places = fetch(scene->corner_places, places.other);
    return places;
}

/// Twice the area of a triangle in its textures; negative if its corners run the other way round there.
HEADRACE_FUNCTION float texture_area(const CornerPlaces* places) {
    return (places->b.u - places->a.u) * (places->c.v - places->a.v) -
           (places->c.u - places->a.u) * (places->b.v - places->a.v);
}

HEADRACE_FUNCTION Rgba texture_value(const SceneView* scene, uint32_t index, const SurfacePoint* point) {
    const Texture texture = fetch(scene->textures, index);
    const CornerPlaces places = corner_places(scene, point->triangle, texture.set);
    const float a = 1 - point->u - point->v;
    const float from_u = a * places.a.u + point->u * places.b.u + point->v * places.c.u;
    const float from_v = a * places.a.v + point->u * places.b.v + point->v * places.c.v;
    const float u =
        wrapped(texture.u_from_u * from_u + texture.u_from_v * from_v + texture.u_shift, texture.wrap_u);
    const float v =
        wrapped(texture.v_from_u * from_u + texture.v_from_v * from_v + texture.v_shift, texture.wrap_v);

    const float texels = point->part * magnitude(texture_area(&places)) * texture.texels;
    if (!(texels > 1)) return level_value(scene, &texture, 0, u, v, texture.is_pixelated != 0);
    const float log_texels = rough_log2(texels);
    const float of_squares = smaller(0.5f * log_texels, texture.square_levels);
    const float level = smaller(log_texels - of_squares, (float)(texture.levels - 1));
    const uint32_t finer = (uint32_t)level;
    const float share_of_coarser = level - (float)finer;
    const Rgba value = level_value(scene, &texture, finer, u, v, false);
    if (finer + 1 >= texture.levels) return value;
    return rgba_between(value, level_value(scene, &texture, finer + 1, u, v, false), share_of_coarser);
}

HEADRACE_END_NAMESPACE

#endif
