// apps/path_tracer/corner_shading.hpp - normals and colours from a file, as kernels want them.
#pragma once
#include "layout.h"
#include "point.hpp"
#include "srgb.hpp"

#include <array>
#include <cmath>
#include <optional>

namespace path_tracer {

/// Whether a vector of a file has a direction.
[[nodiscard]] inline bool is_direction(Point vector) {
    return largest_part(vector) > 0 && std::isfinite(vector.x) && std::isfinite(vector.y) &&
           std::isfinite(vector.z);
}

/// The numbers that decoded_normal reads: within 1e-4 of the direction.
[[nodiscard]] inline uint32_t encoded_normal(Point direction) {
    const double size = std::abs(direction.x) + std::abs(direction.y) + std::abs(direction.z);
    double x = direction.x / size, y = direction.y / size;
    if (direction.z < 0) {
        const double folded_x = std::copysign(1 - std::abs(y), x),
                     folded_y = std::copysign(1 - std::abs(x), y);
        x = folded_x;
        y = folded_y;
    }
    const auto steps = [](double value) {
        return static_cast<uint32_t>(std::lround((value + 1) * (0.5 * PATH_TRACER_NORMAL_STEPS)));
    };
    return steps(y) << 16 | steps(x);
}

/// The normals of the corners of a triangle with the normal `own`, all of length 1; nothing if they are that
/// one, but for rounding, so that the triangle is flat.
[[nodiscard]] inline std::optional<std::array<uint32_t, 3>> encoded_normals(Point own, Point a, Point b,
                                                                            Point c) {
    constexpr double rounding = 1e-4;
    const auto is_own = [own](Point normal) { return length(cross(own, normal)) < rounding; };
    if (is_own(a) && is_own(b) && is_own(c)) return std::nullopt;
    return std::array{encoded_normal(a), encoded_normal(b), encoded_normal(c)};
}

/// Linear reflectance of a colour in sRGB; nothing if a part is not between 0 and 1.
[[nodiscard]] inline std::optional<Rgb> linear_colour(std::array<double, 3> srgb) {
    std::array<float, 3> linear{};
    for (std::size_t i = 0; i < srgb.size(); ++i) {
        if (!(srgb[i] >= 0 && srgb[i] <= 1)) return std::nullopt;
        linear[i] = static_cast<float>(linear_of_srgb(srgb[i]));
    }
    return Rgb{linear[0], linear[1], linear[2]};
}

} // namespace path_tracer
