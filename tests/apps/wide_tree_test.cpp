// The tree of CPUs holds every point of every triangle, in pairs with a common edge; and with all
// instructions of this processor its walk finds what the walk of other devices finds, to the last bit.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "core/seeds.hpp"
#include "devices/with_instructions.hpp"
#include "host_walk.hpp"
#include "path.hpp"
#include "wide_tree.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace path_tracer::test {
namespace {

Scene soup(std::mt19937& random, int count, float size) {
    SceneBuilder builder;
    builder.material(lambert(0.5f)).soup(random, count, 1.5f, size);
    return builder.scene();
}
Scene ball(int levels) {
    SceneBuilder builder;
    builder.material(lambert(0.5f)).sphere({0.1f, -0.2f, 0.3f}, 1.7f, levels);
    return builder.scene();
}
/// Boxes without thickness, and walls that touch.
Scene room() {
    SceneBuilder builder;
    builder.material(lambert(0.5f)).box({-1, -1, -1}, {1, 1, 1}).box({-0.5f, 0, -1}, {0.5f, 1, 0.5f});
    return builder.scene();
}
/// The same triangles again and again, with corners in all orders and several materials.
Scene repeated(std::mt19937& random) {
    SceneBuilder builder;
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto point = [&] { return Float3{uniform(random), uniform(random), uniform(random)}; };
    for (int i = 0; i < 40; ++i) {
        const Float3 a = point(), b = point(), c = point();
        for (const auto& [one, two, three] : {std::array{a, b, c}, {a, b, c}, {b, a, c}, {c, a, b}})
            builder.material(lambert(0.1f * static_cast<float>(1 + random() % 5)))
                .triangle(wide(one), wide(two), wide(three));
    }
    return builder.scene();
}
/// Needles, whose edges are a million times as long as they are wide.
Scene needles(std::mt19937& random) {
    SceneBuilder builder;
    builder.material(lambert(0.5f));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int i = 0; i < 300; ++i) {
        const Float3 a{uniform(random), uniform(random), uniform(random)},
            b{uniform(random), uniform(random), uniform(random)};
        builder.triangle(wide(a), wide(b), wide(a) + Point{1e-6, 0, 1e-6});
    }
    return builder.scene();
}

/// Needles of which doubles alone see that they are not lines, with a broad triangle at one of their edges:
/// corners in all orders.
Scene lines(std::mt19937& random) {
    SceneBuilder builder;
    builder.material(lambert(0.5f));
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto point = [&] { return Point{uniform(random), uniform(random), uniform(random)}; };
    std::array<unsigned, 3> order{0, 1, 2};
    for (int i = 0; i < 60; ++i) {
        const Point p = point(), q = point();
        const std::array<Point, 3> needle{q, p, p + Point{1e-10, -1e-10, 1e-10}};
        const std::array<Point, 3> broad{p, q, point()};
        for (int which = 0; which < 2; ++which) {
            const auto& corners = (which == 0) == (i % 2 == 0) ? needle : broad;
            builder.triangle(corners[order[0]], corners[order[1]], corners[order[2]]);
            std::next_permutation(order.begin(), order.end());
        }
    }
    return builder.scene();
}
/// Large and small rectangles in one plane, so that a ray meets several triangles at one distance.
Scene decals(std::mt19937& random) {
    SceneBuilder builder;
    builder.material(lambert(0.5f));
    std::uniform_int_distribution<int> whole(-16, 15);
    const auto rectangle = [&](double x, double z, double size) {
        builder.triangle({x, 0, z}, {x + size, 0, z}, {x, 0, z + size});
        builder.triangle({x + size, 0, z}, {x + size, 0, z + size}, {x, 0, z + size});
    };
    for (int i = 0; i < 200; ++i) rectangle(whole(random) / 8.0, whole(random) / 8.0, 0.25);
    rectangle(-2, -2, 4);
    for (int i = 0; i < 200; ++i) rectangle(whole(random) / 8.0, whole(random) / 8.0, 0.25);
    for (int i = 0; i < 400; ++i) { // apart from the plane, so that the tree has more than one
        const Point at{whole(random) / 8.0, whole(random) / 8.0, whole(random) / 8.0};
        builder.triangle(at, at + Point{0.1, 0, 0}, at + Point{0, 0, 0.1});
    }
    return builder.scene();
}

