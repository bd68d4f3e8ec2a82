// apps/path_tracer/path.h - light transport: one vertex of a path, the same for both kernels. C++ and OpenCL
// C read this file, after the scene as kernels see it (scene_view.hpp, path_tracer.cl).
//
// A path has at most max_depth hits. What it gathers: the sky where a ray leaves the scene; emission where it
// hits; and, at every hit but the last (whose emitters would be one hit too many) that spreads light,
// emission by shadow rays, which share it with what the next ray hits. With and without shadow rays the
// expectation is the same. Surfaces reflect and emit on both sides. Radiance is not scaled by n^2 inside
// glass: a path begins and ends outside of it. Where a surface is not opaque, a path passes it by chance,
// which is no hit; a shadow ray passes all such surfaces and loses its share at each.
#ifndef HEADRACE_PATH_TRACER_PATH_H
#define HEADRACE_PATH_TRACER_PATH_H
#include "image_order.h"
#include "intersect.h"
#include "lights.h"
#include "random_block.h"
#include "surface.h"

HEADRACE_NAMESPACE(path_tracer)

/// The first vertex of the path with this work index: a ray through a random point of its pixel. `chosen`:
/// see place_path
HEADRACE_FUNCTION PathVertex begin_path(const Frame* frame, HEADRACE_ELEMENTS(uint32_t) chosen,
                                        uint64_t index) {
    PathVertex vertex;
    place_path(frame, chosen, index, &vertex.pixel, &vertex.key, &vertex.sample);
    const Random4 random = random_block(frame, vertex.key, vertex.sample, 0, 0);
    const uint32_t row = vertex.pixel / frame->width;
    const float x = (float)(vertex.pixel - row * frame->width) + random.x;
    const float y = (float)row + random.y;
    const Camera* camera = &frame->camera;
    vertex.left = PATH_TRACER_NO_TRIANGLE;
    vertex.left_instance = PATH_TRACER_NONE;
    vertex.u = vertex.v = 0;
    Float3 way = add(add(camera->corner, scaled(camera->right, x)), scaled(camera->down, y));
    if (camera->projection == PROJECTION_ORTHOGRAPHIC) {
        vertex.u = x;
        vertex.v = y;
    } else if (camera->projection == PROJECTION_LENS) {
        float sine, cosine;
        sin_cos_of_turns(random.z, &sine, &cosine);
        vertex.u = sqrt(random.w) * cosine;
        vertex.v = sqrt(random.w) * sine;
        way = sub(way, add(scaled(camera->aside, vertex.u), scaled(camera->below, vertex.v)));
    }
    vertex.direction = normalised(way);
    vertex.throughput = rgb(1, 1, 1);
    vertex.density = 0;
    vertex.hits_and_length = 0;
    return vertex;
}

HEADRACE_FUNCTION uint32_t hits_of(const PathVertex* vertex) {
    return vertex->hits_and_length & ((1u << PATH_TRACER_HITS_BITS) - 1);
}
/// The first bits of a float that is not negative are those behind its sign.
HEADRACE_FUNCTION float length_of(const PathVertex* vertex) {
    return as_float(vertex->hits_and_length >> PATH_TRACER_HITS_BITS << (31 - PATH_TRACER_LENGTH_BITS));
}
HEADRACE_FUNCTION uint32_t hits_and_length(uint32_t hits, float length) {
    return hits | as_uint(length) >> (31 - PATH_TRACER_LENGTH_BITS) << PATH_TRACER_HITS_BITS;
}

HEADRACE_FUNCTION Float3 camera_origin(const Camera* camera, float u, float v) {
    return add(camera->eye, add(scaled(camera->aside, u), scaled(camera->below, v)));
}

