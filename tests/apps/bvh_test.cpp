// The hierarchy holds every triangle once, is no deeper than the walk's stack, and shows what trying all
// would.
#include "apps/host_renderer.hpp"
#include "apps/reference_tracer.hpp"
#include "apps/scene_builder.hpp"
#include "bvh.hpp"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace path_tracer::test {
namespace {

/// Walks the tree: every box holds what is below it, and every leaf position is there once.
void expect_sound(const Scene& scene) {
    const Bvh bvh = build_bvh(scene.triangles, 1e-6f);
    std::vector<int> seen(scene.triangles.size());
    const auto visit = [&](const auto& self, uint32_t child, Float3 lo, Float3 hi, unsigned depth) -> void {
        ASSERT_LE(depth, unsigned{PATH_TRACER_STACK});
        if (const uint32_t count = child & 15; count != 0) {
            for (uint32_t i = child >> 4; i < (child >> 4) + count; ++i) {
                ++seen.at(bvh.order.at(i));
                const Triangle& triangle = scene.triangles[bvh.order[i]];
                for (const Float3 corner : {triangle.a, triangle.b, triangle.c})
                    ASSERT_TRUE(corner.x >= lo.x && corner.y >= lo.y && corner.z >= lo.z &&
                                corner.x <= hi.x && corner.y <= hi.y && corner.z <= hi.z);
            }
            return;
        }
        const BvhNode& node = bvh.nodes.at(child >> 4);
        self(self, node.child0, {node.x.lo0, node.y.lo0, node.z.lo0}, {node.x.hi0, node.y.hi0, node.z.hi0},
             depth + 1);
        self(self, node.child1, {node.x.lo1, node.y.lo1, node.z.lo1}, {node.x.hi1, node.y.hi1, node.z.hi1},
             depth + 1);
    };
    constexpr float all = std::numeric_limits<float>::max();
    visit(visit, 0, {-all, -all, -all}, {all, all, all}, 0);
    const int times =
        scene.triangles.size() == 1 ? 2 : 1; // one triangle stands for both children of the root
    EXPECT_EQ(std::count(seen.begin(), seen.end(), times), static_cast<std::ptrdiff_t>(seen.size()));
    EXPECT_LE(bvh.depth, unsigned{PATH_TRACER_STACK});
}

TEST(Bvh, HoldsEveryTriangleOnceWithinItsBoxes) {
    std::mt19937 random(1);
    for (const int count : {1, 2, 3, 7, 8, 9, 100, 5000, 60000}) {
        SceneBuilder builder;
        builder.material(lambert(0.5f)).soup(random, count, 10, 1);
        expect_sound(builder.scene());
    }
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
    const Bvh once = build_bvh(builder.scene().triangles, 0), again = build_bvh(builder.scene().triangles, 0);
    EXPECT_EQ(once.order, again.order);
    ASSERT_EQ(once.nodes.size(), again.nodes.size());
    for (std::size_t i = 0; i < once.nodes.size(); ++i) {
        ASSERT_EQ(once.nodes[i].child0, again.nodes[i].child0);
        ASSERT_EQ(once.nodes[i].child1, again.nodes[i].child1);
    }
}

TEST(Bvh, RefusesNothing) { EXPECT_THROW(static_cast<void>(build_bvh({}, 0)), headrace::Error); }

/// Nearest hits of random rays, and of rays along the axes, against trying every triangle in double
/// precision.
void expect_reference_hits(const Scene& scene, std::mt19937& random, int rays) {
    const PreparedScene prepared = prepare_scene(scene);
    std::uniform_real_distribution<float> uniform(-1, 1);
    int hits = 0, ambiguous = 0;
    for (int i = 0; i < rays; ++i) {
        const Float3 origin{3 * uniform(random), 3 * uniform(random), 3 * uniform(random)};
        Float3 direction{uniform(random), uniform(random), uniform(random)};
        if (i % 4 == 0) direction = {i % 8 == 0 ? 1.0f : -1.0f, 0, 0};
        if (i % 7 == 0) direction.y = 0;
        direction = normalised(direction);
        const Hit hit = nearest_hit(view_of(prepared), {origin, direction});
        const auto reference =
            reference_hit(scene, {origin.x, origin.y, origin.z}, {direction.x, direction.y, direction.z});
        const bool is_hit = hit.triangle != PATH_TRACER_NO_TRIANGLE;
        if (is_hit && reference &&
            std::abs(double{hit.distance} - reference->distance) < 1e-5 * (1 + reference->distance)) {
            ++hits;
            EXPECT_TRUE(is_blocked(view_of(prepared), {origin, direction}, hit.distance * 1.001f));
            EXPECT_FALSE(is_blocked(view_of(prepared), {origin, direction}, hit.distance * 0.999f));
            continue;
        }
        if (!is_hit && !reference) continue;
        // They may differ where a ray passes an edge, or along a triangle, closer than floats can tell.
        ++ambiguous;
        if (reference && (!is_hit || reference->distance < double{hit.distance})) {
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
    const auto& triangles = builder.scene().triangles;
    for (int i = 0; i < 300000; ++i) {
        const Float3 origin{0.1f + 0.5f * uniform(random), -0.2f + 0.5f * uniform(random),
                            0.3f + 0.5f * uniform(random)};
        // Half of the rays aim at corners and edges, where an intersection that is not watertight lets them
        // through.
        Float3 direction{uniform(random), uniform(random), uniform(random)};
        const Triangle& triangle = triangles[random() % triangles.size()];
        const float along = i % 4 == 0 ? 0.0f : 0.5f + 0.5f * uniform(random);
        if (i % 2 == 0) direction = triangle.a * (1 - along) + triangle.b * along - origin;
        ASSERT_NE(nearest_hit(view_of(prepared), {origin, normalised(direction)}).triangle,
                  PATH_TRACER_NO_TRIANGLE)
            << "ray " << i;
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
        const Hit hit =
            nearest_hit(view_of(prepared), {{i % 3 == 0 ? 0.0f : uniform(random), 0, 2}, direction});
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE) continue;
        ASSERT_EQ(prepared.triangles[hit.triangle].id, 2u);
        ASSERT_TRUE(std::isfinite(hit.distance) && std::isfinite(hit.u) && std::isfinite(hit.v));
    }
}

} // namespace
} // namespace path_tracer::test