struct SlotBox {
    Float3 lo, hi;
    [[nodiscard]] bool holds(Float3 p) const {
        return p.x >= lo.x && p.y >= lo.y && p.z >= lo.z && p.x <= hi.x && p.y <= hi.y && p.z <= hi.z;
    }
};
SlotBox box_of_slot(const WideNode& node, unsigned slot) {
    const auto at = [&](const unsigned char(&bytes)[8], float origin, unsigned axis) {
        return origin + std::ldexp(static_cast<float>(bytes[slot]),
                                   static_cast<int>(node.steps >> (8 * axis) & 255u) - 127);
    };
    return {{at(node.low_x, node.origin.x, 0), at(node.low_y, node.origin.y, 1),
             at(node.low_z, node.origin.z, 2)},
            {at(node.high_x, node.origin.x, 0), at(node.high_y, node.origin.y, 1),
             at(node.high_z, node.origin.z, 2)}};
}

bool is_corner(const TrianglePair& pair, const Float3& point) {
    return std::ranges::any_of(std::array{pair.a, pair.b, pair.c, pair.d},
                               [&](const Float3& corner) { return is_same_point(corner, point); });
}

/// For random points of each triangle there is a pair with this triangle whose boxes, all the way down, hold
/// the point.
void expect_sound(const Scene& scene) {
    const PreparedScene prepared = prepare_scene(scene);
    const WideTree& tree = prepared.host_tree;
    ASSERT_FALSE(tree.nodes.empty());
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(0, 1);
    constexpr std::size_t points = 10;
    std::vector<std::array<Float3, points>> probes(prepared.triangles.size());
    for (std::size_t i = 0; i < probes.size(); ++i)
        for (Float3& probe : probes[i]) {
            const Triangle& triangle = prepared.triangles[i];
            const float u = uniform(random), v = uniform(random) * (1 - u);
            probe = point_of(&triangle, u, v);
        }
    std::vector<std::array<bool, points>> found(probes.size());
    std::vector<bool> is_there(probes.size());
    const auto visit = [&](const auto& self, uint32_t index, unsigned depth) -> void {
        ASSERT_LE(depth, tree.depth);
        const WideNode& node = tree.nodes.at(index);
        EXPECT_EQ(node.inner & node.leaves, 0u);
        uint32_t child = node.first_child, place = node.first_pair;
        for (unsigned slot = 0; slot < wide_slots; ++slot) {
            const SlotBox box = box_of_slot(node, slot);
            if ((node.inner >> slot & 1) != 0) {
                self(self, child++, depth + 1);
                continue;
            }
            if ((node.leaves >> slot & 1) == 0) continue;
            const TrianglePair& pair = tree.pairs.at(place++);
            for (const uint32_t triangle : {pair.first, pair.second}) {
                if (triangle == PATH_TRACER_NO_TRIANGLE) continue;
                is_there.at(triangle) = true;
                for (const Float3 corner : {prepared.triangles[triangle].a, prepared.triangles[triangle].b,
                                            prepared.triangles[triangle].c})
                    EXPECT_TRUE(is_corner(pair, corner));
                for (std::size_t probe = 0; probe < points; ++probe)
                    if (box.holds(probes[triangle][probe])) found[triangle][probe] = true;
            }
        }
    };
    visit(visit, 0, 1);
    EXPECT_LE(tree.depth, unsigned{PATH_TRACER_STACK});
    EXPECT_GE(std::ranges::count(is_there, true), static_cast<std::ptrdiff_t>(scene.triangles.size()) / 4);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool is_held = std::ranges::all_of(found[i], [](bool is) { return is; });
        ASSERT_EQ(is_held, is_there[i]) << "triangle " << i;
    }
}

