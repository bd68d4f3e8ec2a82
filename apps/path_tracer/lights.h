// apps/path_tracer/lights.h - where shadow rays go, and what they find there if nothing is in the way. C++
// and OpenCL C read this file, after the scene as kernels see it.
#ifndef HEADRACE_PATH_TRACER_LIGHTS_H
#define HEADRACE_PATH_TRACER_LIGHTS_H
#include "environment.h"
#include "intersect.h"
#include "surface.h"

HEADRACE_NAMESPACE(path_tracer)

/// The share of an emitter that falls to the way of finding it that has the density `own`, if there is
/// another. Near a lamp shadow rays alone have no bounded variance, and for small lamps far away chance
/// alone is hopeless.
///
/// Source  Veach and Guibas, "Optimally combining sampling techniques", SIGGRAPH 1995: the power heuristic
HEADRACE_FUNCTION float share(float own, float other) {
    const float ratio = other / own; // may be infinite, where their squares would make a NaN
    return 1 / (1 + ratio * ratio);
}

/// Per solid angle, with which all shadow rays of a hit together go to a point of an emitter with this
/// Triangle::inverse_density as it is seen from there.
HEADRACE_FUNCTION float shadow_ray_density(const Frame* frame, float inverse_density, float distance2,
                                           float light_cosine) {
    return (float)frame->shadow_rays * frame->lamp_chance * distance2 / (light_cosine * inverse_density);
}

/// What one shadow ray found: light that comes along ray.direction, if anything can be seen there.
typedef struct FoundLight {
    Ray ray;
    Rgb radiance;
    float limit;   ///< as far as nothing may be in the way; 0: it goes nowhere
    float density; ///< per solid angle, of all shadow rays
    bool is_seen;  ///< a ray that goes this way by chance finds it, too
} FoundLight;

/// The share of light that is left after a way through glass. Glass is what lies behind its triangles, so the
/// one at the end or the one where the way begins says whether it was in there.
///
/// `left`: where it begins, or PATH_TRACER_NO_TRIANGLE. `met`: a material, met from behind if `is_behind`
HEADRACE_FUNCTION Rgb left_by_glass(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                    const Frame* frame, uint32_t left_instance, uint32_t left, uint32_t met,
                                    bool is_behind, Float3 direction, float distance_to) {
    if (frame->has_absorption == 0) return rgb(1, 1, 1);
    Rgb absorption = rgb(0, 0, 0);
    if (is_behind) absorption = fetch(scene->finishes, met).absorption;
    if (is_black(absorption) && left != PATH_TRACER_NO_TRIANGLE &&
        dot_of(normal_of(has_instances, scene, left_instance, left), direction) < 0)
        absorption = fetch(scene->finishes, fetch(scene->triangles, left).material).absorption;
    return rgb(exponential(-absorption.r * distance_to), exponential(-absorption.g * distance_to),
               exponential(-absorption.b * distance_to));
}

/// A direction of the environment, by chance.
HEADRACE_FUNCTION FoundLight find_in_environment(const SceneView* scene, const Frame* frame, Ray ray,
                                                 Random4 random) {
    ray.direction = environment_direction(scene, frame, random);
    ray.goal_id = PATH_TRACER_NO_TRIANGLE;
    const float density = environment_density(scene, frame, ray.direction);
    const FoundLight found = {ray, environment_radiance(scene, frame, ray.direction),
                              density > 0 ? PATH_TRACER_FAR_AWAY : 0.0f, density, true};
    return found;
}

