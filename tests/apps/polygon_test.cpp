// Triangles over a polygon cover it exactly: areas add up, and each is wound as the polygon is.
#include "point.hpp"
#include "polygon.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace path_tracer {
namespace {

/// All triangles face the same way, and their areas add up to `area`.
void expect_cover(const std::vector<Point>& corners, Point normal, double area) {
    const auto triangles = triangulate(corners);
    ASSERT_EQ(triangles.size(), corners.size() - 2);
    double sum = 0;
    for (const auto& [a, b, c] : triangles) {
        const double part =
            dot(cross(corners.at(b) - corners.at(a), corners.at(c) - corners.at(a)), normal) / 2;
        EXPECT_GE(part, -1e-6 * area);
        sum += part;
    }
    EXPECT_NEAR(sum, area, 1e-5 * area);
}

TEST(Polygon, ConvexOnesBecomeFans) {
    expect_cover({{0, 0, 0}, {2, 0, 0}, {2, 3, 0}, {0, 3, 0}}, {0, 0, 1}, 6);
    expect_cover({{0, 0, 0}, {0, 3, 0}, {2, 3, 0}, {2, 0, 0}}, {0, 0, -1}, 6);
    EXPECT_TRUE(triangulate(std::vector<Point>{{0, 0, 0}, {1, 0, 0}}).empty());
}

TEST(Polygon, ConcaveOnesLoseTheirEars) {
    expect_cover({{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {1, 1, 0}, {1, 3, 0}, {0, 3, 0}}, {0, 0, 1}, 5); // an L
    expect_cover({{0, 0, 0}, {0, 0, 3}, {0, 1, 3}, {0, 1, 1}, {0, 3, 1}, {0, 3, 0}}, {-1, 0, 0},
                 5); // seen from behind
    expect_cover({{0, 5, 0}, {4, 5, 0}, {4, 5, 4}, {3, 5, 4}, {3, 5, 1}, {1, 5, 1}, {1, 5, 4}, {0, 5, 4}},
                 {0, -1, 0}, 10); // a U
}

TEST(Polygon, StarsOfAnyShape) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> radius(0.2, 1);
    for (int count : {4, 5, 9, 50, 300}) {
        std::vector<Point> corners;
        std::vector<double> radii;
        double area = 0;
        for (int i = 0; i < count; ++i) {
            const double angle = 6.283185307179586 * i / count;
            radii.push_back(radius(random));
            corners.push_back({0.5, radii.back() * std::cos(angle), radii.back() * std::sin(angle)});
        }
        for (int i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i), next = static_cast<std::size_t>((i + 1) % count);
            area += 0.5 * std::sin(6.283185307179586 / count) * radii[at] * radii[next];
        }
        expect_cover(corners, {1, 0, 0}, area);
    }
}

TEST(Polygon, ImproperOnesEndToo) {
    EXPECT_EQ(triangulate(std::vector<Point>(6, Point{1, 1, 1})).size(), 4u);
    EXPECT_EQ(triangulate(std::vector<Point>{{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}}).size(),
              2u); // crosses itself
    EXPECT_EQ(triangulate(std::vector<Point>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {1, 0, 0}}).size(),
              3u); // flat
}

} // namespace
} // namespace path_tracer