/// The ray on which the path comes to its next hit.
HEADRACE_FUNCTION Ray ray_of(HEADRACE_ANY(bool) has_instances, const SceneView* scene, const Frame* frame,
                             const PathVertex* vertex) {
    Ray ray = ray_along(frame->camera.eye, vertex->direction);
    ray.left = vertex->left;
    ray.u = vertex->u;
    ray.v = vertex->v;
    if (vertex->left != PATH_TRACER_NO_TRIANGLE) {
        const Triangle triangle = triangle_of(has_instances, scene, vertex->left_instance, vertex->left);
        ray.left_instance = vertex->left_instance;
        ray.origin = point_of(&triangle, vertex->u, vertex->v);
        ray.left_id = triangle.id;
    } else {
        ray.origin = camera_origin(&frame->camera, vertex->u, vertex->v);
        // From far away a ray begins shortly before the scene: errors grow with the way.
        const float middle = -dot_of(ray.origin, ray.direction);
        if (middle > 3) ray.origin = add(ray.origin, scaled(ray.direction, middle - 2 - middle * 0x1p-20f));
    }
    return ray;
}

/// A coordinate of a hit in its triangle, a millionth nearer to the middle: then it is inside also as
/// exact_test.h sees it.
HEADRACE_FUNCTION float inside(float coordinate) {
    const float keep = 0.999999f, third = (1 - keep) / 3;
    return coordinate * keep + third;
}

/// The ray, from where it hits a triangle on in the same direction.
HEADRACE_FUNCTION Ray ray_behind(Ray ray, const Triangle* triangle, const Hit* hit) {
    ray.left = hit->triangle;
    ray.left_instance = hit->instance;
    ray.left_id = triangle->id;
    ray.u = inside(hit->u);
    ray.v = inside(hit->v);
    ray.origin = point_of(triangle, ray.u, ray.v);
    return ray;
}

/// Per solid angle, with which the path goes on along a direction at `cosine` to the normal by the Lambert
/// part.
HEADRACE_FUNCTION float diffuse_density(const Material* material, float cosine) {
    return (1 - material->glass_chance - material->mirror_chance) * cosine * PATH_TRACER_INVERSE_PI;
}

/// Surfaces that stop a ray and let it through, one behind the other, at most: where they lie in one another,
/// rounding may show them again and again.
#define PATH_TRACER_MOST_LAYERS 1024u
/// Blocks of random numbers from here on are for layers; those before are for shadow rays.
#define PATH_TRACER_FIRST_LAYER_BLOCK 0x80000000u

/// The share of light that comes as far as `limit` along a shadow ray.
HEADRACE_FUNCTION float light_through(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                      Ray ray, float limit) {
    if (frame->holes != HOLES_PARTIAL) {
        bool is_exact;
        const Hit hit = any_hit_before(shading, scene, &ray, limit, &is_exact);
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE) return 1;
        if (frame->holes == HOLES_NONE || !is_exact) return 0;
        // What exact_test.h has found may be a hole.
    }
    float light = 1;
    for (uint32_t layer = 0; layer < PATH_TRACER_MOST_LAYERS; ++layer) {
        const Hit hit = nearest_hit_before(shading, scene, &ray, limit);
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE || hit.distance >= limit) return light;
        const Triangle triangle =
            triangle_of(PATH_TRACER_HAS_INSTANCES(shading), scene, hit.instance, hit.triangle);
        if (triangle.id == ray.goal_id) return light;
        const SurfacePoint point = {hit.triangle, hit.u, hit.v, 0, hit.instance};
        light *= 1 - opacity_at(scene, triangle.material, &point);
        if (light == 0) return 0;
        ray = ray_behind(ray, &triangle, &hit);
        limit -= hit.distance;
    }
    return 0;
}

/// Radiance that one shadow ray brings to the camera by way of the Lambert part of `material`, as its share.
///
/// `ray`: begins at the hit. `normal`: of the triangle, towards where the path came from; `lobe`:
/// lambert_lobe, or the normal again.
HEADRACE_FUNCTION Rgb direct_light(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                   Ray ray, Float3 normal, Float3 lobe, const Material* material,
                                   Random4 random) {
    const FoundLight found = find_light(shading, scene, frame, ray, random);
    const float cosine = dot_of(lobe, found.ray.direction);
    if (!(found.limit > 0 && dot_of(normal, found.ray.direction) > 0 && cosine > 0) ||
        is_blocked(shading, scene, &found.ray, found.limit))
        return rgb(0, 0, 0);
    const float weight = share(found.density, diffuse_density(material, cosine));
    return rgb_scaled(rgb_mul(material->albedo, found.radiance),
                      weight * PATH_TRACER_INVERSE_PI * cosine * (float)frame->shadow_rays / found.density);
}

