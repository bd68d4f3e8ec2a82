// Lights without extent: what they light is as bright as their distances, angles and cones say.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "vector_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace path_tracer::test {
namespace {

using Kind = PunctualLightDescription::Kind;

class PunctualLights : public Seeded {
protected:
    static constexpr float albedo = 0.5f;

    /// What a point of a floor, whose normal is +y, gets from a light. Not as the kernel computes it: angles
    /// instead of cosines, and no scaling.
    static double irradiance(const PunctualLightDescription& light, Point at) {
        const double strength = double{light.strength.r};
        if (light.kind == Kind::far) return strength * std::max(-light.axis.y, 0.0);
        const Point way = light.place - at;
        const double distance = length(way);
        double share = std::max(way.y / distance, 0.0) / (distance * distance);
        if (light.range > 0) share *= std::max(1 - std::pow(distance / light.range, 4), 0.0);
        if (light.kind == Kind::spot) {
            const double angle = std::acos(std::clamp(dot(way * (-1 / distance), light.axis), -1.0, 1.0));
            const double inner = light.inner_angle, outer = light.outer_angle;
            if (angle >= outer) return 0;
            const double edge = (std::cos(angle) - std::cos(outer)) / (std::cos(inner) - std::cos(outer));
            if (angle > inner) share *= edge * edge;
        }
        return strength * share;
    }
    /// Of a kind, above the floor, shining mostly at it.
    PunctualLightDescription any(Kind kind) {
        PunctualLightDescription light;
        light.kind = kind;
        light.place = {between(-2, 2), between(0.2, 2), between(-2, 2)};
        light.axis = normalised(Point{between(-1, 1), between(-1.5, -0.1), between(-1, 1)});
        const auto strength = static_cast<float>(between(0.1, 3));
        light.strength = {strength, strength, strength};
        const double inner = between(0.1, 1.2), outer = between(inner + 0.05, 1.5);
        light.inner_angle = inner;
        light.outer_angle = outer;
        if (kind != Kind::far && whole_between(0, 1) == 1) light.range = between(0.5, 4);
        return light;
    }
    /// A floor four wide, in the plane y = 0, and then this much larger, with lights that are as bright
    /// there.
    static Scene floor_below(std::vector<PunctualLightDescription> lights, double scale = 1,
                             Point shift = {0, 0, 0}) {
        SceneBuilder builder;
        const auto place = [&](Point point) { return point * scale + shift; };
        const auto a = place({-2, 0, -2}), b = place({-2, 0, 2}), c = place({2, 0, 2}), d = place({2, 0, -2});
        builder.material(lambert(albedo)).triangle(a, b, c).triangle(a, c, d);
        for (PunctualLightDescription& light : lights) {
            light.place = place(light.place);
            light.range *= scale;
            if (light.kind != Kind::far) light.strength = light.strength * static_cast<float>(scale * scale);
            builder.light(light);
        }
        return builder.scene();
    }
    /// What a camera with a small view sees of a point of the floor.
    static Estimate seen(const Scene& scene, Point at, uint32_t samples, double scale = 1,
                         Point shift = {0, 0, 0}) {
        const PreparedScene prepared = prepare_scene(scene);
        const Point target = at * scale + shift, eye = (at + Point{0.3, 1, 0.2}) * scale + shift;
        Frame frame = small_frame(prepared, {eye, target, 0.001f}, 1, 1);
        frame.max_depth = 2; // a floor does not light itself
        frame.shadow_rays = 1;
        return estimate(prepared, frame, samples);
    }
};

TEST_F(PunctualLights, LightAFloorAsDistanceAngleAndConeSay) {
    for (int round = 0; round < 200; ++round) {
        const auto kind = static_cast<Kind>(round % 3);
        const PunctualLightDescription light = any(kind);
        const Point at{between(-1.5, 1.5), 0, between(-1.5, 1.5)};
        const double expected = double{albedo} / std::numbers::pi * irradiance(light, at);
        for (const auto& [scale, shift] :
             {std::pair{1.0, Point{0, 0, 0}}, {1e-6, Point{0, 0, 0}}, {1e6, Point{1e8, -1e8, 0}}}) {
            const double mean = seen(floor_below({light}, scale, shift), at, 4, scale, shift).mean;
            // The view is about 1e-5 wide; cones have edges.
            EXPECT_NEAR(mean, expected, 1e-3 * expected + 3e-5 * double{light.strength.r})
                << scale << ", kind " << static_cast<int>(kind);
        }
    }
}

TEST_F(PunctualLights, NarrowSpotsShineWithAllTheirStrength) {
    for (const double outer : {0.001, 0.01, 0.031, 0.04, 0.1, 1.5})
        for (const double inner : {0.0, 0.5 * outer, 0.999 * outer}) {
            PunctualLightDescription light;
            light.kind = Kind::spot;
            light.place = {between(-0.2, 0.2), 1, between(-1, 1)};
            light.axis = {0, -1, 0};
            light.strength = {10, 10, 10};
            light.inner_angle = inner;
            light.outer_angle = outer;
            for (const double angle : {0.0, 0.6 * outer, 1.1 * outer}) {
                if (angle > 1.4) continue;
                const Point at{light.place.x + std::tan(angle), 0, light.place.z};
                const double expected = double{albedo} / std::numbers::pi * irradiance(light, at);
                EXPECT_NEAR(seen(floor_below({light}), at, 4).mean, expected, 2e-2 * expected + 1e-6)
                    << outer << ' ' << inner << ' ' << angle;
            }
        }
}

TEST_F(PunctualLights, FarOnesLeaveShadowRaysToNearOnes) {
    for (const double distance : {10.0, 1e3, 1e5, 1e9}) {
        PunctualLightDescription near, far;
        near.place = {0, 1, 0};
        near.strength = {1, 1, 1};
        far.place = {0, distance, 0};
        const auto strength = static_cast<float>(0.1 * distance * distance);
        far.strength = {strength, strength, strength};
        const Point at{0.1, 0, 0.1};
        const double expected =
            double{albedo} / std::numbers::pi * (irradiance(near, at) + irradiance(far, at));
        const Estimate estimated = seen(floor_below({near, far}), at, 4000);
        EXPECT_NEAR(estimated.mean, expected, 4.5 * estimated.standard_error);
        EXPECT_LT(estimated.standard_error, 0.03 * expected) << distance;
    }
}

TEST_F(PunctualLights, OfAllKindsAddUp) {
    for (int round = 0; round < 5; ++round) {
        std::vector<PunctualLightDescription> lights;
        const int count = whole_between(2, 300);
        for (int i = 0; i < count; ++i) lights.push_back(any(static_cast<Kind>(whole_between(0, 2))));
        const Point at{between(-1.5, 1.5), 0, between(-1.5, 1.5)};
        double expected = 0;
        for (const auto& light : lights)
            expected += double{albedo} / std::numbers::pi * irradiance(light, at);
        const Estimate estimated = seen(floor_below(lights), at, 100'000);
        EXPECT_NEAR(estimated.mean, expected, 4.5 * estimated.standard_error) << count;
        EXPECT_LT(estimated.standard_error, 0.05 * expected);
    }
}

TEST_F(PunctualLights, AreHiddenByWhatIsInTheWay) {
    PunctualLightDescription light;
    light.place = {0, 1, 0};
    light.strength = {1, 1, 1};
    for (const Kind kind : {Kind::point, Kind::spot, Kind::far}) {
        light.kind = kind;
        light.axis = {0, -1, 0};
        Scene scene = floor_below({light});
        const Point at{between(-0.2, 0.2), 0, between(-0.2, 0.2)};
        const double open = seen(scene, at, 4).mean;
        EXPECT_GT(open, 0.1);
        SurfaceDescription pane = lambert(0);
        pane.passing = Passing::its_share;
        pane.opacity = 0.25f;
        scene.materials.push_back(pane);
        scene.triangles.push_back({{-1, 0.5, -1}, {-1, 0.5, 1}, {3, 0.5, 0}, 1});
        // Beside the pane, the camera would look through it, too.
        const PreparedScene prepared = prepare_scene(scene);
        Frame frame = small_frame(prepared, {at + Point{0.01, 0.1, 0.01}, at, 0.001f}, 1, 1);
        frame.max_depth = 2;
        frame.shadow_rays = 1;
        EXPECT_NEAR(estimate(prepared, frame, 4).mean, 0.75 * open, 1e-3 * open);
        scene.materials.back().passing = Passing::nothing;
        EXPECT_EQ(estimate(prepare_scene(scene), frame, 4).mean, 0);
    }
    light.kind = Kind::point;
    light.place = {0, -1, 0}; // below the floor
    EXPECT_EQ(seen(floor_below({light}), {0.1, 0, 0.1}, 4).mean, 0);
    light.place = {0.1, 0, 0.1}; // in it: nothing that is not a number
    EXPECT_EQ(seen(floor_below({light}), {0.1, 0, 0.1}, 64).mean, 0);
}

TEST_F(PunctualLights, ShineOnFinishesAsSmallLampsDo) {
    const Point at{between(-0.5, 0.5), 0, between(-0.5, 0.5)}, place{between(-1, 1), 1.5, between(-1, 1)};
    const double side = 0.02;
    for (const bool is_metal : {false, true}) {
        SurfaceDescription surface = lambert(0.6f);
        surface.metallic = is_metal ? 1 : 0;
        surface.roughness = 0.4f;
        surface.highlight = {0.04f, 0.04f, 0.04f};
        surface.highlight_edge = 1;
        const auto shown = [&](bool as_lamp) {
            SceneBuilder builder;
            builder.material(surface).triangle({-9, 0, -9}, {0, 0, 9}, {9, 0, -9});
            // Across the way: a triangle of this area and radiance 1 has this radiant intensity towards `at`.
            const Point way = normalised(at - place), u = normalised(cross(way, {1, 0, 0})),
                        v = cross(way, u);
            const Point a = place - u * (side / 3) - v * (side / 3);
            if (as_lamp) {
                builder.material(lambert(0, 1)).triangle(a, a + u * side, a + v * side);
            } else {
                const auto strength = static_cast<float>(side * side / 2);
                builder.material(lambert(0))
                    .triangle(a + Point{0, 3, 0}, a + u * side + Point{0, 3, 0},
                              a + v * side + Point{0, 3, 0});
                builder.light(
                    {.kind = Kind::point, .place = place, .strength = {strength, strength, strength}});
            }
            const PreparedScene prepared = prepare_scene(builder.scene());
            Frame frame = small_frame(prepared, {at + Point{0.4, 0.7, -0.3}, at, 0.01f}, 1, 1);
            frame.max_depth = 2;
            frame.shadow_rays = 1;
            return estimate(prepared, frame, as_lamp ? 200'000 : 100);
        };
        const Estimate lamp = shown(true), light = shown(false);
        EXPECT_NEAR(light.mean, lamp.mean,
                    4.5 * std::hypot(lamp.standard_error, light.standard_error) + 0.01 * lamp.mean)
            << is_metal;
    }
}

TEST_F(PunctualLights, OfLampsSkyAndLightsPicturesAddUp) {
    const auto shown = [&](bool has_lamp, bool has_light, float sky) {
        SceneBuilder builder;
        builder.material(lambert(0.5f))
            .box({-1, -0.1f, -1}, {1, 0, 1})
            .box({-0.3f, 0, -0.3f}, {0.3f, 0.5f, 0.2f});
        builder.material(lambert(0, has_lamp ? 4.0f : 0.0f)).triangle({-1, 1, 0}, {-0.5, 1, 0}, {-1, 1, 0.5});
        if (has_light)
            builder.light({.kind = Kind::point, .place = {0.8, 0.7, 0.6}, .strength = {0.7f, 0.7f, 0.7f}});
        const PreparedScene prepared = prepare_scene(builder.scene());
        Frame frame = small_frame(prepared, {{0.5, 2, 3}, {0, 0, 0}, 40}, 16, 16);
        frame.sky = {sky, sky, sky};
        frame.shadow_rays = 2;
        frame.max_depth = 4;
        return estimate(prepared, frame, 600);
    };
    const Estimate all = shown(true, true, 0.2f), lamp = shown(true, false, 0), light = shown(false, true, 0),
                   sky = shown(false, false, 0.2f);
    EXPECT_NEAR(all.mean, lamp.mean + light.mean + sky.mean,
                4.5 * std::hypot(std::hypot(all.standard_error, lamp.standard_error),
                                 std::hypot(light.standard_error, sky.standard_error)));
    for (const Estimate& part : {lamp, light, sky}) EXPECT_GT(part.mean, 20 * part.standard_error);
}

TEST_F(PunctualLights, BothKernelsShowThemAlike) {
    std::vector<PunctualLightDescription> lights;
    for (int i = 0; i < 9; ++i) lights.push_back(any(static_cast<Kind>(i % 3)));
    const PreparedScene prepared = prepare_scene(floor_below(lights));
    Frame frame = small_frame(prepared, {{0, 2, 3}, {0, 0, 0}, 60}, 8, 8);
    frame.shadow_rays = 1;
    const auto consumer = sum_with_consumer(prepared, frame, 16),
               producer = sum_with_producer(prepared, frame, 16);
    double sum = 0;
    for (std::size_t i = 0; i < consumer.size(); ++i) {
        EXPECT_FLOAT_EQ(consumer[i].r, producer[i].r);
        sum += double{consumer[i].r};
    }
    EXPECT_GT(sum, 0);
}

} // namespace
} // namespace path_tracer::test
