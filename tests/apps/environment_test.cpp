// Light from far away: where directions lie in its picture, how often shadow rays go there, and what it
// lights.
#include "apps/error_of.hpp"
#include "apps/hdr_builder.hpp"
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "environment_map.hpp"
#include "path.hpp"
#include "vector_math.hpp"
#include <core/scratch_folder.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace path_tracer::test {
namespace {

using headrace::test::ScratchFolder;

class Environment : public Seeded {
protected:
    TextureImage load(int width, int height, const std::vector<Rgb>& colours) {
        return load_environment(folder.write("sky.hdr", hdr_of(width, height, colours)), {});
    }
    /// Of random colours, with a sun.
    TextureImage any(int width, int height, float sun) {
        std::vector<Rgb> colours;
        for (int i = 0; i < width * height; ++i) {
            const auto part = [this] { return static_cast<float>(between(0, 1)); };
            colours.push_back({part(), part(), part()});
        }
        colours[static_cast<std::size_t>(whole_between(width, width * height / 2))] = {sun, sun, 0.5f * sun};
        return load(width, height, colours);
    }
    Float3 any_direction() {
        const double y = between(-1, 1), turn = between(0, 2 * std::numbers::pi), r = std::sqrt(1 - y * y);
        return {static_cast<float>(r * std::cos(turn)), static_cast<float>(y),
                static_cast<float>(r * std::sin(turn))};
    }
    static PreparedScene floor_below(const TextureImage& sky, const SurfaceDescription& surface,
                                     float lamp = 0) {
        SceneBuilder builder;
        builder.material(surface).box({-1, -0.1f, -1}, {1, 0, 1});
        builder.material(lambert(0.5f)).box({0.3f, 0, -0.3f}, {0.6f, 0.4f, 0});
        if (lamp > 0) builder.material(lambert(0, lamp)).triangle({-1, 1, 0}, {-0.5, 1, 0}, {-1, 1, 0.5});
        return prepare_scene(builder.scene(), Scattering::multiple, &sky);
    }
    ScratchFolder folder;
};

TEST_F(Environment, AnglesAreThoseOfTheStandardLibrary) {
    for (int i = 0; i < 50'000; ++i) {
        const auto x = static_cast<float>(between(-1, 1)), y = static_cast<float>(between(-1, 1));
        EXPECT_NEAR(double{turns_of(x, y)}, std::atan2(double{y}, double{x}) / (2 * std::numbers::pi), 3e-7);
    }
    EXPECT_EQ(turns_of(1, 0), 0);
    EXPECT_EQ(turns_of(0, 0), 0);
    EXPECT_EQ(turns_of(0, 1), 0.25f);
    EXPECT_EQ(turns_of(-1, 0), 0.5f);
}

TEST_F(Environment, MiddleIsTowardsMinusZAndRightTowardsX) {
    Frame frame{};
    const auto expect_at = [&](Float3 direction, float u, float v) {
        const TexturePoint place = place_in_environment(&frame, direction);
        EXPECT_NEAR(place.u, u, 1e-6) << direction.x << ' ' << direction.y << ' ' << direction.z;
        EXPECT_NEAR(place.v, v, 1e-6);
    };
    expect_at({0, 0, -1}, 0.5f, 0.5f);
    expect_at({1, 0, 0}, 0.75f, 0.5f);
    expect_at({-1, 0, 0}, 0.25f, 0.5f);
    EXPECT_NEAR(place_in_environment(&frame, {0, 1, 0}).v, 0, 1e-6);
    EXPECT_NEAR(place_in_environment(&frame, {0, -1, 0}).v, 1, 1e-6);
    expect_at({0, std::sqrt(0.5f), -std::sqrt(0.5f)}, 0.5f, 0.25f);
    frame.environment_turn = 0.25f; // what was towards -z is towards -x now
    expect_at({-1, 0, 0}, 0.5f, 0.5f);
    for (int i = 0; i < 1000; ++i) {
        frame.environment_turn = static_cast<float>(between(-3, 3));
        const Float3 direction = any_direction();
        const TexturePoint place = place_in_environment(&frame, direction);
        EXPECT_LT(length(direction_in_environment(&frame, place) - direction), 1e-5f);
    }
}

TEST_F(Environment, ShadowRaysGoWhereLightIsAsOftenAsTheySay) {
    for (const auto& [width, height] : {std::pair{16, 8}, {7, 5}, {64, 32}, {1, 1}}) {
        const TextureImage sky = width == 1 ? load(1, 1, {{1, 2, 3}}) : any(width, height, 1000);
        const PreparedScene scene = floor_below(sky, lambert(0.5f));
        Frame frame = small_frame(scene, {{0, 1, 3}, {0, 0, 0}, 30}, 8, 8);
        frame.shadow_rays = 1;
        const SceneView view = view_of(scene);
        // The integral of 1, and of the light, over all directions.
        double ones = 0, light = 0, by_chance = 0;
        constexpr int samples = 200'000;
        for (int i = 0; i < samples; ++i) {
            const auto number = [this] { return static_cast<float>(random() >> 8) * 0x1p-24f; };
            const Float3 direction =
                environment_direction(&view, &frame, {number(), number(), number(), number()});
            const double density = double{environment_density(&view, &frame, direction)};
            ASSERT_GT(density, 0);
            ones += 1 / density / samples;
            light += double{environment_radiance(&view, &frame, direction).g} / density / samples;
            by_chance += double{environment_radiance(&view, &frame, any_direction()).g} * 4 *
                         std::numbers::pi / samples;
        }
        EXPECT_NEAR(ones / (4 * std::numbers::pi), 1, 0.1) << width; // few rays go to dark places
        EXPECT_NEAR(light / by_chance, 1, 0.1) << width;
    }
}

TEST_F(Environment, OfOneColourIsASky) {
    const PreparedScene scene =
        floor_below(load(8, 4, std::vector<Rgb>(32, {0.5f, 0.5f, 0.5f})), lambert(0.5f));
    SceneBuilder same;
    same.material(lambert(0.5f)).box({-1, -0.1f, -1}, {1, 0, 1});
    same.box({0.3f, 0, -0.3f}, {0.6f, 0.4f, 0});
    const PreparedScene plain = prepare_scene(same.scene());
    const CameraPose pose{{0, 1, 3}, {0, 0, 0}, 30};
    Frame frame = small_frame(scene, pose, 16, 16), sky = small_frame(plain, pose, 16, 16);
    sky.sky = {0.5f, 0.5f, 0.5f};
    frame.shadow_rays = 1;
    const Estimate here = estimate(scene, frame, 400), there = estimate(plain, sky, 400);
    EXPECT_NEAR(here.mean, there.mean, 5 * std::hypot(here.standard_error, there.standard_error));
}

TEST_F(Environment, IsFoundByShadowRaysAsByChance) {
    for (int scenes = 0; scenes < 10; ++scenes) {
        SurfaceDescription surface{.base = {0.7f, 0.7f, 0.7f}};
        surface.metallic = static_cast<float>(between(0, 1));
        surface.roughness = static_cast<float>(between(0.2, 1));
        const PreparedScene scene = floor_below(any(16, 8, 30), surface, scenes % 2 == 0 ? 5.0f : 0.0f);
        Frame frame = small_frame(scene, {{0, 1, 3}, {0, 0, 0}, 30}, 8, 8);
        frame.environment_turn = static_cast<float>(between(0, 1));
        frame.max_depth = 4;
        const Estimate by_chance = estimate(scene, frame, 2000);
        frame.shadow_rays = 1;
        const Estimate by_rays = estimate(scene, frame, 1000);
        EXPECT_NEAR(by_rays.mean, by_chance.mean,
                    4.5 * std::hypot(by_rays.standard_error, by_chance.standard_error));
        EXPECT_LT(by_rays.standard_error * std::sqrt(0.5), 1.2 * by_chance.standard_error);
    }
}

TEST_F(Environment, KeepsASunThatFloatsOfSixteenBitsDoNotHold) {
    const PreparedScene scene = floor_below(
        load(4, 2,
             {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1e6f, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}),
        lambert(0.5f));
    const SceneView view = view_of(scene);
    const Frame frame = small_frame(scene, {{0, 1, 3}, {0, 0, 0}, 30}, 8, 8);
    double most = 0;
    for (int i = 0; i < 10'000; ++i)
        most = std::max(most, double{environment_radiance(&view, &frame, any_direction()).r});
    EXPECT_GT(most, 0.9e6);
    EXPECT_LT(most, 1.01e6);
}

TEST_F(Environment, RadianceIsThatBeforeAnExposure) {
    std::string bytes = hdr_of(1, 1, {{1, 2, 3}});
    bytes.insert(bytes.find("\nFORMAT"), "\nEXPOSURE=4\nEXPOSURE= 0.5");
    const TextureImage image = load_environment(folder.write("sky.hdr", bytes), {});
    EXPECT_NEAR(double{texel_value(image.texels[0]).colour.g}, 1, 1e-2);
}

TEST_F(Environment, BadFilesAreRefused) {
    const auto refused = [&](const std::string& name, const std::string& bytes) {
        return headrace::test::error_of(
                   [&] { static_cast<void>(load_environment(folder.write(name, bytes), {})); })
            .is_users_mistake();
    };
    EXPECT_TRUE(refused("a.hdr", hdr_of(2, 1, {{0, 0, 0}, {0, 0, 0}}))); // black
    EXPECT_TRUE(refused("a.png", "\x89PNG and more"));
    EXPECT_TRUE(refused("a.hdr", "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 100000 +X 100000\n"));
    EXPECT_TRUE(refused("a.hdr", "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 0 +X 4\n"));
    EXPECT_TRUE(refused("a.hdr", "#?RADIANCE\nno such thing"));
    EXPECT_TRUE(refused("a.hdr", "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 16384 +X 16384\n")); // gigabytes
    const std::string whole = hdr_of(16, 8, std::vector<Rgb>(128, {1, 2, 3}));
    EXPECT_FALSE(whole.empty());
    for (const std::size_t lacks : {5u, 64u, 300u})
        EXPECT_TRUE(refused("a.hdr", whole.substr(0, whole.size() - lacks))) << lacks;
    EXPECT_TRUE(refused("a.exr", "\x76\x2f\x31\x01"
                                 "and nothing else"));
}

TEST_F(Environment, InfiniteSunsAreAsBrightAsAllElseAndNamed) {
    std::vector<Rgb> colours(28, Rgb{1, 1, 1});
    colours[9] = {1e20f, 1, 1}; // as far as a picture of RGBE goes
    const TextureImage bright = load(7, 4, colours);
    ASSERT_EQ(bright.notes.size(), 2u);
    EXPECT_NE(bright.notes[0].find("1e15"), std::string::npos);
    EXPECT_NE(bright.notes[1].find("27 of its 28 texels are black"), std::string::npos) << bright.notes[1];
    colours[9] = {1e10f, 1, 1};
    EXPECT_TRUE(load(7, 4, colours).notes.empty());
}

} // namespace
} // namespace path_tracer::test
