// apps/path_tracer/path_tracer.cl - the kernels of path_tracer.kernels.hpp in OpenCL C. What they compute is in files that
// both languages read: the same random numbers and the same order of operations, so that pictures differ by the order of
// sums alone. Why things are done as they are is said there.

#include "vector_math.h" // before all others: it keeps multiplications and additions apart

#define HEADRACE_PARAMETERS                                                                                            \
    __global const BvhNode *nodes, __global const Triangle *triangles, __global const TriangleDetail *details,         \
        __global const Material *materials, __global const Light *lights, __global const PunctualLight *punctual_lights,                                                 \
        __global const CornerShading *corner_shading, __global const CornerColours *corner_colours,                    \
        __global const CornerPlaces *corner_places, __global const SurfaceTextures *surface_textures,                  \
        __global const Texture *textures, __global const TextureLevel *texture_levels, __global const Texel *texels,    \
        __global const Finish *finishes, __global const AlbedoEntry *albedos,                                          \
        __global const EnvironmentCell *environment, __global const Instance *instances,                               \
        __global const uint *chosen_pixels, __global float *film, Frame frame
#define HEADRACE_SCENE                                                                                                 \
    nodes, triangles, details, materials, lights, punctual_lights, corner_shading, corner_colours, corner_places, surface_textures,     \
        textures, texture_levels, texels, finishes, albedos, environment, instances
#define HEADRACE_ARGUMENTS HEADRACE_SCENE, chosen_pixels, film, frame

typedef PathVertex HrUnit;

// ---- scene_view.hpp, gpu_habits.hpp

typedef struct SceneView {
    __global const BvhNode* nodes;
    __global const Triangle* triangles;
    __global const TriangleDetail* details;
    __global const Material* materials;
    __global const Light* lights;
    __global const PunctualLight* punctual_lights;
    __global const CornerShading* corner_shading;
    __global const CornerColours* corner_colours;
    __global const CornerPlaces* corner_places;
    __global const SurfaceTextures* surface_textures;
    __global const Texture* textures;
    __global const TextureLevel* texture_levels;
    __global const Texel* texels;
    __global const Finish* finishes;
    __global const AlbedoEntry* albedos;
    __global const EnvironmentCell* environment;
    __global const Instance* instances;
} SceneView;

HR_FUNCTION SceneView scene_of(__global const BvhNode* nodes, __global const Triangle* triangles,
                               __global const TriangleDetail* details, __global const Instance* instances) {
    const SceneView scene = {nodes, triangles, details, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, instances};
    return scene;
}

#define PATH_TRACER_ORIGIN(array) (array)
#define fetch(from, index) ((from)[index])
#define no_lane(mine) false

#include "path.h"

#ifdef FIRST_HITS
    #include "first_hit.h"
#endif

// ---- path_tracer.kernels.hpp

HR_FUNCTION void add_rgb(__global float* to, Rgb sum) {
    hr_atomic_add_float(to, sum.r);
    hr_atomic_add_float(to + 1, sum.g);
    hr_atomic_add_float(to + 2, sum.b);
}

HR_FUNCTION void add_to_film(__global float* film, uint pixel, Rgb radiance) {
    if (!is_black(radiance)) add_rgb(film + 3 * (ulong)pixel, radiance);
}

#if defined(FIRST_HITS)
// Apart: with instances, NVIDIA's compiler (driver 580) made of it, as a part of hr_consume, a kernel that ends at once.
HEADRACE_FUNCTION_APART FirstHit first_hit_apart(const SceneView* scene, const Frame* frame, const PathVertex* vertex) {
    return first_hit(SHADING, scene, frame, vertex);
}

void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    const SceneView scene = {HEADRACE_SCENE};
    const PathVertex vertex = begin_path(&frame, chosen_pixels, index);
    const FirstHit found = first_hit_apart(&scene, &frame, &vertex);
    if (!(found.hits > 0)) return;
    __global float* to = film + sizeof(FirstHit) / sizeof(float) * (ulong)vertex.pixel;
    add_rgb(to, found.albedo);
    add_rgb(to + 3, rgb(found.normal.x, found.normal.y, found.normal.z));
    hr_atomic_add_float(to + 6, found.distance);
    hr_atomic_add_float(to + 7, found.hits);
}
#elif defined(HEADRACE_CONSUMER)
void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    const SceneView scene = {HEADRACE_SCENE};
    PathVertex vertex = begin_path(&frame, chosen_pixels, index);
    PathVertex next;
    Rgb sum = rgb(0, 0, 0), radiance;
    for (;;) {
        const bool goes_on = trace_vertex(SHADING, &scene, &frame, &vertex, &radiance, &next);
        sum = rgb_add(sum, radiance);
        if (!goes_on) break;
        vertex = next;
    }
    add_to_film(film, vertex.pixel, sum);
}
#else
void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    *unit = begin_path(&frame, chosen_pixels, index);
}

void hr_run(HrLane* lane, uint kind, HrUnit vertex, HEADRACE_PARAMETERS) {
    const SceneView scene = {HEADRACE_SCENE};
    PathVertex next;
    Rgb radiance;
    const bool goes_on = trace_vertex(SHADING, &scene, &frame, &vertex, &radiance, &next);
    add_to_film(film, vertex.pixel, radiance);
    if (goes_on) hr_spawn(lane, 0, &next);
}
#endif
