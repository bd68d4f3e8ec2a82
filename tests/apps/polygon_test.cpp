// Triangles over a polygon cover it exactly: areas add up, and each is wound as the polygon is.
#include "apps/seeds.hpp"
#include "point.hpp"
#include "polygon.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <tuple>
#include <vector>

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
        EXPECT_GE(part, 0);
        sum += part;
    }
    EXPECT_NEAR(sum, area, 1e-12 * area);
}

/// In the plane z = 0: all triangles face +z, and their areas add up to `area`.
void expect_area(const std::vector<Point>& corners, double area) {
    double sum = 0;
    for (const auto& [a, b, c] : triangulate(corners)) {
        const double part = cross(corners.at(b) - corners.at(a), corners.at(c) - corners.at(a)).z / 2;
        EXPECT_GT(part, 0);
        sum += part;
    }
    EXPECT_NEAR(sum, area, 1e-12);
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
    EXPECT_TRUE(triangulate(std::vector<Point>(6, Point{1, 1, 1})).empty());
    EXPECT_EQ(triangulate(std::vector<Point>{{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}}).size(),
              2u); // crosses itself
    EXPECT_TRUE(
        triangulate(std::vector<Point>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {1, 0, 0}}).empty());
}

/// Polygons whose area is known by how they are made.
class Polygons : public test::Seeded {
protected:
    using Loop = std::vector<Point>; // in the plane z = 0, counter-clockwise
    using Edge = std::tuple<double, double, double, double, double, double>;
    static Edge edge(Point p, Point q) { return {p.x, p.y, p.z, q.x, q.y, q.z}; }

    /// Squares glued to each other, edge to edge, at random. Where squares touch that were not glued, the
    /// polygon runs there and back, and corners come up to four times; holes stay open.
    Loop any_squares(double& area) {
        Loop loop = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
        std::set<std::pair<double, double>> taken = {{0, 0}}; // lower left corners
        const int wanted = whole_between(1, 40);
        for (int i = 1; i < wanted; ++i) {
            const auto at = static_cast<std::size_t>(whole_between(0, static_cast<int>(loop.size()) - 1));
            const Point p = loop[at], q = loop[(at + 1) % loop.size()];
            const Point out{q.y - p.y, p.x - q.x, 0}; // to the right of the edge
            const Point far_p = p + out, far_q = q + out;
            if (!taken.insert({std::min(p.x, far_q.x), std::min(p.y, far_q.y)}).second) continue;
            const auto place = loop.begin() + static_cast<std::ptrdiff_t>(at) + 1;
            loop.insert(place, {far_p, far_q});
        }
        area = static_cast<double>(taken.size());
        return loop;
    }

    static double area_of(const Loop& loop) {
        double twice = 0;
        for (std::size_t i = 0; i < loop.size(); ++i) {
            const Point p = loop[i], q = loop[(i + 1) % loop.size()];
            twice += p.x * q.y - p.y * q.x;
        }
        return twice / 2;
    }

    /// Any radius for each angle, so concave, around a centre.
    Loop any_star(Point centre, double least, double most, double first_angle, int corners) {
        Loop star;
        for (int i = 0; i < corners; ++i) {
            const double angle = first_angle + 2 * std::numbers::pi * i / corners;
            const double radius = i == 0 ? most : between(least, most);
            star.push_back(centre + Point{radius * std::cos(angle), radius * std::sin(angle), 0});
        }
        return star;
    }

    /// A star with holes, which are stars too: each hangs on a bridge from a corner, or touches the corner.
    Loop any_star_with_holes(double& area) {
        const int corners = whole_between(7, 40);
        const Loop outside = any_star({0, 0, 0}, 0.6, 1, between(0, 6), corners);
        area = area_of(outside);
        Loop loop;
        for (std::size_t i = 0; i < outside.size(); ++i) {
            loop.push_back(outside[i]);
            if (i % 7 != 0 || i + 7 > outside.size() || whole_between(0, 3) == 0)
                continue; // holes keep apart
            const double angle = std::atan2(outside[i].y, outside[i].x);
            const bool touches = whole_between(0, 3) == 0;
            const double at = touches ? length(outside[i]) - 0.1 : 0.45;
            const Point centre = Point{std::cos(angle), std::sin(angle), 0} * at;
            Loop hole = any_star(centre, touches ? 0.03 : 0.06, 0.1, angle, whole_between(3, 12));
            if (touches) hole[0] = outside[i];
            // Seen from the corner a hole that touches it lies between the edges there, or it is left out.
            if (touches && !lies_inside(hole, outside)) continue;
            area -= area_of(hole);
            if (touches) {
                for (std::size_t k = hole.size(); k-- > 0;) loop.push_back(hole[k]); // ends at the corner
            } else {
                loop.push_back(hole[0]);
                for (std::size_t k = hole.size(); k-- > 0;) loop.push_back(hole[k]);
                loop.push_back(outside[i]);
            }
        }
        return loop;
    }
    /// All corners but the first are well within all edges of a star around the origin.
    static bool lies_inside(const Loop& hole, const Loop& star) {
        for (std::size_t k = 1; k < hole.size(); ++k)
            for (std::size_t i = 0; i < star.size(); ++i) {
                const Point p = star[i], q = star[(i + 1) % star.size()];
                if ((q.x - p.x) * (hole[k].y - p.y) - (q.y - p.y) * (hole[k].x - p.x) < 1e-3) return false;
            }
        return true;
    }

