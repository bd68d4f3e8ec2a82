// apps/coexec/tracer.h - what is seen of spheres over a chequered floor, with shadows and reflections. C++
// and OpenCL C read this file, once for each type of numbers: COEXEC_REAL is float, in which kernels compute,
// or double, for the serial version in ray.cpp, and COEXEC_TRACER is a namespace for it.
#include "ray_layout.h"

HEADRACE_NAMESPACE(COEXEC_TRACER)
HEADRACE_USING(coexec)

typedef COEXEC_REAL Real;

typedef struct Vec {
    Real x, y, z;
} Vec;

HEADRACE_FUNCTION Vec vec(Real x, Real y, Real z) {
    const Vec v = {x, y, z};
    return v;
}
HEADRACE_FUNCTION Vec add(Vec a, Vec b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
HEADRACE_FUNCTION Vec sub(Vec a, Vec b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }
HEADRACE_FUNCTION Vec scaled(Real s, Vec a) { return vec(s * a.x, s * a.y, s * a.z); }
HEADRACE_FUNCTION Real dot_of(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HEADRACE_FUNCTION Vec unit(Vec a) { return scaled(1 / sqrt(dot_of(a, a)), a); }

typedef struct Ray {
    Vec origin, direction; ///< of length 1
} Ray;

#define COEXEC_NOTHING ((Real)-1)   /* the distance to what is not there */
#define COEXEC_NEAREST ((Real)1e-3) /* what is nearer is where the ray begins */

/// The distance, or COEXEC_NOTHING.
HEADRACE_FUNCTION Real to_sphere(HEADRACE_GLOBAL const Sphere* sphere, const Ray* ray) {
    const Vec apart = sub(vec(sphere->x, sphere->y, sphere->z), ray->origin);
    const Real along = dot_of(apart, ray->direction);
    const Vec beside =
        sub(apart, scaled(along, ray->direction)); // no difference of large squares, which round
    const Real square = (Real)sphere->radius * (Real)sphere->radius - dot_of(beside, beside);
    if (square < 0) return COEXEC_NOTHING;
    const Real half_chord = sqrt(square);
    const Real first = along - half_chord, second = along + half_chord;
    return first > COEXEC_NEAREST ? first : second > COEXEC_NEAREST ? second : COEXEC_NOTHING;
}

HEADRACE_FUNCTION Real nearest_sphere(HEADRACE_GLOBAL const Sphere* spheres, uint32_t count, const Ray* ray,
                                      uint32_t* which) {
    Real least = COEXEC_NOTHING;
    for (uint32_t i = 0; i < count; ++i) {
        const Real distance_to = to_sphere(spheres + i, ray);
        if (distance_to > 0 && (least < 0 || distance_to < least)) {
            least = distance_to;
            *which = i;
        }
    }
    return least;
}

HEADRACE_FUNCTION Vec sky(Vec direction) {
    const Real height = direction.y > 0 ? direction.y : 0;
    return vec((Real)0.8 - (Real)0.5 * height, (Real)0.85 - (Real)0.35 * height, (Real)0.95);
}

HEADRACE_FUNCTION Vec floor_colour(Vec place) {
    const int64_t parity = (int64_t)floor(place.x) + (int64_t)floor(place.z);
    return parity % 2 == 0 ? vec((Real)0.9, (Real)0.9, (Real)0.9) : vec((Real)0.2, (Real)0.2, (Real)0.25);
}

HEADRACE_FUNCTION Real light_at(HEADRACE_GLOBAL const Sphere* spheres, uint32_t count, Vec place,
                                Vec normal) {
    const Real ambient = (Real)0.2;
    const Ray to_sun = {place, vec((Real)0.48, (Real)0.8, (Real)-0.36)};
    const Real facing = dot_of(normal, to_sun.direction);
    uint32_t which = 0;
    if (facing <= 0 || nearest_sphere(spheres, count, &to_sun, &which) > 0) return ambient;
    return ambient + (Real)0.8 * facing;
}

/// Light seen at a place of the picture; each pixel is 1 wide.
HEADRACE_FUNCTION Vec colour_at(HEADRACE_GLOBAL const Sphere* spheres, Scene scene, Real column, Real row) {
    const Real half_side = (Real)0.5 * (Real)scene.side;
    Ray ray = {vec(0, (Real)1.5, -6), unit(vec((column - half_side) / half_side * (Real)0.7,
                                               (half_side - row) / half_side * (Real)0.7, (Real)1.2))};
    Vec sum = vec(0, 0, 0);
    Real share = 1; // of what comes along the ray
    for (uint32_t bounce = 0;; ++bounce) {
        uint32_t which = 0;
        const Real to_ball = nearest_sphere(spheres, scene.spheres, &ray, &which);
        const Real to_floor = ray.direction.y < 0 ? -ray.origin.y / ray.direction.y : COEXEC_NOTHING;
        const bool sees_floor = to_floor > COEXEC_NEAREST && (to_ball < 0 || to_floor < to_ball);
        if (!sees_floor && to_ball < 0) return add(sum, scaled(share, sky(ray.direction)));
        const Vec place = add(ray.origin, scaled(sees_floor ? to_floor : to_ball, ray.direction));
        Vec normal = vec(0, 1, 0), own = floor_colour(place);
        Real mirror = (Real)0.2;
        if (!sees_floor) {
            const Sphere sphere = spheres[which];
            normal = scaled(1 / (Real)sphere.radius, sub(place, vec(sphere.x, sphere.y, sphere.z)));
            own = vec(sphere.red, sphere.green, sphere.blue);
            mirror = sphere.mirror;
        }
        const bool is_last = bounce == scene.bounces || mirror == 0;
        const Real given = is_last ? 1 : 1 - mirror;
        sum = add(sum, scaled(share * given * light_at(spheres, scene.spheres, place, normal), own));
        if (is_last) return sum;
        share *= mirror;
        ray.direction = unit(sub(ray.direction, scaled(2 * dot_of(ray.direction, normal), normal)));
        ray.origin = place;
    }
}

HEADRACE_FUNCTION uint32_t byte_of(Real light) {
    return (uint32_t)((Real)255 * (light < 1 ? light : (Real)1) + (Real)0.5);
}
/// 0x00BBGGRR.
HEADRACE_FUNCTION uint32_t packed(Vec colour) {
    return byte_of(colour.x) | byte_of(colour.y) << 8 | byte_of(colour.z) << 16;
}

HEADRACE_END_NAMESPACE
#undef COEXEC_NOTHING
#undef COEXEC_NEAREST
