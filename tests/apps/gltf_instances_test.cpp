// Meshes that a glTF file shows in several places: where they are, and what is kept as instances.
#include "apps/error_of.hpp"
#include "apps/gltf_crowd.hpp"
#include "scene.hpp"
#include "vector_math.hpp"
#include <core/scratch_folder.hpp>
#include <core/seeds.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace path_tracer::test {
namespace {

using headrace::test::error_of;
using headrace::test::mentions;
using headrace::test::ScratchFolder;

class GltfInstances : public testing::Test {
protected:
    [[nodiscard]] GltfCrowd crowd(std::size_t count) {
        std::uniform_real_distribution<float> uniform(-1, 1);
        GltfCrowd crowd;
        for (std::size_t i = 0; i < count; ++i) {
            crowd.shifts.push_back({9 * uniform(random), 9 * uniform(random), 9 * uniform(random)});
            crowd.turns.push_back(
                {uniform(random), uniform(random), uniform(random), 1.1f + uniform(random)});
            crowd.scales.push_back(
                {uniform(random) + 1.5f, uniform(random) + 1.5f, -0.1f - static_cast<float>(i % 3)});
        }
        return crowd;
    }
    Scene load(const GltfCrowd& crowd) { return load_scene(folder.write("s.gltf", crowd.gltf()), 0.5f); }
    headrace::Error refusal(const GltfCrowd& crowd) {
        const auto path = folder.write("r.gltf", crowd.gltf());
        headrace::Error error = error_of([&] { static_cast<void>(load_scene(path, 0.5f)); });
        EXPECT_TRUE(error.is_users_mistake()) << error.what();
        return error;
    }

    std::mt19937 random{headrace::test::fresh_seed()};
    ScratchFolder folder;
};

void expect_that_it_mentions(const headrace::Error& error, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_TRUE(mentions(error, word)) << error.what();
}

/// Scaled, turned by a quaternion as Hamilton has it, shifted.
Point placed(const GltfCrowd& crowd, std::size_t i, Point p) {
    const auto& [sx, sy, sz] = crowd.scales[i];
    const auto& [qx, qy, qz, qw] = crowd.turns[i];
    const auto& [tx, ty, tz] = crowd.shifts[i];
    const Point v{p.x * double{sx}, p.y * double{sy}, p.z * double{sz}},
        q{double{qx}, double{qy}, double{qz}};
    const double size2 = dot(q, q) + double{qw} * double{qw};
    const Point t = cross(q, v) * 2;
    const Point turned = v + (t * double{qw} + cross(q, t)) * (1 / size2);
    return turned + Point{double{tx}, double{ty}, double{tz}};
}

TEST_F(GltfInstances, LieWhereTheirAttributesSay) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{20}, std::size_t{3000}}) {
        GltfCrowd given = crowd(count);
        given.node = R"(,"scale":[2,2,2],"translation":[5,0,0])";
        const Scene scene = load(given);
        EXPECT_EQ(scene.shown_instances, count > 1 ? count : 0);
        EXPECT_TRUE(scene.notes.empty());
        const bool is_kept = count == 3000;
        ASSERT_EQ(scene.instances.size(), is_kept ? count : 0);
        ASSERT_EQ(scene.triangles.size(), is_kept ? 12 : 12 * count);
        const Point corner{0.5, -0.5, 0.5};
        for (std::size_t i = 0; i < count; ++i) {
            const Point expected = placed(given, i, corner) * 2 + Point{5, 0, 0};
            double nearest = 1e9;
            for (std::size_t k = 0; k < 12; ++k) {
                const SceneTriangle& triangle = scene.triangles[is_kept ? k : 12 * i + k];
                for (const Point at : {triangle.a, triangle.b, triangle.c})
                    nearest =
                        std::min(nearest, length((is_kept ? scene.instances[i].place(at) : at) - expected));
            }
            ASSERT_LT(nearest, 1e-5) << "instance " << i << " of " << count;
        }
    }
}