/// The same by way of all of a surface.
HEADRACE_FUNCTION Rgb direct_light_on(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                      Ray ray, const Bsdf* bsdf, Random4 random) {
    const FoundLight found = find_light(shading, scene, frame, ray, random);
    if (!(found.limit > 0)) return rgb(0, 0, 0);
    float density;
    Rgb value = rgb_mul(bsdf_value(bsdf, found.ray.direction, &density), found.radiance);
    if (is_black(value)) return value;
    HEADRACE_IF_CONSTEXPR (PATH_TRACER_MAY_HAVE_HOLES(shading)) {
        value = rgb_scaled(value, light_through(shading, scene, frame, found.ray, found.limit));
    } else if (is_blocked(shading, scene, &found.ray, found.limit)) {
        return rgb(0, 0, 0);
    }
    const float weight = found.is_seen ? share(found.density, density) : 1.0f;
    return rgb_scaled(value, weight * (float)frame->shadow_rays / found.density);
}

/// A ray along `direction`, which meets the triangle at `cosine`, mirrored. Not along the surface: rounding
/// could turn such a direction to the other side.
HEADRACE_FUNCTION Float3 mirrored_direction(HEADRACE_ANY(int) shading, Float3 direction,
                                            Float3 shading_normal, Float3 normal, float cosine) {
    if (shading != SHADING_FLAT) return mirrored_above(direction, shading_normal, normal);
    return normalised(add(direction, scaled(normal, 2 * larger(cosine, PATH_TRACER_LEAST_RISE))));
}

/// Where a path that came to `vertex` meets a triangle, at this distance from there.
HEADRACE_FUNCTION SurfacePoint met_point(const Frame* frame, const PathVertex* vertex,
                                         const Triangle* triangle, const Hit* hit, float distance_to) {
    return surface_point(triangle, hit->instance, hit->triangle, hit->u, hit->v,
                         frame->first_width + frame->spread * (length_of(vertex) + distance_to));
}

/// Whether a path passes a surface that is not opaque, by chance. `passed`: the length of the way so far,
/// from `vertex` to the last such surface. Structs come as copies, so that those of the caller stay in
/// registers.
PATH_TRACER_LAYER bool lets_through(SceneView scene, Frame frame, PathVertex vertex, Triangle triangle,
                                    Hit hit, float passed, uint32_t layer) {
    const SurfacePoint point = met_point(&frame, &vertex, &triangle, &hit, passed + hit.distance);
    const float opacity = opacity_at(&scene, triangle.material, &point);
    if (opacity >= 1) return false;
    if (opacity <= 0) return true;
    return random_block(&frame, vertex.key, vertex.sample, hits_of(&vertex) + 1,
                        PATH_TRACER_FIRST_LAYER_BLOCK + layer)
               .x >= opacity;
}

/// What a path finds where it leaves the scene: of an environment its share.
HEADRACE_FUNCTION Rgb sky_radiance(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                   const PathVertex* vertex) {
    HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
        if (frame->environment_columns != 0) {
            const Rgb radiance = environment_radiance(scene, frame, vertex->direction);
            if (!(vertex->density > 0)) return radiance;
            return rgb_scaled(radiance,
                              share(vertex->density, environment_density(scene, frame, vertex->direction)));
        }
    }
    return frame->sky;
}

/// A path where it was met by a surface.
typedef struct Meeting {
    Hit hit;
    Triangle triangle;
    Float3 normal; ///< the triangle's, towards where the path came from
    bool is_front; ///< that is the side on which the corners run counter-clockwise
    float cosine;  ///< at which the path came
    float distance_to;
    uint32_t hits; ///< of the path so far, with this one
} Meeting;

