// Furnaces of any shape, size and place: every sample shows the closed form, or a ray has met the triangle
// that it left, or passed a wall.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

namespace path_tracer::test {
namespace {

/// A turn, a size and a place.
struct Motion {
    std::array<Point, 3> axes;
    double scale;
    Point shift;

    [[nodiscard]] Point operator()(Point p) const {
        return (axes[0] * p.x + axes[1] * p.y + axes[2] * p.z) * scale + shift;
    }
};

class Furnace : public Seeded {
protected:
    /// Any rotation; scales from 1e-12 to 1e12; as far away as 1e5 times the size.
    Motion any_motion() {
        std::normal_distribution<double> normal;
        const Point x = normalised(Point{normal(random), normal(random), normal(random)});
        const Point other = normalised(Point{normal(random), normal(random), normal(random)});
        const Point z = normalised(cross(x, other));
        const double scale = std::pow(10, between(-12, 12));
        const double away = scale * std::pow(10, between(-2, 5));
        return {{x, cross(z, x), z}, scale, Point{between(-1, 1), between(-1, 1), between(-1, 1)} * away};
    }
    /// How many times as long as wide.
    double any_aspect() { return std::pow(10, between(0, 6)); }

    /// Closed and convex, with the origin inside and about 1 long: boxes, columns, double pyramids.
    std::vector<std::array<Point, 3>> any_convex_body() {
        const double y = 1 / any_aspect(), z = whole_between(0, 1) == 0 ? y : 1 / any_aspect();
        const int sides = whole_between(3, 24);
        const bool is_column = whole_between(0, 2) > 0;
        std::vector<Point> around;
        for (int i = 0; i < sides; ++i) {
            const double angle = 2 * std::numbers::pi * i / sides;
            around.push_back({0, y * std::cos(angle), z * std::sin(angle)});
        }
        const Point left{-0.5, 0, 0}, right{0.5, 0, 0};
        std::vector<std::array<Point, 3>> body;
        for (std::size_t i = 0; i < around.size(); ++i) {
            const Point a = around[i], b = around[(i + 1) % around.size()];
            if (is_column) {
                body.push_back({left + a, right + a, right + b});
                body.push_back({left + a, right + b, left + b});
                body.push_back({left, left + a, left + b});
                body.push_back({right, right + b, right + a});
            } else {
                body.push_back({a, left, b});
                body.push_back({a, b, right});
            }
        }
        return body;
    }
    /// A point within a triangle, or now and then on an edge of it.
    Point any_point(const std::array<Point, 3>& triangle) {
        double u = between(0, 1), v = between(0, 1);
        if (u + v > 1) {
            u = 1 - u;
            v = 1 - v;
        }
        if (whole_between(0, 7) == 0) u = 0;
        return triangle[0] * (1 - u - v) + triangle[1] * u + triangle[2] * v;
    }
    const std::array<Point, 3>& any_of(const std::vector<std::array<Point, 3>>& body) {
        return body[static_cast<std::size_t>(whole_between(0, static_cast<int>(body.size()) - 1))];
    }
    static PreparedScene prepared(const std::vector<std::array<Point, 3>>& body, const Motion& motion,
                                  const SurfaceDescription& surface) {
        SceneBuilder builder;
        builder.material(surface);
        for (const auto& [a, b, c] : body) builder.triangle(motion(a), motion(b), motion(c));
        return prepare_scene(builder.scene());
    }
};

/// The whole path of one sample; what it met and how often is counted in `hits`.
float radiance_of(const PreparedScene& scene, const Frame& frame, std::uint64_t index, std::uint32_t& hits) {
    PathVertex vertex = begin_path(frame, index);
    float radiance = 0;
    hits = 0;
    for (bool goes_on = true; goes_on;) {
        const Hit hit = nearest_hit(view_of(scene), ray_of(view_of(scene), frame, vertex));
        if (hit.triangle != PATH_TRACER_NO_TRIANGLE) {
            ++hits;
            if (vertex.left != PATH_TRACER_NO_TRIANGLE) {
                EXPECT_NE(scene.triangles[hit.triangle].id, scene.triangles[vertex.left].id);
            }
        }
        const VertexResult result = trace_vertex(view_of(scene), frame, vertex);
        radiance += result.radiance.r;
        goes_on = result.goes_on;
        vertex = result.next;
    }
    return radiance;
}

TEST_F(Furnace, ConvexBodiesShowTheirAlbedoInEverySample) {
    std::size_t shown = 0;
    for (int scene = 0; scene < 3000; ++scene) {
        const auto body = any_convex_body();
        const Motion motion = any_motion();
        const PreparedScene ready = prepared(body, motion, lambert(0.5f));
        const Point target = any_point(any_of(body));
        const Point eye = normalised(Point{between(-1, 1), between(-1, 1), between(-1, 1)}) * between(1.3, 3);
        Frame frame = small_frame(
            ready, {motion(eye), motion(target), static_cast<float>(std::pow(10, between(-4, 1)))}, 6, 4);
        frame.sky = {1, 1, 1};
        frame.seed_low = static_cast<std::uint32_t>(random());
        for (std::uint64_t i = 0; i < 6 * 4 * 4; ++i) {
            std::uint32_t hits = 0;
            const float radiance = radiance_of(ready, frame, i, hits);
            ASSERT_LE(hits, 1u) << "a ray came back to a convex body: scene " << scene << ", sample " << i;
            ASSERT_EQ(radiance, hits == 0 ? 1.0f : 0.5f);
            shown += hits;
        }
    }
    EXPECT_GT(shown, 30000u);
}

/// Twice the area between a point of the plane z = 0 and an edge, positive on its left.
double beside(Float3 from, Float3 to, double x, double y) {
    return (double{to.x} - from.x) * (y - from.y) - (double{to.y} - from.y) * (x - from.x);
}

TEST_F(Furnace, OfManySheetsTheUppermostIsMet) {
    // Floats cannot tell which is the nearest of them: few wait for the end of the walk, many do not.
    constexpr double apart = 0x1p-40;
    const Motion as_it_is{{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}}, 1, {0, 0, 0}};
    std::array<int, 2> rays{};
    for (int scene = 0; scene < 200; ++scene) {
        std::vector<std::array<Point, 3>> sheets;
        const int count = whole_between(2, 40);
        for (int i = 0; i < count; ++i) {
            const double z = whole_between(0, 1'000'000) * apart;
            const auto corner = [&] { return Point{between(-1, 1), between(-1, 1), z}; };
            sheets.push_back({corner(), corner(), corner()});
        }
        const PreparedScene ready = prepared(sheets, as_it_is, lambert(0.5f));
        for (int i = 0; i < 50; ++i) {
            const Ray ray = ray_along(
                {static_cast<float>(between(-0.4, 0.4)), static_cast<float>(between(-0.4, 0.4)), 0.5f},
                {0, 0, -1});
            float uppermost = -1;
            std::set<std::uint32_t> below; // a triangle may be in several leaves
            bool is_near_an_edge = false;  // where rounding decides
            for (std::uint32_t at = 0; at < ready.triangles.size(); ++at) {
                const Triangle& t = ready.triangles[at];
                const std::array sides{beside(t.a, t.b, ray.origin.x, ray.origin.y),
                                       beside(t.b, t.c, ray.origin.x, ray.origin.y),
                                       beside(t.c, t.a, ray.origin.x, ray.origin.y)};
                const auto [least, most] = std::ranges::minmax(sides);
                for (const double side : sides) is_near_an_edge |= std::abs(side) < 1e-5;
                if (least < 0 && most > 0) continue;
                uppermost = std::max(uppermost, t.a.z);
                below.insert(t.id);
            }
            if (is_near_an_edge) continue;
            const Hit hit = nearest_hit(view_of(ready), ray);
            ASSERT_EQ(hit.triangle == PATH_TRACER_NO_TRIANGLE, below.empty());
            if (below.empty()) continue;
            ASSERT_EQ(ready.triangles[hit.triangle].a.z, uppermost)
                << "scene " << scene << ": " << below.size() << " triangles";
            ASSERT_NEAR(hit.distance, 0.5f - uppermost, 1e-6);
            ++rays[below.size() > PATH_TRACER_MOST_DOUBTS + 1 ? 1 : 0];
        }
    }
    EXPECT_GT(rays[0], 500);
    EXPECT_GT(rays[1], 100);
}

TEST_F(Furnace, ClosedRoomsSumTheGeometricSeriesInEverySample) {
    constexpr std::uint32_t depth = 8;
    const double expected = (1 - std::pow(0.5, depth)) / (1 - 0.5);
    for (int scene = 0; scene < 1500; ++scene) {
        const auto room = any_convex_body();
        const Motion motion = any_motion();
        const PreparedScene ready = prepared(room, motion, lambert(0.5f, 1));
        Frame frame = small_frame(
            ready, {motion({0, 0, 0}), motion(any_point(any_of(room))), static_cast<float>(between(1, 120))},
            6, 4);
        frame.max_depth = depth;
        frame.seed_low = static_cast<std::uint32_t>(random());
        for (std::uint64_t i = 0; i < 6 * 4 * 4; ++i) {
            std::uint32_t hits = 0;
            ASSERT_NEAR(radiance_of(ready, frame, i, hits), expected, 2e-6 * expected)
                << "a ray passed a wall: scene " << scene << ", sample " << i;
        }
    }
}

TEST_F(Furnace, NothingOfTheSkyGetsIntoAClosedRoom) {
    for (int scene = 0; scene < 1000; ++scene) {
        const auto room = any_convex_body();
        const Motion motion = any_motion();
        // Mirrors, too: they send rays along walls.
        const PreparedScene ready = prepared(room, motion, scene % 2 == 0 ? lambert(0.8f) : mirror(0.9f));
        Frame frame = small_frame(
            ready, {motion({0, 0, 0}), motion(any_point(any_of(room))), static_cast<float>(between(1, 120))},
            4, 4);
        frame.max_depth = 24;
        frame.sky = {1000, 1000, 1000};
        frame.seed_low = static_cast<std::uint32_t>(random());
        for (std::uint64_t i = 0; i < 4 * 4 * 4; ++i) {
            std::uint32_t hits = 0;
            ASSERT_EQ(radiance_of(ready, frame, i, hits), 0)
                << "the sky got in: scene " << scene << ", sample " << i;
            ASSERT_EQ(hits, 24u);
        }
    }
}

TEST_F(Furnace, SoupsOfTrianglesInAClosedRoomChangeNothing) {
    constexpr std::uint32_t depth = 6;
    const double expected = (1 - std::pow(0.5, depth)) / (1 - 0.5);
    for (int scene = 0; scene < 10000; ++scene) {
        std::vector<std::array<Point, 3>> all;
        const auto any = [&] { return Point{between(-1, 1), between(-1, 1), between(-1, 1)} * 0.3; };
        const int count = whole_between(1, 12);
        for (int i = 0; i < count; ++i) {
            const Point a = any(), along = any();
            const double thin = 1 / any_aspect();
            all.push_back({a, a + along, a + along * between(0, 1) + any() * thin});
            if (whole_between(0, 3) == 0)
                all.push_back({all.back()[1], all.back()[2], all.back()[0]}); // a twin
        }
        for (const double x : {-0.5, 0.5}) // around them a room of twelve triangles
            for (int axis = 0; axis < 3; ++axis) {
                const auto corner = [&](double y, double z) {
                    return axis == 0 ? Point{x, y, z} : axis == 1 ? Point{z, x, y} : Point{y, z, x};
                };
                all.push_back({corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5)});
                all.push_back({corner(-0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)});
            }
        const Motion motion = any_motion();
        const PreparedScene ready = prepared(all, motion, lambert(0.5f, 1));
        Frame frame = small_frame(ready, {motion(any()), motion(any()), 100}, 3, 2);
        frame.max_depth = depth;
        frame.seed_low = static_cast<std::uint32_t>(random());
        for (std::uint64_t i = 0; i < 3 * 2 * 2; ++i) {
            std::uint32_t hits = 0;
            ASSERT_NEAR(radiance_of(ready, frame, i, hits), expected, 2e-6 * expected)
                << "scene " << scene << ", sample " << i;
        }
    }
}