TEST(WideTree, HoldsEveryPointOfEveryTriangle) {
    std::mt19937 random(1);
    for (const int count : {1, 2, 3, 7, 8, 9, 100, 5000}) expect_sound(soup(random, count, 1));
    expect_sound(ball(4));
    expect_sound(room());
    expect_sound(needles(random));
    expect_sound(repeated(random));
    expect_sound(lines(random));
    expect_sound(decals(random));
}

TEST(WideTree, PairsMostTrianglesOfAMesh) {
    const PreparedScene prepared = prepare_scene(ball(5));
    const std::vector<PairOfTriangles> pairs = paired(prepared.triangles);
    std::vector<unsigned> taken(prepared.triangles.size());
    std::size_t with_two = 0;
    for (const auto& [first, second] : pairs) {
        ++taken.at(first);
        if (second == PATH_TRACER_NO_TRIANGLE) continue;
        ++taken.at(second);
        ++with_two;
    }
    EXPECT_TRUE(std::ranges::all_of(taken, [](unsigned times) { return times == 1; }));
    EXPECT_GT(2 * with_two, prepared.triangles.size() * 8 / 10);
}

/// On so many threads, whether or not there are as many cores.
template <class Build>
auto on_threads(int threads, const Build& build) {
    const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                                      static_cast<std::size_t>(threads));
    return tbb::task_arena(threads).execute(build);
}
template <class T>
bool has_same_bytes(const std::vector<T>& one, const std::vector<T>& other) {
    return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

TEST(WideTree, DoesNotDependOnThreads) {
    std::mt19937 random(9);
    for (const Scene& scene : {soup(random, 60000, 0.05f), ball(7), decals(random), repeated(random)}) {
        const auto prepare = [&] { return prepare_scene(scene); };
        const PreparedScene on_one = on_threads(1, prepare);
        for (const int threads : {2, 4}) {
            const PreparedScene on_several = on_threads(threads, prepare);
            EXPECT_TRUE(has_same_bytes(on_one.nodes, on_several.nodes));
            EXPECT_TRUE(has_same_bytes(on_one.triangles, on_several.triangles));
            EXPECT_TRUE(has_same_bytes(on_one.details, on_several.details));
            EXPECT_TRUE(has_same_bytes(on_one.host_tree.nodes, on_several.host_tree.nodes));
            EXPECT_TRUE(has_same_bytes(on_one.host_tree.pairs, on_several.host_tree.pairs));
            EXPECT_EQ(on_one.host_tree.depth, on_several.host_tree.depth);
        }
    }
}

/// Rays from anywhere, from triangles, along axes, and to corners and edges.
Ray any_ray(const PreparedScene& scene, std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto some = [&] { return static_cast<uint32_t>(random() % scene.triangles.size()); };
    Ray ray = ray_along({uniform(random), uniform(random), uniform(random)}, {0, 0, 1});
    if (random() % 2 == 0) {
        ray.left = some();
        const Triangle& triangle = scene.triangles[ray.left];
        ray.left_id = triangle.id;
        ray.u = inside(0.3f + 0.3f * uniform(random));
        ray.v = inside((1 - ray.u) * (0.5f + 0.5f * uniform(random)));
        ray.origin = point_of(&triangle, ray.u, ray.v);
    }
    Float3 way{uniform(random), uniform(random), uniform(random)};
    const unsigned kind = static_cast<unsigned>(random() % 4);
    if (kind == 0)
        way = std::array{Float3{1, 0, 0}, Float3{0, 1, 0}, Float3{0, 0, 1}}[random() % 3] *
              (random() % 2 == 0 ? 1.0f : -1.0f);
    if (kind == 1) {
        const Triangle& goal = scene.triangles[some()];
        const float along = random() % 2 == 0 ? 0.0f : 0.5f + 0.5f * uniform(random);
        way = goal.a * (1 - along) + goal.b * along - ray.origin;
    }
    if (!(dot_of(way, way) > 0)) way = {0, 1, 0};
    ray.direction = normalised(way);
    // From as far outside as rays begin.
    if (ray.left == PATH_TRACER_NO_TRIANGLE && random() % 3 == 0) ray.origin = ray.origin - ray.direction * 3;
    return ray;
}

/// To the last bit. A triangle that lies in several leaves has a number for each.
void expect_same(const PreparedScene& scene, const Hit& hit, const Hit& expected) {
    ASSERT_EQ(hit.triangle == PATH_TRACER_NO_TRIANGLE, expected.triangle == PATH_TRACER_NO_TRIANGLE);
    if (expected.triangle == PATH_TRACER_NO_TRIANGLE) return;
    const Triangle &triangle = scene.triangles[hit.triangle], &other = scene.triangles[expected.triangle];
    ASSERT_EQ(triangle.id, other.id);
    ASSERT_EQ(triangle.material, other.material);
    ASSERT_TRUE(is_same_point(triangle.a, other.a) && is_same_point(triangle.b, other.b));
    ASSERT_EQ(hit.distance, expected.distance);
    ASSERT_EQ(hit.u, expected.u);
    ASSERT_EQ(hit.v, expected.v);
}

class Walks : public headrace::test::WithInstructions {
protected:
    static void expect_same_hits(const Scene& scene, std::mt19937& random, int rays) {
        const PreparedScene prepared = prepare_scene(scene);
        const SceneView view = view_of(prepared);
        ASSERT_NE(view.host_tree, nullptr);
        const std::integral_constant<int, SHADING_FULL> through_wide_tree;
        const std::integral_constant<int, SHADING_ALL> through_binary_tree;
        int hits = 0;
        for (int i = 0; i < rays; ++i) {
            const Ray ray = any_ray(prepared, random);
            const Hit expected = nearest_hit(through_binary_tree, &view, &ray);
            ASSERT_NO_FATAL_FAILURE(
                expect_same(prepared, nearest_hit(through_wide_tree, &view, &ray), expected))
                << "ray " << i;
            if (expected.triangle == PATH_TRACER_NO_TRIANGLE) continue;
            ++hits;
            for (const float share : {0.5f, 0.999f, 1.0f, 1.001f, 3.0f}) {
                Ray shadow = ray;
                if (i % 3 == 0) shadow.goal_id = prepared.triangles[expected.triangle].id;
                const float limit = expected.distance * share;
                ASSERT_EQ(is_blocked(through_wide_tree, &view, &shadow, limit),
                          is_blocked(through_binary_tree, &view, &shadow, limit))
                    << "ray " << i << ", limit x " << share;
            }
        }
        EXPECT_GT(hits, rays / 50);
    }
};

TEST_P(Walks, FindWhatTheWalkOfOtherDevicesFinds) {
    std::mt19937 random(headrace::test::fresh_seed());
    for (const auto& [count, size] : {std::pair{1, 4.0f}, std::pair{20, 1.5f}, std::pair{400, 0.6f},
                                      std::pair{3000, 0.2f}, std::pair{20000, 0.05f}})
        expect_same_hits(soup(random, count, size), random, 4000);
    expect_same_hits(ball(4), random, 20000);
    expect_same_hits(room(), random, 20000);
    expect_same_hits(needles(random), random, 4000);
    expect_same_hits(repeated(random), random, 4000);
    expect_same_hits(lines(random), random, 20000);
    expect_same_hits(decals(random), random, 20000);
}

INSTANTIATE_TEST_SUITE_P(Each, Walks,
                         testing::Values(headrace::Instructions::baseline, headrace::Instructions::avx2),
                         [](const auto& chosen) {
                             return chosen.param == headrace::Instructions::avx2 ? "AVX2" : "Baseline";
                         });

} // namespace
} // namespace path_tracer::test