/// Where the path meets its next surface. False: it meets none, and `met` has no triangle, or passes more
/// layers than are followed.
HEADRACE_FUNCTION bool next_meeting(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                    const PathVertex* vertex, Meeting* met) {
    Ray ray = ray_of(PATH_TRACER_HAS_INSTANCES(shading), scene, frame, vertex);
    float passed = 0; // of the way to the hit, up to the last surface that let the ray through
    HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
        if (vertex->left == PATH_TRACER_NO_TRIANGLE)
            passed = dot_of(sub(ray.origin, camera_origin(&frame->camera, vertex->u, vertex->v)),
                            vertex->direction);
    }
    for (uint32_t layer = 0;; ++layer) {
        HEADRACE_IF_CONSTEXPR (PATH_TRACER_MAY_HAVE_HOLES(shading)) {
            ray.width = frame->first_width + frame->spread * (length_of(vertex) + passed);
            ray.spread = frame->spread;
        }
        met->hit = nearest_hit(shading, scene, &ray);
        if (met->hit.triangle == PATH_TRACER_NO_TRIANGLE) return false;
        met->triangle =
            triangle_of(PATH_TRACER_HAS_INSTANCES(shading), scene, met->hit.instance, met->hit.triangle);
        HEADRACE_IF_CONSTEXPR (PATH_TRACER_MAY_HAVE_HOLES(shading)) {
            if (may_have_hole(&met->triangle) &&
                lets_through(*scene, *frame, *vertex, met->triangle, met->hit, passed, layer)) {
                if (layer == PATH_TRACER_MOST_LAYERS) return false;
                passed += met->hit.distance;
                ray = ray_behind(ray, &met->triangle, &met->hit);
                continue;
            }
        }
        break;
    }
    met->distance_to = passed + met->hit.distance;
    met->normal = normal_of(PATH_TRACER_HAS_INSTANCES(shading), scene, met->hit.instance, met->hit.triangle);
    met->is_front = dot_of(met->normal, vertex->direction) < 0;
    if (!met->is_front) met->normal = negated(met->normal);
    met->cosine = -dot_of(met->normal, vertex->direction);
    met->hits = hits_of(vertex) + 1;
    return true;
}

/// The ray that looks for light from here; its direction is to be found.
HEADRACE_FUNCTION Ray shadow_ray(const PathVertex* vertex, const Meeting* met, const PathVertex* next) {
    const Ray ray = {point_of(&met->triangle, next->u, next->v),
                     vertex->direction,
                     next->left,
                     next->left_instance,
                     next->u,
                     next->v,
                     met->triangle.id,
                     PATH_TRACER_NO_TRIANGLE,
                     0,
                     0};
    return ray;
}

