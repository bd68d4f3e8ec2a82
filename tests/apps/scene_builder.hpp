// tests/apps/scene_builder.hpp - small scenes made in code.
#pragma once
#include "scene.hpp"

#include <functional>
#include <random>

namespace path_tracer::test {

/// Adds to a Scene, one material at a time.
class SceneBuilder {
public:
    /// Later shapes are made of this.
    SceneBuilder& material(const SurfaceDescription& surface);
    SceneBuilder& triangle(Point a, Point b, Point c);
    /// Corners run counter-clockwise as seen from outside.
    SceneBuilder& box(Float3 lo, Float3 hi);
    SceneBuilder& sphere(Float3 centre, float radius, int subdivisions);
    /// `count` triangles with corners in a cube of half-width `extent`, each about `size` wide.
    SceneBuilder& soup(std::mt19937& random, int count, float extent, float size);
    /// Gives normals to the corners of all triangles so far: `normal_at` each corner, of any length.
    SceneBuilder& normals(const std::function<Point(Point corner)>& normal_at);
    /// The same for linear colours.
    SceneBuilder& colours(const std::function<Rgb(Point corner)>& colour_at);
    SceneBuilder& light(const PunctualLightDescription& light);
    [[nodiscard]] const Scene& scene() const { return scene_; }

private:
    Scene scene_;
};

/// The triangles as the builder of the hierarchy gets them, in the scene's coordinates.
[[nodiscard]] std::vector<Triangle> as_floats(const Scene& scene);

[[nodiscard]] inline SurfaceDescription lambert(float albedo, float emission = 0) {
    return {.base = {albedo, albedo, albedo}, .emission = {emission, emission, emission}};
}
[[nodiscard]] inline SurfaceDescription mirror(float reflectance) {
    return {.mirror = {reflectance, reflectance, reflectance}};
}
[[nodiscard]] inline SurfaceDescription glass(float ior) {
    return {.base = {1, 1, 1}, .transmitted = 1, .ior = ior};
}

} // namespace path_tracer::test
