// apps/path_tracer/prepared_lights.hpp - which lights shadow rays go to, and how often.
#pragma once
#include "prepared_scene.hpp"

#include <cstddef>
#include <span>

namespace path_tracer {

/// The triangles of a prepared scene, in leaves, where they come from.
struct TriangleOrigins {
    std::span<const uint32_t> order;     ///< which triangle it is, of those with an area
    std::span<const std::size_t> places; ///< in the scene, of each in a leaf
    std::span<const double> areas;       ///< of those with an area, in the coordinates of kernels
};

/// Gives a prepared scene with triangles and textures its lights: each by its power.
void prepare_lights(const Scene& scene, const TriangleOrigins& triangles, PreparedScene& prepared);

} // namespace path_tracer
