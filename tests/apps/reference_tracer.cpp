// tests/apps/reference_tracer.cpp - see reference_tracer.hpp.
#include "apps/reference_tracer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

namespace path_tracer::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// By which a ray begins beside its surface, in the scene.
constexpr double beside = 1e-9;

bool meets(const ReferenceGroup& group, Vector origin, Vector direction, double limit) {
    double from = 0, to = limit;
    const auto cut = [&](double lo, double hi, double begin, double along) {
        if (along == 0) {
            if (begin < lo || begin > hi) to = -1;
            return;
        }
        const double a = (lo - begin) / along, b = (hi - begin) / along;
        from = std::max(from, std::min(a, b));
        to = std::min(to, std::max(a, b));
    };
    cut(group.lo.x, group.hi.x, origin.x, direction.x);
    cut(group.lo.y, group.hi.y, origin.y, direction.y);
    cut(group.lo.z, group.hi.z, origin.z, direction.z);
    return from <= to * (1 + 1e-9) + 1e-9;
}

/// Where a ray meets a surface, with what the corners say of it.
struct Meeting {
    double distance;
    Vector point, normal, shading; ///< normals towards where the ray came from, and as the corners have it
    bool is_front;
    ReferenceMaterial material; ///< with what textures and corners make of it
};

Meeting meeting_of(const ReferenceScene& scene, const ReferenceHit& hit, Vector origin, Vector direction) {
    const ReferenceTriangle& triangle = scene.triangles[hit.triangle];
    const auto& [a, b, c] = triangle.corners;
    const double of_a = 1 - hit.u - hit.v;
    Meeting met{hit.distance, origin + hit.distance * direction, {}, {},
                true,         scene.materials[triangle.material]};
    met.normal = unit(cross(b.place - a.place, c.place - a.place));
    met.is_front = dot(met.normal, direction) < 0;
    if (!met.is_front) met.normal = -1 * met.normal;
    met.shading = met.normal;
    if (triangle.is_smooth) met.shading = unit(of_a * a.normal + hit.u * b.normal + hit.v * c.normal);

    ReferenceMaterial& material = met.material;
    material.base = material.base * (of_a * a.colour + hit.u * b.colour + hit.v * c.colour);
    material.opacity *= of_a * a.opacity + hit.u * b.opacity + hit.v * c.opacity;
    const double u = of_a * a.u + hit.u * b.u + hit.v * c.u, v = of_a * a.v + hit.u * b.v + hit.v * c.v;
    if (material.base_texture) {
        const auto texel = material.base_texture->at(u, v);
        material.base = material.base * Vector{texel[0], texel[1], texel[2]};
        material.opacity *= texel[3];
    }
    if (material.metal_texture) {
        const auto texel = material.metal_texture->at(u, v);
        material.roughness *= texel[1];
        material.metallic *= texel[2];
    }
    if (material.alpha == ReferenceMaterial::Alpha::opaque) material.opacity = 1;
    if (material.alpha == ReferenceMaterial::Alpha::mask)
        material.opacity = material.opacity >= material.cutoff ? 1 : 0;
    return met;
}

/// The share of light that comes as far as `limit`.
double light_through(const ReferenceScene& scene, Vector origin, Vector direction, double limit) {
    double light = 1;
    while (light > 0) {
        const auto hit = reference_hit(scene, origin, direction);
        if (!hit || hit->distance >= limit) return light;
        light *= 1 - meeting_of(scene, *hit, origin, direction).material.opacity;
        origin = origin + (hit->distance + beside) * direction;
        limit -= hit->distance + beside;
    }
    return 0;
}

/// KHR_lights_punctual: how ranges and cones fade.
Vector light_on(const ReferenceScene& scene, const Meeting& met, const ReferenceSurface& surface) {
    Vector sum{0, 0, 0};
    for (const ReferenceLight& light : scene.lights) {
        Vector in = -1 * light.axis;
        double arriving = 1, limit = infinity;
        if (light.kind != ReferenceLight::Kind::directional) {
            const Vector way = light.place - met.point;
            limit = std::sqrt(dot(way, way));
            in = 1 / limit * way;
            arriving = 1 / (limit * limit);
            if (light.range > 0) arriving *= std::clamp(1 - std::pow(limit / light.range, 4), 0.0, 1.0);
        }
        if (light.kind == ReferenceLight::Kind::spot) {
            const double inner = std::cos(light.inner_angle), outer = std::cos(light.outer_angle);
            arriving *= std::pow(std::clamp((-dot(in, light.axis) - outer) / (inner - outer), 0.0, 1.0), 2);
        }
        const Vector sent = arriving * (surface.value(in) * light.strength);
        if (!(sent.x + sent.y + sent.z > 0)) continue;
        const double side = dot(in, met.normal) > 0 ? beside : -beside;
        sum = sum + light_through(scene, met.point + side * met.normal, in, limit) * sent;
    }
    return sum;
}

struct Ray {
    Vector origin, direction;
};

class Camera {
public:
    explicit Camera(const ReferenceView& view) : view_(view), forward_(unit(view.target - view.eye)) {
        right_ = unit(cross(forward_, {0, 1, 0}));
        up_ = cross(right_, forward_);
    }
    /// Through a point of the picture, in pixels from its upper left corner.
    [[nodiscard]] Ray through(double x, double y) const {
        const auto width = static_cast<double>(view_.width), height = static_cast<double>(view_.height);
        const bool is_parallel = view_.orthographic_height > 0;
        const double half = is_parallel ? view_.orthographic_height / 2
                                        : std::tan(view_.vertical_fov_degrees * std::numbers::pi / 360);
        const Vector aside = (half * (2 * x - width) / height) * right_ + (half * (1 - 2 * y / height)) * up_;
        if (is_parallel) return {view_.eye + aside, forward_};
        return {view_.eye, unit(forward_ + aside)};
    }

private:
    const ReferenceView& view_;
    Vector forward_, right_{}, up_{};
};