    /// Edges that are run there only, one answer for each: others lie within the polygon, and may vanish.
    static std::vector<bool> outer_edges(const Loop& loop) {
        std::set<Edge> edges;
        for (std::size_t i = 0; i < loop.size(); ++i)
            edges.insert(edge(loop[i], loop[(i + 1) % loop.size()]));
        std::vector<bool> outer;
        for (std::size_t i = 0; i < loop.size(); ++i)
            outer.push_back(!edges.contains(edge(loop[(i + 1) % loop.size()], loop[i])));
        return outer;
    }

    /// Corners in the middle of edges, and corners that come twice in a row.
    Loop with_more_corners(const Loop& loop, std::vector<bool>& outer) {
        Loop more;
        const std::vector<bool> was_outer = std::move(outer);
        outer.clear();
        for (std::size_t i = 0; i < loop.size(); ++i) {
            more.push_back(loop[i]);
            if (whole_between(0, 5) == 0) more.push_back(loop[i]);
            if (whole_between(0, 5) == 0) more.push_back((loop[i] + loop[(i + 1) % loop.size()]) * 0.5);
            outer.resize(more.size(), was_outer[i]);
        }
        return more;
    }

    /// Turned, scaled and moved to any plane; a corner that comes again is the same bits again.
    Loop moved(const Loop& loop, std::vector<bool>& outer, Point& normal, double& scale) {
        std::normal_distribution<double> gauss;
        const auto any = [&] { return normalised(Point{gauss(random), gauss(random), gauss(random)}); };
        normal = whole_between(0, 3) == 0 ? Point{0, 0, 1} : any();
        const Point x = normalised(cross(any(), normal)), y = cross(normal, x);
        scale = std::pow(10, between(-9, 9));
        const Point shift = any() * (scale * between(0, 1000));
        const auto first = whole_between(0, static_cast<int>(loop.size()) - 1);
        std::rotate(outer.begin(), outer.begin() + first, outer.end());
        Loop result;
        for (std::size_t i = 0; i < loop.size(); ++i) {
            const Point p = loop[(i + static_cast<std::size_t>(first)) % loop.size()];
            result.push_back((x * p.x + y * p.y) * scale + shift);
        }
        return result;
    }
};

TEST_F(Polygons, TrianglesHaveTheirAreaAndTheirEdges) {
    for (int i = 0; i < 10000; ++i) {
        double area = 0, scale = 1;
        Loop loop = i % 2 == 0 ? any_squares(area) : any_star_with_holes(area);
        std::vector<bool> outer = outer_edges(loop);
        if (whole_between(0, 1) == 0) loop = with_more_corners(loop, outer);
        Point normal{0, 0, 1};
        const Loop polygon = moved(loop, outer, normal, scale);
        double sum = 0;
        std::set<Edge> edges;
        for (const auto& [a, b, c] : triangulate(polygon)) {
            const Point p = polygon.at(a), q = polygon.at(b), r = polygon.at(c);
            const double part = dot(cross(q - p, r - p), normal) / (2 * scale * scale);
            ASSERT_GE(part, -1e-9) << "polygon " << i; // rounding, in sizes of the polygon
            sum += part;
            edges.insert({edge(p, q), edge(q, r), edge(r, p)});
        }
        ASSERT_NEAR(sum, area, 1e-9 * area) << "polygon " << i;
        for (std::size_t k = 0; k < polygon.size(); ++k) {
            const Point p = polygon[k], q = polygon[(k + 1) % polygon.size()];
            if (p == q || !outer[k]) continue;
            ASSERT_TRUE(edges.contains(edge(p, q)))
                << "polygon " << i << ": a corner lies on an edge of a triangle, where a ray may pass";
        }
    }
}

TEST(Polygon, HolesOnABridgeStayOpen) {
    expect_area({{-1, -1, 0},
                 {1, -1, 0},
                 {1, 1, 0},
                 {-1, 1, 0},
                 {-1, -1, 0}, // obj_keyhole.obj
                 {-0.5, -0.5, 0},
                 {-0.5, 0.5, 0},
                 {0.5, 0.5, 0},
                 {0.5, -0.5, 0},
                 {-0.5, -0.5, 0}},
                3);
}

TEST(Polygon, CornersMayComeTwice) {
    expect_area({{-1, -1, 0}, {0, -1, 0}, {1, -1, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 0}, {0, 0, 0}, {-1, 0, 0}},
                3);
}

} // namespace
} // namespace path_tracer
