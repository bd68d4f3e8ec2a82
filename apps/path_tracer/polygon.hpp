// apps/path_tracer/polygon.hpp - polygons into triangles.
#pragma once
#include "point.hpp"

#include <array>
#include <span>
#include <vector>

namespace path_tracer {

/// Triangles over the corners of a simple polygon, by their places in `corners`; wound as the polygon is.
///
/// Convex polygons become fans, others lose one ear after the other. A polygon that is no proper one (it
/// crosses itself, or has no area) becomes a fan too.
///
/// Cost  O(n) for convex polygons, O(n^2) mostly, O(n^3) at worst for others
[[nodiscard]] std::vector<std::array<uint32_t, 3>> triangulate(std::span<const Point> corners);

} // namespace path_tracer
