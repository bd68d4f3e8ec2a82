// apps/path_tracer/transform.hpp - affine maps of places in a scene file.
#pragma once
#include "point.hpp"

#include <array>
#include <cmath>
#include <optional>

namespace path_tracer {

/// An affine map: sum of columns times coordinates, and a shift.
struct Transform {
    std::array<Point, 3> columns{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};
    Point shift{0, 0, 0};

    [[nodiscard]] Point turned(Point p) const {
        return columns[0] * p.x + columns[1] * p.y + columns[2] * p.z;
    }
    [[nodiscard]] Point operator()(Point p) const { return turned(p) + shift; }
    /// First `inner`, then this.
    [[nodiscard]] Transform after(const Transform& inner) const {
        return {{turned(inner.columns[0]), turned(inner.columns[1]), turned(inner.columns[2])},
                (*this)(inner.shift)};
    }
    /// Where the normal of a surface that moves along points: of any length, perhaps on the other side.
    [[nodiscard]] Point normal(Point n) const {
        return cross(columns[1], columns[2]) * n.x + cross(columns[2], columns[0]) * n.y +
               cross(columns[0], columns[1]) * n.z;
    }
    [[nodiscard]] double determinant() const { return dot(columns[0], cross(columns[1], columns[2])); }
    [[nodiscard]] bool mirrors() const { return determinant() < 0; }
    /// The rows of the inverse, without its shift. The determinant is not 0.
    [[nodiscard]] std::array<Point, 3> inverse_rows() const {
        const double by = 1 / determinant();
        return {cross(columns[1], columns[2]) * by, cross(columns[2], columns[0]) * by,
                cross(columns[0], columns[1]) * by};
    }
};

/// Scales, then turns by a quaternion (x, y, z, w) of any length, then shifts. Nothing if it has no length.
inline std::optional<Transform> transform_of(Point shift, const std::array<double, 4>& turn, Point scale) {
    const double size = std::hypot(std::hypot(turn[0], turn[1]), std::hypot(turn[2], turn[3]));
    if (!(size > 1e-3)) return std::nullopt;
    const double x = turn[0] / size, y = turn[1] / size, z = turn[2] / size, w = turn[3] / size;
    return Transform{{Point{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)} * scale.x,
                      Point{2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)} * scale.y,
                      Point{2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)} * scale.z},
                     shift};
}

} // namespace path_tracer
