// apps/path_tracer/environment.h - light from far away, as a picture of all directions. C++ and OpenCL C read
// this file, after the scene as kernels see it.
//
// The picture has longitudes and latitudes: its middle column lies towards -z, columns to the right of it
// towards +x, its upper row towards +y. Shadow rays take a cell of it as often as light comes from there.
#ifndef HEADRACE_PATH_TRACER_ENVIRONMENT_H
#define HEADRACE_PATH_TRACER_ENVIRONMENT_H
#include "microfacets.h"
#include "random_block.h"
#include "texture.h"

HEADRACE_NAMESPACE(path_tracer)

/// The angle of (x, y) to the x axis, in turns from -1/2 to 1/2, to 1e-7.
HEADRACE_FUNCTION float turns_of(float x, float y) {
    const float wide = larger(magnitude(x), magnitude(y)), narrow = smaller(magnitude(x), magnitude(y));
    if (wide == 0) return 0;
    // Of the arc tangent, from 0 to 1/8 of a turn: t + (t - 1) / (t + 1) halves the argument's range.
    const float ratio = narrow / wide;
    const bool is_far = ratio > 0.414213562f; // tan of 1/16 turn
    const float t = is_far ? (ratio - 1) / (ratio + 1) : ratio, t2 = t * t;
    const float series =
        t * (1 - t2 * (3.33333333e-1f -
                       t2 * (0.2f - t2 * (1.42857143e-1f -
                                          t2 * (1.11111111e-1f - t2 * (9.09090909e-2f - t2 * 7.0e-2f))))));
    float turns = series * 0.159154943f + (is_far ? 0.125f : 0.0f);
    if (magnitude(y) > magnitude(x)) turns = 0.25f - turns;
    if (x < 0) turns = 0.5f - turns;
    return y < 0 ? -turns : turns;
}

/// Where a direction lies in the picture.
HEADRACE_FUNCTION TexturePoint place_in_environment(const Frame* frame, Float3 direction) {
    const float level = sqrt(direction.x * direction.x + direction.z * direction.z);
    const float across = 0.5f + turns_of(-direction.z, direction.x) + frame->environment_turn;
    const TexturePoint place = {across - floor(across), 2 * magnitude(turns_of(direction.y, level))};
    return place;
}

HEADRACE_FUNCTION Float3 direction_in_environment(const Frame* frame, TexturePoint place) {
    float across = place.u - 0.5f - frame->environment_turn;
    across -= floor(across);
    float sine, cosine, level, up;
    sin_cos_of_turns(smaller(across, 0x1.fffffep-1f), &sine, &cosine);
    sin_cos_of_turns(0.5f * place.v, &level, &up);
    return vec(level * sine, up, -level * cosine);
}

/// What comes from a direction.
HEADRACE_FUNCTION Rgb environment_radiance(const SceneView* scene, const Frame* frame, Float3 direction) {
    const TexturePoint place = place_in_environment(frame, direction);
    const Texture texture = fetch(scene->textures, frame->environment_texture);
    return rgb_scaled(level_value(scene, &texture, 0, place.u, place.v, false).colour,
                      frame->environment_scale);
}

/// Per solid angle, with which all shadow rays of a hit together go in this direction.
HEADRACE_FUNCTION float environment_density(const SceneView* scene, const Frame* frame, Float3 direction) {
    const TexturePoint place = place_in_environment(frame, direction);
    const uint32_t columns = frame->environment_columns, rows = frame->environment_rows;
    uint32_t column = (uint32_t)(place.u * (float)columns), row = (uint32_t)(place.v * (float)rows);
    column = column < columns ? column : columns - 1;
    row = row < rows ? row : rows - 1;
    const float level = sqrt(direction.x * direction.x + direction.z * direction.z);
    return (float)frame->shadow_rays * (1 - frame->lamp_chance) *
           scene->environment[row * columns + column].density / larger(level, 1e-6f);
}

/// A direction from which light comes, by chance.
HEADRACE_FUNCTION Float3 environment_direction(const SceneView* scene, const Frame* frame, Random4 random) {
    const uint32_t columns = frame->environment_columns, cells = columns * frame->environment_rows;
    uint32_t cell = (uint32_t)(random.x * (float)cells);
    cell = cell < cells ? cell : cells - 1;
    if (random.y >= scene->environment[cell].keep) cell = scene->environment[cell].alias;
    const uint32_t row = cell / columns;
    const TexturePoint place = {((float)(cell - row * columns) + random.z) / (float)columns,
                                ((float)row + random.w) / (float)frame->environment_rows};
    return direction_in_environment(frame, place);
}

HEADRACE_END_NAMESPACE

#endif