/// What one path brings to the camera.
Vector radiance_along(const ReferenceScene& scene, ReferenceAlbedos& albedos, const ReferenceView& view,
                      Ray ray, ReferenceRandom& random) {
    Vector radiance{0, 0, 0}, throughput{1, 1, 1}, absorption{0, 0, 0}; // of the glass that it is in
    for (int hits = 0; hits < view.max_depth;) {
        const auto hit = reference_hit(scene, ray.origin, ray.direction);
        if (!hit) return radiance + throughput * view.sky;
        const Meeting met = meeting_of(scene, *hit, ray.origin, ray.direction);
        const Vector taken = hit->distance * absorption;
        throughput = throughput * Vector{std::exp(-taken.x), std::exp(-taken.y), std::exp(-taken.z)};
        if (uniform(random) >= met.material.opacity) { // it passes, which is no hit
            ray.origin = met.point + beside * ray.direction;
            continue;
        }
        radiance = radiance + throughput * met.material.emission;
        if (++hits == view.max_depth) break;
        const ReferenceSurface surface(met.material, albedos, -1 * ray.direction, met.normal, met.shading,
                                       met.is_front);
        if (!scene.lights.empty()) radiance = radiance + throughput * light_on(scene, met, surface);
        const ReferenceSurface::Choice next = surface.choose(random);
        throughput = throughput * next.weight;
        if (!(throughput.x + throughput.y + throughput.z > 0)) break;
        if (next.passes && !met.material.is_thin)
            absorption = met.is_front ? met.material.absorption : Vector{0, 0, 0};
        ray = {met.point + (next.passes ? -beside : beside) * met.normal, next.in};
    }
    return radiance;
}

/// Sums over paths, and what they say of their mean.
class Sums {
public:
    void add(Vector path) {
        sum_ = sum_ + path;
        squares_ = squares_ + path * path;
        ++count_;
    }
    [[nodiscard]] ReferencePixel pixel() const {
        const double by = 1 / static_cast<double>(count_);
        const Vector mean = by * sum_, spread = by * squares_ - mean * mean;
        const auto error = [&](double part) { return std::sqrt(std::max(0.0, part) * by); };
        return {mean, {error(spread.x), error(spread.y), error(spread.z)}};
    }

private:
    Vector sum_{0, 0, 0}, squares_{0, 0, 0};
    long count_ = 0;
};

} // namespace

std::optional<ReferenceHit> reference_hit(const ReferenceScene& scene, Vector origin, Vector direction) {
    std::optional<ReferenceHit> nearest;
    double farthest = infinity;
    for (const ReferenceGroup& group : scene.groups) {
        if (!meets(group, origin, direction, farthest)) continue;
        for (std::size_t i = group.first; i < group.first + group.count; ++i) {
            const auto& corners = scene.triangles[i].corners;
            const Vector a = corners[0].place, ab = corners[1].place - a, ac = corners[2].place - a;
            const Vector p = cross(direction, ac);
            const double determinant = dot(ab, p);
            if (determinant == 0) continue;
            const Vector to_origin = origin - a;
            const double u = dot(to_origin, p) / determinant;
            const double v = dot(direction, cross(to_origin, ab)) / determinant;
            const double distance = dot(ac, cross(to_origin, ab)) / determinant;
            const double margin = std::min({u, v, 1 - u - v});
            if (margin < 0 || distance <= 0 || distance >= farthest) continue;
            nearest = {distance, i, u, v, margin};
            farthest = distance;
        }
    }
    return nearest;
}

ReferencePixel reference_pixel(const ReferenceScene& scene, ReferenceAlbedos& albedos,
                               const ReferenceView& view, std::size_t column, std::size_t row, int paths) {
    ReferenceRandom random(row * view.width + column + 1);
    const Camera camera(view);
    Sums sums;
    for (int path = 0; path < paths; ++path) {
        const double x = static_cast<double>(column) + uniform(random),
                     y = static_cast<double>(row) + uniform(random);
        sums.add(radiance_along(scene, albedos, view, camera.through(x, y), random));
    }
    return sums.pixel();
}

std::vector<ReferencePixel> reference_picture(const ReferenceScene& scene, const ReferenceView& view,
                                              int paths) {
    std::vector<ReferencePixel> pixels(view.width * view.height);
    const std::size_t count = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t number = 0; number < count; ++number)
        threads.emplace_back([&, number] {
            ReferenceAlbedos albedos;
            for (std::size_t i = number; i < pixels.size(); i += count)
                pixels[i] = reference_pixel(scene, albedos, view, i % view.width, i / view.width, paths);
        });
    threads.clear(); // waits
    return pixels;
}

ReferenceEstimate reference_estimate(const ReferenceScene& scene, const ReferenceView& view, int paths,
                                     ReferenceRandom& random) {
    const Camera camera(view);
    ReferenceAlbedos albedos;
    Sums sums;
    for (int path = 0; path < paths; ++path) {
        const double x = static_cast<double>(view.width) * uniform(random),
                     y = static_cast<double>(view.height) * uniform(random);
        sums.add(radiance_along(scene, albedos, view, camera.through(x, y), random));
    }
    return {sums.pixel().mean.x, sums.pixel().standard_error.x};
}

} // namespace path_tracer::test