TEST_F(Furnace, GlassAndMirrorsOfAnyShapeLoseNoLight) {
    for (int scene = 0; scene < 500; ++scene) {
        const auto body = any_convex_body();
        const Motion motion = any_motion();
        const PreparedScene ready =
            prepared(body, motion, scene % 2 == 0 ? glass(static_cast<float>(between(1, 2.5))) : mirror(1));
        Frame frame = small_frame(ready, {motion({0.3, 1.5, 0.8}), motion(any_point(any_of(body))), 1}, 4, 4);
        frame.sky = {1, 1, 1};
        frame.max_depth = 1u << 20;
        frame.roulette_from = 200; // in a slab of glass light may go on for very long
        frame.seed_low = static_cast<std::uint32_t>(random());
        for (std::uint64_t i = 0; i < 4 * 4; ++i) {
            std::uint32_t hits = 0;
            const float radiance = radiance_of(ready, frame, i, hits);
            if (hits < 200) { // else roulette has made noise of it
                ASSERT_NEAR(radiance, 1, 1e-5) << "scene " << scene << ", sample " << i;
            }
            if (scene % 2 != 0) {
                ASSERT_LE(hits, 1u);
            }
        }
    }
}

TEST(Placement, KeepsASphereRoundFarFromTheOrigin) {
    // A sphere of 1 m where maps of the world put it: floats are half a metre apart there.
    SceneBuilder unit;
    unit.material(lambert(0.5f)).sphere({0, 0, 0}, 1, 4);
    SceneBuilder away;
    away.material(lambert(0.5f));
    const Point place{5e5, 4.6e6, 100};
    for (const SceneTriangle& t : unit.scene().triangles)
        away.triangle(t.a + place, t.b + place, t.c + place);
    const PreparedScene here = prepare_scene(unit.scene()), there = prepare_scene(away.scene());
    const CameraPose pose{{0, 0, 5}, {0, 0, 0}, 30};
    Frame frame = small_frame(here, pose, 64, 64);
    frame.sky = {1, 1, 1};
    Frame moved = small_frame(there, {pose.eye + place, pose.target + place, 30}, 64, 64);
    moved.sky = {1, 1, 1};
    const auto as_here = sum_with_consumer(here, frame, 4), as_there = sum_with_consumer(there, moved, 4);
    int differing = 0; // only where rounding of doubles (1e-9 m) moves the outline past a ray
    for (std::size_t i = 0; i < as_here.size(); ++i)
        differing += std::abs(as_here[i].r - as_there[i].r) > 1e-4f ? 1 : 0;
    EXPECT_LE(differing, 2);
    const double scale = there.placement.scale;
    for (const Triangle& triangle : there.triangles)
        for (const Float3 corner : {triangle.a, triangle.b, triangle.c}) {
            const Point out = wide(corner) * (1 / scale) + there.placement.middle - place;
            ASSERT_NEAR(length(out), 1, 1e-6);
        }
}

} // namespace
} // namespace path_tracer::test