/// Sends a path on from a surface of Lambert, smooth mirrors and smooth glass. Adds to `radiance` what shadow
/// rays find, and sets `next`, but for where it is.
HEADRACE_FUNCTION void go_on_from_plain(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                        const PathVertex* vertex, const Meeting* met,
                                        const Material* material, Random4 random, Rgb* radiance,
                                        PathVertex* next) {
    const Float3 normal = met->normal;
    Float3 facing = normal, lobe = normal;
    Rgb throughput = vertex->throughput;
    HEADRACE_IF_CONSTEXPR (shading == SHADING_CORNERS) {
        const CornerShading corners = fetch(scene->corner_shading, met->hit.triangle);
        facing = shading_normal(corners, met->hit.u, met->hit.v, normal);
        lobe = lambert_lobe(facing, normal);
        throughput = rgb_mul(throughput, corner_tint(scene, corners, met->hit.u, met->hit.v));
    }
    const bool casts_shadow_rays = frame->shadow_rays != 0 && frame->lights != 0;
    if (casts_shadow_rays && !is_black(material->albedo)) {
        const Ray shadow = shadow_ray(vertex, met, next);
        Rgb sum = rgb(0, 0, 0);
        for (uint32_t number = 0; number < frame->shadow_rays; ++number)
            sum = rgb_add(
                sum, direct_light(shading, scene, frame, shadow, normal, lobe, material,
                                  random_block(frame, vertex->key, vertex->sample, met->hits, 1 + number)));
        *radiance =
            rgb_add(*radiance, rgb_scaled(rgb_mul(throughput, sum), 1.0f / (float)frame->shadow_rays));
    }

    if (random.x < material->glass_chance) {
        const float ratio = met->is_front ? material->ior : 1 / material->ior;
        const Float3 mirrored = mirrored_direction(shading, vertex->direction, facing, normal, met->cosine);
        const Float3 facet = shading != SHADING_FLAT ? normalised(sub(mirrored, vertex->direction)) : normal;
        const float facet_cosine = shading != SHADING_FLAT ? -dot_of(facet, vertex->direction) : met->cosine;
        float cosine_in_far = 0;
        next->throughput = rgb_mul(throughput, material->glass);
        if (random.y < fresnel(facet_cosine, ratio, &cosine_in_far)) {
            next->direction = mirrored;
        } else {
            next->direction =
                refracted_at(negated(vertex->direction), facet, facet_cosine, ratio, cosine_in_far);
            if (shading != SHADING_FLAT) next->direction = turned_above(next->direction, negated(normal));
        }
    } else if (random.x < material->glass_chance + material->mirror_chance) {
        next->direction = mirrored_direction(shading, vertex->direction, facing, normal, met->cosine);
        const float edge =
            edge_share(0.5f * sqrt(larger(2 - 2 * dot_of(vertex->direction, next->direction), 0.0f)));
        next->throughput = rgb_mul(
            throughput,
            rgb(between(material->mirror.r, larger(material->mirror.r, material->mirror_edge), edge),
                between(material->mirror.g, larger(material->mirror.g, material->mirror_edge), edge),
                between(material->mirror.b, larger(material->mirror.b, material->mirror_edge), edge)));
    } else {
        next->throughput = rgb_mul(throughput, material->diffuse);
        float sine, cosine_around;
        sin_cos_of_turns(random.z, &sine, &cosine_around);
        const float radius = sqrt(random.y); // a point of the unit disk, lifted onto the sphere
        const float x = radius * cosine_around, y = radius * sine;
        if (shading != SHADING_FLAT) {
            next->direction = lambert_direction(facing, normal, x, y);
        } else {
            Float3 tangent, bitangent;
            make_frame(normal, &tangent, &bitangent);
            next->direction = normalised(
                add(add(scaled(tangent, x), scaled(bitangent, y)), scaled(normal, sqrt(1 - random.y))));
        }
        if (casts_shadow_rays) next->density = diffuse_density(material, dot_of(lobe, next->direction));
    }
}

/// The same from a surface with textures and all of a Finish.
HEADRACE_FUNCTION void go_on_from_finish(HEADRACE_ANY(int) shading, const SceneView* scene,
                                         const Frame* frame, const PathVertex* vertex, const Meeting* met,
                                         uint32_t textures_at, const Finish* finish, Random4 random,
                                         Rgb* radiance, PathVertex* next) {
    const CornerShading corners = fetch(scene->corner_shading, met->hit.triangle);
    const Float3 smooth = shading_normal_of(PATH_TRACER_HAS_INSTANCES(shading), scene, met->hit.instance,
                                            corners, met->hit.u, met->hit.v, met->normal);
    Float3 facing = smooth, coat_normal = smooth;
    Finish values = *finish;
    if (textures_at != PATH_TRACER_NONE) {
        const SurfaceTextures textures = fetch(scene->surface_textures, textures_at);
        const SurfacePoint point = met_point(frame, vertex, &met->triangle, &met->hit, met->distance_to);
        give_textures_to(scene, &textures, &point, &values);
        facing = leaning_normal(PATH_TRACER_HAS_INSTANCES(shading), scene, textures.normal,
                                textures.normal_scale, &point, smooth, met->normal, met->is_front);
        coat_normal = leaning_normal(PATH_TRACER_HAS_INSTANCES(shading), scene, textures.coat_normal,
                                     textures.coat_normal_scale, &point, smooth, met->normal, met->is_front);
    }
    const Bsdf bsdf = bsdf_of(scene, &values, negated(vertex->direction), met->normal, facing, coat_normal,
                              met->is_front, corner_tint(scene, corners, met->hit.u, met->hit.v));
    const bool casts_shadow_rays =
        frame->shadow_rays != 0 && (frame->lights != 0 || frame->environment_columns != 0);
    if (casts_shadow_rays && has_value(&bsdf)) {
        const Ray shadow = shadow_ray(vertex, met, next);
        Rgb sum = rgb(0, 0, 0);
        for (uint32_t number = 0; number < frame->shadow_rays; ++number)
            sum = rgb_add(sum, direct_light_on(
                                   shading, scene, frame, shadow, &bsdf,
                                   random_block(frame, vertex->key, vertex->sample, met->hits, 1 + number)));
        *radiance = rgb_add(*radiance,
                            rgb_scaled(rgb_mul(vertex->throughput, sum), 1.0f / (float)frame->shadow_rays));
    }
    const NextDirection chosen = next_direction(&bsdf, random);
    next->direction = chosen.direction;
    next->throughput = rgb_mul(vertex->throughput, chosen.weight);
    if (casts_shadow_rays) next->density = chosen.density;
}

