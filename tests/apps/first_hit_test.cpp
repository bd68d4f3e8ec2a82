// First hits: distances, normals and albedos, for scenes of any shading.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "vector_math.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace path_tracer::test {
namespace {

class FirstHits : public Seeded {
protected:
    static FirstHit shown(const Scene& scene, const CameraPose& pose) {
        const PreparedScene prepared = prepare_scene(scene);
        const Frame frame = small_frame(prepared, pose, 1, 1);
        const SceneView view = view_of(prepared);
        const PathVertex vertex = begin_path(frame, 0);
        FirstHit hit = first_hit(AnyScene{}, &view, &frame, &vertex);
        hit.distance = static_cast<float>(double{hit.distance} / prepared.placement.scale);
        return hit;
    }
    static void expect_colour(const Rgb& colour, const Rgb& expected) {
        EXPECT_NEAR(colour.r, expected.r, 1e-6);
        EXPECT_NEAR(colour.g, expected.g, 1e-6);
        EXPECT_NEAR(colour.b, expected.b, 1e-6);
    }
};

TEST_F(FirstHits, AreWhereTheCameraLooks) {
    const SurfaceDescription rough{.base = {0.2f, 0.4f, 0.6f}, .metallic = 0.5f, .roughness = 0.5f};
    const SurfaceDescription plain{.base = {0.2f, 0.4f, 0.6f}};
    const SurfaceDescription mixed{.base = {0.2f, 0.4f, 0.6f}, .mirror = {0.3f, 0.3f, 0.3f}};
    for (const SurfaceDescription* surface : {&plain, &mixed, &rough})
        for (const bool has_normals : {false, true})
            for (const double scale : {1.0, 1e6, 1e-6}) {
                SceneBuilder builder;
                builder.material(*surface).triangle(Point{-9, 0, -9} * scale, Point{0, 0, 9} * scale,
                                                    Point{9, 0, -9} * scale);
                const Point leaning = normalised(Point{0.3, 1, -0.2});
                if (has_normals) builder.normals([&](Point) { return leaning; });
                const Point at{between(-1, 1), 0, between(-1, 1)},
                    eye{between(-2, 2), between(0.5, 50), between(-2, 2)};
                const FirstHit hit = shown(builder.scene(), {eye * scale, at * scale, 0.001f});
                EXPECT_EQ(hit.hits, 1);
                EXPECT_NEAR(double{hit.distance} / (length(at - eye) * scale), 1, 1e-4);
                const Point normal = has_normals ? leaning : Point{0, 1, 0};
                EXPECT_LT(length(wide(hit.normal) - normal), 1e-3);
                Rgb expected = surface->base;
                if (surface == &mixed) expected = expected + Rgb{0.3f, 0.3f, 0.3f};
                expect_colour(hit.albedo, expected);
                // From below, the normal is on that side.
                const FirstHit below =
                    shown(builder.scene(), {Point{eye.x, -eye.y, eye.z} * scale, at * scale, 0.001f});
                EXPECT_LT(below.normal.y, 0);
            }
}

TEST_F(FirstHits, PassHolesAndMissTheSky) {
    SceneBuilder builder;
    SurfaceDescription hole = lambert(0.9f);
    hole.passing = Passing::all;
    hole.opacity = 0;
    builder.material(hole).triangle({-9, 1, -9}, {0, 1, 9}, {9, 1, -9});
    builder.material(lambert(0.5f)).triangle({-9, 0, -9}, {0, 0, 9}, {9, 0, -9});
    const FirstHit hit = shown(builder.scene(), {{0.1, 3, 0.2}, {0, 0, 0}, 0.001f});
    EXPECT_NEAR(hit.distance, std::sqrt(0.01 + 9 + 0.04), 1e-3);
    expect_colour(hit.albedo, {0.5f, 0.5f, 0.5f});
    const FirstHit sky = shown(builder.scene(), {{0, 3, 0}, {0.1, 9, 0}, 10});
    EXPECT_EQ(sky.hits, 0);
    EXPECT_EQ(sky.distance, 0);
    expect_colour(sky.albedo, {0, 0, 0});
}

} // namespace
} // namespace path_tracer::test
