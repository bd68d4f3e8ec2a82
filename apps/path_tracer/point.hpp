// apps/path_tracer/point.hpp - places in a scene file: in double precision, as files and people give them.
#pragma once
#include "layout.h"

#include <algorithm>
#include <cmath>

namespace path_tracer {

struct Point {
    double x, y, z;
};

constexpr Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Point operator*(Point a, double s) { return {a.x * s, a.y * s, a.z * s}; }
constexpr bool operator==(Point a, Point b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
constexpr double dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double length(Point a) { return std::hypot(a.x, a.y, a.z); }
inline double largest_part(Point a) { return std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)}); }

constexpr Point wide(Float3 a) { return {double{a.x}, double{a.y}, double{a.z}}; }
constexpr Float3 rounded(Point a) {
    return {static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z)};
}

/// a b - c d, right to two units of its last place however much of it cancels.
/// Source  Kahan; Jeannerod, Louvet and Muller, "Further analysis of Kahan's algorithm", Math. Comp. 2013
inline double difference_of_products(double a, double b, double c, double d) {
    const double second = c * d;
    return std::fma(a, b, -second) + std::fma(-c, d, second);
}

/// Each component is right to a few roundings of its own: normals of the thinnest triangles are.
inline Point cross(Point a, Point b) {
    return {difference_of_products(a.y, b.z, a.z, b.y), difference_of_products(a.z, b.x, a.x, b.z),
            difference_of_products(a.x, b.y, a.y, b.x)};
}

/// Of a vector that is not 0, however small it is.
inline Point normalised(Point a) {
    const Point scaled = a * (1 / largest_part(a));
    return scaled * (1 / length(scaled));
}

} // namespace path_tracer