TEST_F(GltfInstances, AreTheSameWhetherTheyAreKeptOrNot) {
    // 12 triangles each: with two more boxes, which lie in others, they are kept.
    GltfCrowd few = crowd(1365), many = few;
    for (std::size_t i = 0; i < 2; ++i) {
        many.shifts.push_back(few.shifts[i]);
        many.turns.push_back(few.turns[i]);
        many.scales.push_back(few.scales[i]);
    }
    Scene flat = load(few), kept = load(many);
    EXPECT_TRUE(flat.instances.empty());
    ASSERT_EQ(kept.instances.size(), 1367u);
    EXPECT_EQ(kept.single_triangles(), 0u);
    const Surroundings one = surroundings_of(flat), other = surroundings_of(kept);
    EXPECT_LT(length(one.lo - other.lo) + length(one.hi - other.hi), 1e-9);
    EXPECT_TRUE(surroundings_of(kept, kept.meshes.front()).hi == (Point{0.5, 0.5, 0.5}));
}

TEST_F(GltfInstances, ThatShineOrAreFlatAreTrianglesOfTheScene) {
    GltfCrowd lamps = crowd(2000);
    lamps.material = R"({"emissiveFactor":[1,1,1]})";
    const Scene bright = load(lamps);
    EXPECT_TRUE(bright.instances.empty());
    EXPECT_EQ(bright.single_triangles(), 24000u);
    GltfCrowd sheets = crowd(2000);
    for (std::size_t i = 0; i < 500; ++i) sheets.scales[i][1] = 0;
    const Scene flat = load(sheets);
    EXPECT_EQ(flat.instances.size(), 1500u);
    EXPECT_EQ(flat.single_triangles(), 500u * 4); // what had an edge along y has no area
    GltfCrowd none = crowd(2000);
    none.scales.assign(2000, {0, 0, 0});
    expect_that_it_mentions(refusal(none), {"no triangles with an area"});
}

TEST_F(GltfInstances, HaveEachAttributeOrNone) {
    GltfCrowd shifted = crowd(5);
    shifted.attributes = R"("TRANSLATION":2)";
    const Scene scene = load(shifted);
    EXPECT_EQ(scene.triangles.size(), 60u);
    GltfCrowd named = crowd(5);
    named.attributes += R"(,"_COLOR":2)";
    const Scene coloured = load(named);
    ASSERT_EQ(coloured.notes.size(), 1u);
    EXPECT_NE(coloured.notes.front().find("_COLOR"), std::string::npos);
}

TEST_F(GltfInstances, ThatAreWrongAreRefused) {
    GltfCrowd bare = crowd(3);
    bare.attributes = "";
    expect_that_it_mentions(refusal(bare), {"EXT_mesh_gpu_instancing", "attributes"});
    GltfCrowd odd = crowd(3);
    odd.turns.pop_back();
    expect_that_it_mentions(refusal(odd), {"3", "2"});
    GltfCrowd twisted = crowd(3);
    twisted.turns[1] = {0, 0, 0, 0};
    expect_that_it_mentions(refusal(twisted), {"instance 1", "quaternion"});
    GltfCrowd nowhere = crowd(3);
    nowhere.attributes = R"("TRANSLATION":17)";
    expect_that_it_mentions(refusal(nowhere), {"17"});
    GltfCrowd wrong = crowd(3);
    wrong.attributes = R"("TRANSLATION":3)";
    expect_that_it_mentions(refusal(wrong), {"TRANSLATION"});
    for (const std::size_t count : {std::size_t{3}, std::size_t{2000}})
        for (const float bad : {NAN, INFINITY, 3e38f}) {
            GltfCrowd far = crowd(count);
            far.shifts[2][1] = bad;
            expect_that_it_mentions(refusal(far), {"1e30"});
        }
}

} // namespace
} // namespace path_tracer::test
