// tests/apps/reference_scene.hpp - a scene as the reference tracer wants it: all in double precision, each
// triangle where it is shown.
#pragma once
#include "scene.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace path_tracer::test {

/// A place, a direction, or a colour.
struct Vector {
    double x, y, z;
};

constexpr Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
/// Part by part.
constexpr Vector operator*(Vector a, Vector b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
constexpr double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vector unit(Vector a) { return 1 / std::sqrt(dot(a, a)) * a; }
/// A direction of length 1, mirrored at the plane of a normal of length 1.
constexpr Vector mirrored(Vector a, Vector normal) { return a - 2 * dot(a, normal) * normal; }

struct ReferenceTexture {
    /// Red, green, blue and opacity.
    using Texel = std::array<double, 4>;
    enum class Wrap { repeats, mirrors, keeps_edge };

    std::size_t width = 0, height = 0;
    std::vector<Texel> texels; ///< linear, the upper row first
    Wrap wrap_u = Wrap::repeats, wrap_v = Wrap::repeats;
    bool is_nearest = false;
    std::array<double, 6> map{1, 0, 0, 0, 1, 0}; ///< u' = map[0] u + map[1] v + map[2]; v' the other three

    [[nodiscard]] Texel at(double u, double v) const;
};

/// Of glTF, and smooth mirrors.
struct ReferenceMaterial {
    enum class Alpha { opaque, mask, blend };

    Vector base{1, 1, 1};
    double metallic = 0, roughness = 0;
    Vector mirror{0, 0, 0}; ///< reflectance, the same at all angles, of a smooth surface
    double transmission = 0, ior = 1.5;
    bool is_thin = true;
    Vector absorption{0, 0, 0}; ///< per unit of length
    Vector head_on{0, 0, 0};    ///< reflectance of the dielectric along its normal
    double edge = 0;            ///< and at the edge
    double coat = 0, coat_roughness = 0;
    Vector sheen{0, 0, 0};
    double sheen_roughness = 0;
    Vector emission{0, 0, 0};
    Alpha alpha = Alpha::opaque;
    double opacity = 1, cutoff = 0.5;
    std::optional<ReferenceTexture> base_texture, metal_texture;
};

struct ReferenceCorner {
    Vector place{0, 0, 0}, normal{0, 0, 0};
    double u = 0, v = 0;
    Vector colour{1, 1, 1};
    double opacity = 1;
};

struct ReferenceTriangle {
    std::array<ReferenceCorner, 3> corners; ///< counter-clockwise as seen from the front
    std::size_t material = 0;
    bool is_smooth = false; ///< corners have normals
};

/// Triangles one behind the other, and the box around them.
struct ReferenceGroup {
    std::size_t first, count;
    Vector lo, hi;
};

struct ReferenceLight {
    enum class Kind { point, spot, directional };

    Kind kind = Kind::point;
    Vector place{0, 0, 0}, axis{0, 0, -1};
    Vector strength{0, 0, 0}; ///< radiance times area, or times solid angle
    double range = 0;         ///< 0: none
    double inner_angle = 0, outer_angle = 0;
};

struct ReferenceScene {
    std::vector<ReferenceTriangle> triangles;
    std::vector<ReferenceGroup> groups; ///< all triangles
    std::vector<ReferenceMaterial> materials;
    std::vector<ReferenceLight> lights;

    /// Makes a group of the triangles behind the last one.
    void close_group();
};

/// Flat triangles of Lambert, smooth mirrors and smooth glass.
[[nodiscard]] ReferenceScene reference_scene_of(const Scene& scene);

} // namespace path_tracer::test