/// Follows the vertex's ray to its hit and shades it there: one segment of a path with its shadow rays. True
/// if the path goes on with `next`; `radiance` is what the vertex gives to its pixel.
///
/// `shading`: that of the frame, known when this is compiled
HEADRACE_FUNCTION bool trace_vertex(HEADRACE_ANY(int) shading, const SceneView* scene, const Frame* frame,
                                    const PathVertex* vertex, Rgb* radiance, PathVertex* next) {
    *radiance = rgb(0, 0, 0);
    Meeting met;
    if (!next_meeting(shading, scene, frame, vertex, &met)) {
        if (met.hit.triangle == PATH_TRACER_NO_TRIANGLE)
            *radiance = rgb_mul(vertex->throughput, sky_radiance(shading, scene, frame, vertex));
        return false;
    }
    Material material = fetch(scene->materials, met.triangle.material);
    PathVertex here = *vertex;
    HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
        here.throughput =
            rgb_mul(here.throughput, left_by_glass(PATH_TRACER_HAS_INSTANCES(shading), scene, frame,
                                                   vertex->left_instance, vertex->left, met.triangle.material,
                                                   !met.is_front, vertex->direction, met.distance_to));
    }
    if (!is_black(material.emission)) {
        const float weight =
            vertex->density > 0
                ? share(vertex->density, shadow_ray_density(frame, met.triangle.inverse_density,
                                                            met.distance_to * met.distance_to, met.cosine))
                : 1.0f;
        HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
            SurfacePoint point = met_point(frame, vertex, &met.triangle, &met.hit, met.distance_to);
            if (vertex->density > 0) point.part = 0; // as shadow rays see it, which share it
            material.emission =
                emitted_at(scene, met.triangle.material, &point, material.emission, met.cosine);
        }
        *radiance = rgb_scaled(rgb_mul(here.throughput, material.emission), weight);
    }
    if (met.hits >= frame->max_depth) return false;

    *next = here;
    next->density = 0;
    next->hits_and_length = met.hits;
    next->left = met.hit.triangle;
    next->left_instance = met.hit.instance;
    next->u = inside(met.hit.u);
    next->v = inside(met.hit.v);
    const Random4 random = random_block(frame, vertex->key, vertex->sample, met.hits, 0);
    HEADRACE_IF_CONSTEXPR (shading >= SHADING_FULL) {
        next->hits_and_length = hits_and_length(met.hits, length_of(vertex) + met.distance_to);
        const Finish finish = fetch(scene->finishes, met.triangle.material);
        go_on_from_finish(shading, scene, frame, &here, &met, material.textures, &finish, random, radiance,
                          next);
    } else {
        go_on_from_plain(shading, scene, frame, &here, &met, &material, random, radiance, next);
    }

    if (frame->roulette_from != 0 && met.hits >= frame->roulette_from) {
        const float survival = smaller(largest(next->throughput), 0.95f);
        if (random.w >= survival) return false;
        next->throughput = rgb_scaled(next->throughput, 1 / survival);
    }
    return !is_black(next->throughput);
}

HEADRACE_END_NAMESPACE

#endif
