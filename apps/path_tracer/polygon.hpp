// apps/path_tracer/polygon.hpp - polygons into triangles.
#pragma once
#include "point.hpp"

#include <array>
#include <span>
#include <vector>

namespace path_tracer {

/// Triangles over the corners of a polygon, by their places in `corners`; wound as the polygon is.
///
/// Any polygon that does not cross itself: concave, with bridges to holes (edges that run there and back),
/// with corners that come twice and corners on a straight line. Together the triangles cover it, and each of
/// them turns as the polygon does. Corners on a straight line get triangles too, so that neighbours which
/// have them share all edges. Spikes, which have no area, get no triangle. What is left of a polygon that
/// crosses itself, or has no area, becomes a fan.
///
/// Cost  O(n) for convex polygons, O(n^2) mostly, O(n^3) at worst for others
[[nodiscard]] std::vector<std::array<uint32_t, 3>> triangulate(std::span<const Point> corners);

} // namespace path_tracer