/// A light without extent. Its density is that of a light that fills one unit of solid angle, as its radiance
/// is.
///
/// Source  Khronos, "KHR_lights_punctual": how ranges and cones fade
HEADRACE_FUNCTION FoundLight find_punctual(HEADRACE_ANY(bool) has_instances, const SceneView* scene,
                                           const Frame* frame, Ray ray, uint32_t place) {
    const PunctualLight light = fetch(scene->punctual_lights, place);
    FoundLight found = {ray, light.strength, PATH_TRACER_FAR_AWAY,
                        (float)frame->shadow_rays * frame->lamp_chance / light.inverse_chance, false};
    found.ray.goal_id = PATH_TRACER_NO_TRIANGLE;
    float arriving = 1;
    if (light.is_far != 0) {
        found.ray.direction = light.place;
    } else {
        const Float3 way = sub(light.place, ray.origin);
        const float distance2 = dot_of(way, way), distance_to = sqrt(distance2);
        const float in_range = distance2 * light.inverse_range * light.inverse_range;
        found.ray.direction = scaled(way, 1.0f / distance_to);
        // 1 - cosine, also of narrow cones: half the square of the difference of directions.
        const Float3 leaning = add(light.axis, found.ray.direction);
        const float cone = light.cone_offset - light.cone_scale * 0.5f * dot_of(leaning, leaning);
        const float in_cone = smaller(larger(cone, 0.0f), 1.0f);
        arriving = in_cone * in_cone * larger(1 - in_range * in_range, 0.0f) / distance2;
        // What touches the light does not hide it.
        found.limit = arriving > 0 && arriving < PATH_TRACER_FAR_AWAY ? distance_to * (1 - 0x1p-18f) : 0;
    }
    found.radiance = rgb_mul(rgb_scaled(light.strength, arriving),
                             left_by_glass(has_instances, scene, frame, ray.left_instance, ray.left, 0, false,
                                           found.ray.direction, found.limit));
    return found;
}

/// A point of an emitter, by chance. `ray`: begins at the hit.
HEADRACE_FUNCTION FoundLight find_light(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                        Ray ray, Random4 random) {
    HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
        const float elsewhere = 1 - frame->lamp_chance;
        if (random.x < elsewhere) {
            random.x /= elsewhere;
            return find_in_environment(scene, frame, ray, random);
        }
        random.x = (random.x - elsewhere) / frame->lamp_chance;
    }
    uint32_t column = (uint32_t)(random.x * (float)frame->lights);
    column = column < frame->lights ? column : frame->lights - 1;
    if (random.y >= scene->lights[column].keep) column = scene->lights[column].alias;
    const uint32_t place = scene->lights[column].emitter;
    HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
        if ((place & PATH_TRACER_PUNCTUAL) != 0)
            return find_punctual(PATH_TRACER_HAS_INSTANCES(shading), scene, frame, ray,
                                 place & ~PATH_TRACER_PUNCTUAL);
    }
    const Triangle light = fetch(scene->triangles, place); // of no instance: none emits light
    ray.goal_id = light.id;
    const bool folds = random.z + random.w > 1; // the unit square, folded onto the triangle
    const float u = folds ? 1 - random.z : random.z, v = folds ? 1 - random.w : random.w;
    const Float3 way = sub(point_of(&light, u, v), ray.origin);
    Float3 light_normal = fetch(scene->details, place).normal;
    const bool is_behind = dot_of(light_normal, way) > 0;
    if (is_behind) light_normal = negated(light_normal);

    const float distance2 = dot_of(way, way);
    const float distance_to = sqrt(distance2);
    ray.direction = scaled(way, 1.0f / distance_to);
    const float light_cosine = -dot_of(light_normal, ray.direction);
    HEADRACE_GLOBAL const Material* emitter = &scene->materials[light.material];
    FoundLight found = {ray, emitter->emission, 0, 0, true};
    if (!(light_cosine > 0) || ray.goal_id == ray.left_id) return found;
    // What touches the light, or lies in its plane, does not hide it.
    found.limit = distance_to * (1 - 0x1p-18f);
    found.density = shadow_ray_density(frame, light.inverse_density, distance2, light_cosine);
    HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
        const SurfacePoint point = {place, u, v, 0, PATH_TRACER_NONE};
        found.radiance =
            rgb_mul(emitted_at(scene, light.material, &point, found.radiance, light_cosine),
                    left_by_glass(PATH_TRACER_HAS_INSTANCES(shading), scene, frame, ray.left_instance,
                                  ray.left, light.material, is_behind, ray.direction, distance_to));
    }
    HEADRACE_IF_CONSTEXPR (PATH_TRACER_MAY_HAVE_HOLES(shading)) {
        const SurfacePoint point = {place, u, v, 0, PATH_TRACER_NONE};
        if (may_have_hole(&light))
            found.radiance = rgb_scaled(found.radiance, opacity_at(scene, light.material, &point));
    }
    return found;
}

HEADRACE_END_NAMESPACE

#endif
