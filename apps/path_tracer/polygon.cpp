// apps/path_tracer/polygon.cpp - see polygon.hpp.
#include "polygon.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace path_tracer {
namespace {

struct Flat {
    double x, y;
};

/// Twice the area of a triangle; positive if its corners run counter-clockwise.
double turn(Flat a, Flat b, Flat c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

/// The polygon as seen along the axis on which it is widest to look at, so that it runs counter-clockwise.
std::vector<Flat> project(std::span<const Point> corners) {
    double nx = 0, ny = 0, nz = 0; // Newell's normal
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const Point a = corners[i], b = corners[(i + 1) % corners.size()];
        nx += (a.y - b.y) * (a.z + b.z);
        ny += (a.z - b.z) * (a.x + b.x);
        nz += (a.x - b.x) * (a.y + b.y);
    }
    const double largest_part = std::max({std::abs(nx), std::abs(ny), std::abs(nz)});
    std::vector<Flat> points;
    points.reserve(corners.size());
    for (const Point c : corners) {
        if (largest_part == std::abs(nz))
            points.push_back(nz < 0 ? Flat{c.y, c.x} : Flat{c.x, c.y});
        else if (largest_part == std::abs(ny))
            points.push_back(ny < 0 ? Flat{c.x, c.z} : Flat{c.z, c.x});
        else
            points.push_back(nx < 0 ? Flat{c.z, c.y} : Flat{c.y, c.z});
    }
    return points;
}

/// True if the corner `at` of what is left can be cut off: it points outwards, and no other corner lies in
/// the cut.
bool is_ear(const std::vector<Flat>& points, const std::vector<uint32_t>& left, std::size_t at) {
    const std::size_t before = (at + left.size() - 1) % left.size(), after = (at + 1) % left.size();
    const Flat a = points[left[before]], b = points[left[at]], c = points[left[after]];
    if (turn(a, b, c) <= 0) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (i == before || i == at || i == after) continue;
        const Flat p = points[left[i]];
        if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
    }
    return true;
}

} // namespace

std::vector<std::array<uint32_t, 3>> triangulate(std::span<const Point> corners) {
    std::vector<std::array<uint32_t, 3>> triangles;
    if (corners.size() < 3) return triangles;
    triangles.reserve(corners.size() - 2);
    const std::vector<Flat> points = project(corners);
    std::vector<uint32_t> left(corners.size());
    std::iota(left.begin(), left.end(), 0u);
    bool is_convex = true;
    for (std::size_t i = 0; i < points.size() && is_convex; ++i)
        is_convex = turn(points[i], points[(i + 1) % points.size()], points[(i + 2) % points.size()]) >= 0;
    while (!is_convex && left.size() > 3) {
        std::size_t ear = 0;
        while (ear < left.size() && !is_ear(points, left, ear)) ++ear;
        if (ear == left.size()) break; // no proper polygon
        triangles.push_back(
            {left[(ear + left.size() - 1) % left.size()], left[ear], left[(ear + 1) % left.size()]});
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(ear));
    }
    for (std::size_t i = 2; i < left.size(); ++i) triangles.push_back({left[0], left[i - 1], left[i]});
    return triangles;
}

} // namespace path_tracer
