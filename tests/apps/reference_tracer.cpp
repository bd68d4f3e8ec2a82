// tests/apps/reference_tracer.cpp - see reference_tracer.hpp.
#include "apps/reference_tracer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace path_tracer::test {
namespace {

Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
Vector unit(Vector a) { return 1 / std::sqrt(dot(a, a)) * a; }
Vector vector_of(Point a) { return {a.x, a.y, a.z}; }

/// Uniform on the unit sphere; added to the normal it is distributed as the cosine.
Vector on_sphere(std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    return unit({normal(random), normal(random), normal(random)});
}

/// Snell and Fresnel by angles, where the kernel works with cosines.
double reflectance(double angle, double n_near, double n_far) {
    const double sine = n_near / n_far * std::sin(angle);
    if (sine >= 1) return 1;
    if (angle < 1e-6) return std::pow((n_near - n_far) / (n_near + n_far), 2);
    const double refracted = std::asin(sine);
    const double s = std::sin(angle - refracted) / std::sin(angle + refracted);
    const double p = std::tan(angle - refracted) / std::tan(angle + refracted);
    return (s * s + p * p) / 2;
}

} // namespace

std::optional<ReferenceHit> reference_hit(const Scene& scene, Vector origin, Vector direction) {
    std::optional<ReferenceHit> nearest;
    for (std::size_t i = 0; i < scene.triangles.size(); ++i) {
        const SceneTriangle& triangle = scene.triangles[i];
        const Vector a = vector_of(triangle.a), ab = vector_of(triangle.b) - a,
                     ac = vector_of(triangle.c) - a;
        const Vector p = cross(direction, ac);
        const double determinant = dot(ab, p);
        if (determinant == 0) continue;
        const Vector to_origin = origin - a;
        const double u = dot(to_origin, p) / determinant;
        const double v = dot(direction, cross(to_origin, ab)) / determinant;
        const double distance = dot(ac, cross(to_origin, ab)) / determinant;
        const double margin = std::min({u, v, 1 - u - v});
        if (margin < 0 || distance <= 0 || (nearest && distance >= nearest->distance)) continue;
        nearest = {distance, i, margin};
    }
    return nearest;
}

ReferenceEstimate reference_estimate(const Scene& scene, const CameraPose& pose, double aspect, double sky,
                                     int max_depth, int paths, std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform;
    const Vector forward = unit(vector_of(pose.target) - vector_of(pose.eye));
    const Vector right = unit(cross(forward, {0, 1, 0})), up = cross(right, forward);
    const double half = std::tan(pose.vertical_fov_degrees * std::numbers::pi / 360);
    double sum = 0, sum2 = 0;
    for (int path = 0; path < paths; ++path) {
        Vector origin = vector_of(pose.eye);
        Vector direction = unit(forward + (half * aspect * (2 * uniform(random) - 1)) * right +
                                (half * (2 * uniform(random) - 1)) * up);
        double radiance = 0, throughput = 1;
        for (int hits = 1; hits <= max_depth; ++hits) {
            const auto hit = reference_hit(scene, origin, direction);
            if (!hit) {
                radiance += throughput * sky;
                break;
            }
            const SceneTriangle& triangle = scene.triangles[hit->triangle];
            const SurfaceDescription& surface = scene.materials[triangle.material];
            radiance += throughput * double{surface.emission.r};
            Vector normal = unit(cross(vector_of(triangle.b) - vector_of(triangle.a),
                                       vector_of(triangle.c) - vector_of(triangle.a)));
            const bool from_outside = dot(normal, direction) < 0;
            if (!from_outside) normal = -1 * normal;
            const Vector point = origin + hit->distance * direction;
            const double glass = double{surface.glass().r}, mirror = double{surface.mirror.r},
                         diffuse = double{surface.diffuse().r};
            const double total = glass + mirror + diffuse;
            throughput *= total; // whichever part it takes, with the chance of its share
            const double choice = uniform(random) * total;
            const Vector mirrored = direction - (2 * dot(direction, normal)) * normal;
            double side = 1;
            if (choice < glass) {
                const double near = from_outside ? 1 : double{surface.ior},
                             far = from_outside ? double{surface.ior} : 1;
                const double cosine = std::min(1.0, -dot(direction, normal));
                if (uniform(random) < reflectance(std::acos(cosine), near, far)) {
                    direction = mirrored;
                } else {
                    const Vector along = near / far * (direction + cosine * normal);
                    direction = unit(along - std::sqrt(1 - dot(along, along)) * normal);
                    side = -1;
                }
            } else if (choice < glass + mirror) {
                direction = mirrored;
            } else {
                direction = unit(normal + on_sphere(random));
            }
            origin = point + (side * 1e-9) * normal;
            if (throughput == 0) break;
        }
        sum += radiance;
        sum2 += radiance * radiance;
    }
    const double mean = sum / paths;
    return {mean, std::sqrt((sum2 / paths - mean * mean) / paths)};
}

} // namespace path_tracer::test
