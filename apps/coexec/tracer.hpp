// apps/coexec/tracer.hpp - what is seen of spheres over a chequered floor, with shadows and reflections. Over
// the type of numbers: kernels take float, the serial version double.
#pragma once
#include <headrace/devices/kernels/macros.hpp>

#include <cmath>
#include <cstdint>

namespace coexec {

struct Sphere {
    float x, y, z, radius;
    float red, green, blue;
    float mirror; ///< the share of light that it reflects
};

struct Scene {
    std::uint32_t side;    ///< pixels
    std::uint32_t spheres; ///< how many there are
    std::uint32_t bounces; ///< of a ray, at most
};

template <class Real>
struct Vec {
    Real x, y, z;

    friend HEADRACE_HOST_DEVICE Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend HEADRACE_HOST_DEVICE Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend HEADRACE_HOST_DEVICE Vec operator*(Real s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
    friend HEADRACE_HOST_DEVICE Real dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
    friend HEADRACE_HOST_DEVICE Vec unit(Vec a) { return (1 / std::sqrt(dot(a, a))) * a; }
};

template <class Real>
struct Ray {
    Vec<Real> origin, direction; ///< of length 1
};

template <class Real>
struct Tracer {
    using V = Vec<Real>;

    const Sphere* spheres;
    Scene scene;

    static constexpr Real nothing = -1;         ///< the distance to what is not there
    static constexpr Real nearest = Real(1e-3); ///< what is nearer is where the ray begins

    /// Light seen at a place of the picture; each pixel is 1 wide.
    HEADRACE_HOST_DEVICE V colour(Real column, Real row) const {
        const Real half = Real(0.5) * static_cast<Real>(scene.side);
        const V eye{0, Real(1.5), -6};
        Ray<Real> ray{
            eye, unit(V{(column - half) / half * Real(0.7), (half - row) / half * Real(0.7), Real(1.2)})};
        V sum{0, 0, 0};
        Real share = 1; // of what comes along the ray
        for (std::uint32_t bounce = 0;; ++bounce) {
            std::uint32_t which = 0;
            const Real to_sphere = nearest_sphere(ray, which);
            const Real to_floor = ray.direction.y < 0 ? -ray.origin.y / ray.direction.y : nothing;
            const bool sees_floor = to_floor > nearest && (to_sphere < 0 || to_floor < to_sphere);
            if (!sees_floor && to_sphere < 0) return sum + share * sky(ray.direction);
            const V place = ray.origin + (sees_floor ? to_floor : to_sphere) * ray.direction;
            V normal{0, 1, 0}, own = floor_colour(place);
            Real mirror = Real(0.2);
            if (!sees_floor) {
                const Sphere sphere = spheres[which];
                normal = (1 / Real(sphere.radius)) * (place - V{sphere.x, sphere.y, sphere.z});
                own = {sphere.red, sphere.green, sphere.blue};
                mirror = sphere.mirror;
            }
            const bool is_last = bounce == scene.bounces || mirror == 0;
            sum = sum + (share * (is_last ? 1 : 1 - mirror) * light_at(place, normal)) * own;
            if (is_last) return sum;
            share *= mirror;
            ray = {place, unit(ray.direction - (2 * dot(ray.direction, normal)) * normal)};
        }
    }

private:
    /// The distance, or `nothing`.
    HEADRACE_HOST_DEVICE static Real to(const Sphere& sphere, const Ray<Real>& ray) {
        const V apart = V{sphere.x, sphere.y, sphere.z} - ray.origin;
        const Real along = dot(apart, ray.direction);
        const V beside = apart - along * ray.direction; // no difference of large squares, which round
        const Real square = Real(sphere.radius) * Real(sphere.radius) - dot(beside, beside);
        if (square < 0) return nothing;
        const Real half_chord = std::sqrt(square);
        const Real first = along - half_chord, second = along + half_chord;
        return first > nearest ? first : second > nearest ? second : nothing;
    }
    HEADRACE_HOST_DEVICE Real nearest_sphere(const Ray<Real>& ray, std::uint32_t& which) const {
        Real least = nothing;
        for (std::uint32_t i = 0; i < scene.spheres; ++i) {
            const Real distance = to(spheres[i], ray);
            if (distance > 0 && (least < 0 || distance < least)) {
                least = distance;
                which = i;
            }
        }
        return least;
    }
    HEADRACE_HOST_DEVICE static V sky(V direction) {
        const Real height = direction.y > 0 ? direction.y : 0;
        return {Real(0.8) - Real(0.5) * height, Real(0.85) - Real(0.35) * height, Real(0.95)};
    }
    HEADRACE_HOST_DEVICE static V floor_colour(V place) {
        const auto parity =
            static_cast<std::int64_t>(std::floor(place.x)) + static_cast<std::int64_t>(std::floor(place.z));
        return parity % 2 == 0 ? V{Real(0.9), Real(0.9), Real(0.9)} : V{Real(0.2), Real(0.2), Real(0.25)};
    }
    HEADRACE_HOST_DEVICE Real light_at(V place, V normal) const {
        constexpr Real ambient = Real(0.2);
        const V sun{Real(0.48), Real(0.8), Real(-0.36)};
        const Real facing = dot(normal, sun);
        std::uint32_t which = 0;
        if (facing <= 0 || nearest_sphere({place, sun}, which) > 0) return ambient;
        return ambient + Real(0.8) * facing;
    }
};

/// 0x00BBGGRR.
template <class Real>
HEADRACE_HOST_DEVICE std::uint32_t packed(Vec<Real> colour) {
    const auto byte = [](Real light) {
        return static_cast<std::uint32_t>(Real(255) * (light < 1 ? light : Real(1)) + Real(0.5));
    };
    return byte(colour.x) | byte(colour.y) << 8 | byte(colour.z) << 16;
}

} // namespace coexec
