// The hierarchy holds every point of every triangle, is no deeper than the walk's stack, and shows what
// trying all would.
#include "apps/host_renderer.hpp"
#include "apps/reference_tracer.hpp"
#include "apps/scene_builder.hpp"
#include "bvh.hpp"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace path_tracer::test {
namespace {

Float3 box_lo(const BvhNode& node, int child) {
    return child == 0 ? Float3{node.x.centre0 - node.x.half0, node.y.centre0 - node.y.half0,
                               node.z.centre0 - node.z.half0}
                      : Float3{node.x.centre1 - node.x.half1, node.y.centre1 - node.y.half1,
                               node.z.centre1 - node.z.half1};
}
Float3 box_hi(const BvhNode& node, int child) {
    return child == 0 ? Float3{node.x.centre0 + node.x.half0, node.y.centre0 + node.y.half0,
                               node.z.centre0 + node.z.half0}
                      : Float3{node.x.centre1 + node.x.half1, node.y.centre1 + node.y.half1,
                               node.z.centre1 + node.z.half1};
}
bool holds(Float3 lo, Float3 hi, Float3 point) {
    return point.x >= lo.x && point.y >= lo.y && point.z >= lo.z && point.x <= hi.x && point.y <= hi.y &&
           point.z <= hi.z;
}

/// Walks the tree: for random points of each triangle there is a leaf with this triangle whose boxes, all the
/// way down, hold the point. No triangle comes twice in a leaf, and there are not too many references.
void expect_sound(const Scene& scene) {
    const std::vector<Triangle> triangles = as_floats(scene);
    const Bvh bvh = build_bvh(triangles, 1e-6f);
    constexpr int points = 20;
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<std::array<Float3, points>> probes(scene.triangles.size());
    for (std::size_t i = 0; i < probes.size(); ++i)
        for (Float3& point : probes[i]) {
            const Triangle triangle = triangles[i];
            float u = uniform(random), v = uniform(random);
            if (u + v > 1) {
                u = 1 - u;
                v = 1 - v;
            }
            point = triangle.a + (triangle.b - triangle.a) * u + (triangle.c - triangle.a) * v;
        }
    std::vector<std::array<bool, points>> found(scene.triangles.size());
    std::size_t references = 0;
    const auto visit = [&](const auto& self, uint32_t child, Float3 lo, Float3 hi, unsigned depth) -> void {
        ASSERT_LE(depth, unsigned{PATH_TRACER_STACK});
        if (const uint32_t count = child & 15; count != 0) {
            references += count;
            std::set<uint32_t> here;
            for (uint32_t i = child >> 4; i < (child >> 4) + count; ++i) {
                const uint32_t triangle = bvh.order.at(i);
                EXPECT_TRUE(here.insert(triangle).second);
                for (std::size_t probe = 0; probe < points; ++probe)
                    if (holds(lo, hi, probes[triangle][probe])) found[triangle][probe] = true;
            }
            return;
        }
        const BvhNode& node = bvh.nodes.at(child >> 4);
        self(self, node.child0, box_lo(node, 0), box_hi(node, 0), depth + 1);
        self(self, node.child1, box_lo(node, 1), box_hi(node, 1), depth + 1);
    };
    constexpr float all = std::numeric_limits<float>::max();
    visit(visit, 0, {-all, -all, -all}, {all, all, all}, 0);
    for (const auto& triangle : found)
        ASSERT_TRUE(std::ranges::all_of(triangle, [](bool is_found) { return is_found; }));
    const std::size_t count = triangles.size();
    EXPECT_LE(references, count == 1 ? 2 : count + count / 2); // one stands for both children
    EXPECT_EQ(bvh.order.size(), count == 1 ? 1 : references);
    EXPECT_LE(bvh.depth, unsigned{PATH_TRACER_STACK});
}

TEST(Bvh, HoldsEveryPointOfEveryTriangle) {
    std::mt19937 random(1);
    for (const int count : {1, 2, 3, 7, 8, 9, 100, 5000, 60000}) {
        SceneBuilder builder;
        builder.material(lambert(0.5f)).soup(random, count, 10, 1);
        expect_sound(builder.scene());
    }
}

/// Inner nodes that a vertical line through a random point meets, on average.
double nodes_below(const Bvh& bvh, std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(0, 100);
    std::size_t met = 0;
    constexpr int lines = 2000;
    for (int i = 0; i < lines; ++i) {
        const Float3 point{uniform(random), 0, uniform(random)};
        const auto visit = [&](const auto& self, uint32_t index) -> void {
            ++met;
            const BvhNode& node = bvh.nodes.at(index);
            for (int child = 0; child < 2; ++child) {
                const Float3 lo = box_lo(node, child), hi = box_hi(node, child);
                const uint32_t below = child == 0 ? node.child0 : node.child1;
                if ((below & 15) == 0 && holds({lo.x, 0, lo.z}, {hi.x, 0, hi.z}, point))
                    self(self, below >> 4);
            }
        };
        visit(visit, 0);
    }
    return static_cast<double>(met) / lines;
}

TEST(Bvh, CutsThroughTrianglesThatLieAcross) {
    SceneBuilder builder; // long diagonals above a floor of small ones: boxes of the former hold all of it
    builder.material(lambert(0.5f));
    for (int x = 0; x < 100; ++x)
        for (int z = 0; z < 100; ++z) {
            const auto fx = static_cast<float>(x), fz = static_cast<float>(z);
            builder.triangle({fx, 0, fz}, {fx + 1, 0, fz}, {fx, 0, fz + 1});
        }
    const Scene floor = builder.scene();
    for (int i = 0; i < 100; ++i) {
        const float y = static_cast<float>(i);
        builder.triangle({0, y, 0}, {100, y, 100}, {100, y + 1, 99});
    }
    const Bvh bvh = build_bvh(as_floats(builder.scene()), 0);
    EXPECT_GT(bvh.order.size(), builder.scene().triangles.size() + 100);
    std::mt19937 random(8);
    // Far fewer than the hundred that every line would meet if no triangle were cut.
    EXPECT_LT(nodes_below(bvh, random), nodes_below(build_bvh(as_floats(floor), 0), random) + 25);
}

TEST(Bvh, StaysShallowWhereTheHeuristicWouldNot) {
    SceneBuilder same; // nothing to split by
    same.material(lambert(0.5f));
    for (int i = 0; i < 20000; ++i) same.triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
    expect_sound(same.scene());

    SceneBuilder series; // each cut takes off one triangle: 2^-i apart, as far as floats go
    series.material(lambert(0.5f));
    for (int copy = 0; copy < 20; ++copy)
        for (int i = -120; i < 29; ++i) {
            const float x = std::ldexp(1.0f, i);
            series.triangle({x, 0, 0}, {x * 1.01f, x, 0}, {x, 0, x});
        }
    expect_sound(series.scene());

    SceneBuilder flat; // no extent along y and z, and degenerate triangles among them
    flat.material(lambert(0.5f));
    for (int i = 0; i < 1000; ++i)
        flat.triangle({static_cast<float>(i), 0, 0}, {static_cast<float>(i), 0, 0},
                      {static_cast<float>(i), 0, 0});
    expect_sound(flat.scene());
}

TEST(Bvh, IsTheSameEveryTime) {
    std::mt19937 random(2);
    SceneBuilder builder;
    builder.material(lambert(0.5f)).soup(random, 50000, 10, 0.3f);
    const Bvh once = build_bvh(as_floats(builder.scene()), 0),
              again = build_bvh(as_floats(builder.scene()), 0);
    EXPECT_EQ(once.order, again.order);
    ASSERT_EQ(once.nodes.size(), again.nodes.size());
    for (std::size_t i = 0; i < once.nodes.size(); ++i) {
        ASSERT_EQ(once.nodes[i].child0, again.nodes[i].child0);
        ASSERT_EQ(once.nodes[i].child1, again.nodes[i].child1);
    }
}

TEST(Bvh, RefusesNothing) { EXPECT_THROW(static_cast<void>(build_bvh({}, 0)), headrace::Error); }

/// A ray of the scene's coordinates, as kernels have it.
Ray placed(const PreparedScene& scene, Float3 origin, Float3 direction) {
    return ray_along(rounded(scene.placement.place(wide(origin))), direction);
}

/// Nearest hits of random rays, and of rays along the axes, against trying every triangle in double
/// precision.
void expect_reference_hits(const Scene& scene, std::mt19937& random, int rays) {
    const PreparedScene prepared = prepare_scene(scene);
    const ReferenceScene plain = reference_scene_of(scene);
    std::uniform_real_distribution<float> uniform(-1, 1);
    int hits = 0, ambiguous = 0;
    for (int i = 0; i < rays; ++i) {
        const Float3 origin{3 * uniform(random), 3 * uniform(random), 3 * uniform(random)};
        Float3 direction{uniform(random), uniform(random), uniform(random)};
        if (i % 4 == 0) direction = {i % 8 == 0 ? 1.0f : -1.0f, 0, 0};
        if (i % 7 == 0) direction.y = 0;
        direction = normalised(direction);
        const SceneView view = view_of(prepared);
        const Ray ray = placed(prepared, origin, direction);
        // That of CPUs, and that of all other devices.
        const Hit hit = i % 2 == 0 ? nearest_hit(std::integral_constant<int, SHADING_FULL>{}, &view, &ray)
                                   : nearest_hit(view, ray);
        const double distance = double{hit.distance} / prepared.placement.scale;
        const auto reference =
            reference_hit(plain, {origin.x, origin.y, origin.z}, {direction.x, direction.y, direction.z});
        const bool is_hit = hit.triangle != PATH_TRACER_NO_TRIANGLE;
        if (is_hit && reference &&
            std::abs(distance - reference->distance) < 1e-5 * (1 + reference->distance)) {
            ++hits;
            EXPECT_TRUE(
                is_blocked(view_of(prepared), placed(prepared, origin, direction), hit.distance * 1.001f));
            EXPECT_FALSE(
                is_blocked(view_of(prepared), placed(prepared, origin, direction), hit.distance * 0.999f));
            continue;
        }
        if (!is_hit && !reference) continue;
        // They may differ where a ray passes an edge, or along a triangle, closer than floats can tell.
        ++ambiguous;
        if (reference && (!is_hit || reference->distance < distance)) {
            EXPECT_LT(reference->margin, 2e-5);
        }
    }
    EXPECT_GT(hits, rays / 50);
    EXPECT_LT(ambiguous, rays / 1000 + 1);
}

TEST(Intersection, NearestHitsAreThoseOfTryingEveryTriangle) {
    std::mt19937 random(3);
    for (const auto& [count, size] :
         {std::pair{1, 4.0f}, std::pair{20, 1.5f}, std::pair{400, 0.6f}, std::pair{3000, 0.2f}}) {
        SceneBuilder builder;
        builder.material(lambert(0.5f)).soup(random, count, 1.5f, size);
        expect_reference_hits(builder.scene(), random, 4000);
    }
    SceneBuilder aligned; // boxes without thickness, origins in their planes
    aligned.material(lambert(0.5f)).box({-1, -1, -1}, {1, 1, 1}).box({-0.5f, 0, -2}, {0.5f, 1, 2});
    expect_reference_hits(aligned.scene(), random, 4000);
}

TEST(Intersection, NoRayLeavesAClosedMesh) {
    SceneBuilder builder;
    builder.material(lambert(0.5f)).sphere({0.1f, -0.2f, 0.3f}, 1.7f, 4);
    const PreparedScene prepared = prepare_scene(builder.scene());
    std::mt19937 random(4);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const std::vector<Triangle> triangles = as_floats(builder.scene());
    for (int i = 0; i < 300000; ++i) {
        const Float3 origin{0.1f + 0.5f * uniform(random), -0.2f + 0.5f * uniform(random),
                            0.3f + 0.5f * uniform(random)};
        // Half of the rays aim at corners and edges, where an intersection that is not watertight lets them
        // through.
        Float3 direction{uniform(random), uniform(random), uniform(random)};
        const Triangle& triangle = triangles[random() % triangles.size()];
        const float along = i % 4 == 0 ? 0.0f : 0.5f + 0.5f * uniform(random);
        if (i % 2 == 0) direction = triangle.a * (1 - along) + triangle.b * along - origin;
        const SceneView view = view_of(prepared);
        const Ray ray = placed(prepared, origin, normalised(direction));
        ASSERT_NE(nearest_hit(view, ray).triangle, PATH_TRACER_NO_TRIANGLE) << "ray " << i;
        ASSERT_NE(nearest_hit(std::integral_constant<int, SHADING_FULL>{}, &view, &ray).triangle,
                  PATH_TRACER_NO_TRIANGLE)
            << "ray " << i << ", on a CPU";
    }
}

TEST(Intersection, DegenerateTrianglesAreNeverHitAndHarmNothing) {
    std::mt19937 random(5);
    SceneBuilder builder;
    builder.material(lambert(0.5f))
        .triangle({0, 0, 0}, {0, 0, 0}, {0, 0, 0})
        .triangle({-1, 0, 0}, {0, 0, 0}, {1, 0, 0});
    builder.triangle({-1, -1, -1}, {3, -1, -1}, {-1, 3, -1});
    const PreparedScene prepared = prepare_scene(builder.scene());
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int i = 0; i < 10000; ++i) {
        const Float3 direction = i % 2 == 0
                                     ? Float3{0, 0, -1}
                                     : normalised(Float3{uniform(random), uniform(random), uniform(random)});
        const Hit hit = nearest_hit(view_of(prepared),
                                    placed(prepared, {i % 3 == 0 ? 0.0f : uniform(random), 0, 2}, direction));
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE) continue;
        ASSERT_EQ(prepared.triangles[hit.triangle].id, 2u);
        ASSERT_TRUE(std::isfinite(hit.distance) && std::isfinite(hit.u) && std::isfinite(hit.v));
    }
}

} // namespace
} // namespace path_tracer::test
