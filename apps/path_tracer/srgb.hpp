// apps/path_tracer/srgb.hpp - numbers of sRGB as light.
#pragma once
#include <cmath>

namespace path_tracer {

/// Linear reflectance or radiance of a number of sRGB from 0 to 1 (IEC 61966-2-1).
[[nodiscard]] inline double linear_of_srgb(double value) {
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

} // namespace path_tracer
