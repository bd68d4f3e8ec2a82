// The command line: what is taken, and what is refused in words that name the option.
#include "options.hpp"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace path_tracer {
namespace {

Options parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "headrace-path-tracer");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    return parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(PathTracerOptions, NameACamera) {
    const Options by_name = parse({"--scene", "a.gltf", "--camera", "Top view"});
    EXPECT_FALSE(by_name.camera);
    EXPECT_EQ(by_name.scene_camera, "Top view");
    const Options rolled = parse({"--scene", "a.gltf", "--camera", "1,2,3,4,5,6,7,-8"});
    EXPECT_TRUE(rolled.scene_camera.empty());
    EXPECT_EQ(rolled.camera.value().roll_degrees, -8);
    EXPECT_FALSE(parse({"--scene", "a.gltf"}).list_cameras);
    EXPECT_TRUE(parse({"--scene", "a.gltf", "--list-cameras"}).list_cameras);
}

TEST(PathTracerOptions, MapTonesOfPngAlone) {
    const Options options =
        parse({"--scene", "a.obj", "--out", "a.png", "--tone-map", "agx", "--exposure", "-1.5"});
    EXPECT_EQ(options.tone_map, ToneMap::agx);
    EXPECT_EQ(options.exposure, -1.5f);
    EXPECT_THROW(static_cast<void>(parse({"--scene", "a.obj", "--out", "a.exr", "--tone-map", "aces"})),
                 headrace::Error);
}

TEST(PathTracerOptions, SayWhenThereAreSamplesEnough) {
    const Options plain = parse({"--scene", "a.obj"});
    EXPECT_EQ(plain.samples, 64u);
    EXPECT_EQ(plain.seconds, 0);
    EXPECT_EQ(plain.adaptive, 0);
    const Options timed = parse({"--scene", "a.obj", "--time", "2.5", "--save-every", "60"});
    EXPECT_EQ(timed.samples, 16384u);
    EXPECT_EQ(timed.seconds, 2.5);
    EXPECT_EQ(timed.save_every, 60);
    EXPECT_EQ(parse({"--scene", "a.obj", "--adaptive", "0.02"}).samples, 16384u);
    EXPECT_EQ(parse({"--scene", "a.obj", "--adaptive", "0.02", "--spp", "64"}).samples, 64u);
    const std::vector<std::vector<std::string>> wrong = {{"--adaptive", "-1"},
                                                         {"--adaptive", "0.1", "--coherent"},
                                                         {"--adaptive", "0.1", "--checkpoint", "c"},
                                                         {"--adaptive", "0.1", "--on-loss", "continue"},
                                                         {"--time", "-1"},
                                                         {"--time", "x"},
                                                         {"--save-every", "-1"},
                                                         {"--environment-scale", "2"},
                                                         {"--environment-rotate", "2"},
                                                         {"--time", "1", "--baselines"}};
    for (std::vector<std::string> arguments : wrong) {
        arguments.insert(arguments.begin(), {"--scene", "a.obj"});
        EXPECT_THROW(static_cast<void>(parse(arguments)), headrace::Error)
            << arguments[2] << ' ' << arguments[3];
    }
}

TEST(PathTracerOptions, AreTaken) {
    const Options options = parse({"--scene",
                                   "a b.obj",
                                   "--camera",
                                   "-1,2e0,3,4,-5.5,6,70",
                                   "--sky",
                                   "0,0.5,2",
                                   "--albedo",
                                   "0.25",
                                   "--width",
                                   "7",
                                   "--height",
                                   "9",
                                   "--spp",
                                   "11",
                                   "--max-depth",
                                   "3",
                                   "--roulette-from",
                                   "0",
                                   "--shadow-rays",
                                   "4",
                                   "--kernel",
                                   "consumer",
                                   "--coherent",
                                   "--devices",
                                   "cpu,cuda:0",
                                   "--policy",
                                   "demand:20",
                                   "--seed",
                                   "18446744073709551615",
                                   "--out",
                                   "x.exr",
                                   "--report",
                                   "r.json",
                                   "--trace",
                                   "t.json",
                                   "--progress",
                                   "--quiet"});
    EXPECT_EQ(options.scene, "a b.obj");
    ASSERT_TRUE(options.camera);
    EXPECT_EQ(options.camera->eye.x, -1);
    EXPECT_EQ(options.camera->target.y, -5.5f);
    EXPECT_EQ(options.camera->vertical_fov_degrees, 70);
    EXPECT_EQ(options.sky.b, 2);
    EXPECT_EQ(options.albedo, 0.25f);
    EXPECT_EQ(options.width, 7u);
    EXPECT_EQ(options.height, 9u);
    EXPECT_EQ(options.samples, 11u);
    EXPECT_EQ(options.max_depth, 3u);
    EXPECT_EQ(options.roulette_from, 0u);
    EXPECT_EQ(options.shadow_rays, 4u);
    EXPECT_EQ(options.kernel, KernelChoice::consumer);
    EXPECT_TRUE(options.coherent && options.progress && options.quiet);
    EXPECT_EQ(options.runtime.devices, "cpu,cuda:0");
    EXPECT_EQ(options.seed, ~std::uint64_t{0});
    EXPECT_EQ(options.report, "r.json");
    EXPECT_EQ(options.trace.json, "t.json");
}

TEST(PathTracerOptions, LightMayComeFromAPicture) {
    const Options options = parse({"--scene", "a.obj", "--environment", "sky.hdr", "--environment-scale",
                                   "2.5", "--environment-rotate", "-90", "--single-scatter"});
    EXPECT_EQ(options.environment, "sky.hdr");
    EXPECT_EQ(options.environment_scale, 2.5);
    EXPECT_EQ(options.environment_degrees, -90);
    EXPECT_EQ(options.scattering, Scattering::single);
    EXPECT_EQ(parse({"--scene", "a.obj"}).scattering, Scattering::multiple);
}

TEST(PathTracerOptions, NoDirectLightMeansNoShadowRays) {
    EXPECT_EQ(parse({"--scene", "a.obj"}).shadow_rays, 1u);
    EXPECT_EQ(parse({"--scene", "a.obj", "--no-direct-light"}).shadow_rays, 0u);
}

TEST(PathTracerOptions, AWatchdogLeavesOnlyIfItIsAskedTo) {
    EXPECT_FALSE(parse({"--scene", "a.obj"}).runtime.on_hang);
    const Options options = parse({"--scene", "a.obj", "--watchdog", "2.5"});
    EXPECT_EQ(options.runtime.patience, std::chrono::milliseconds(2500));
    EXPECT_TRUE(options.runtime.on_hang);
}

TEST(PathTracerOptions, RefusalsNameTheOption) {
    const std::vector<std::vector<std::string>> bad = {{"--width", "0"},
                                                       {"--width", "-3"},
                                                       {"--watchdog", "0"},
                                                       {"--watchdog", "soon"},
                                                       {"--width", "many"},
                                                       {"--width", ""},
                                                       {"--width", "1e99"},
                                                       {"--height", "4294967296"},
                                                       {"--spp", "0"},
                                                       {"--max-depth", "0"},
                                                       {"--roulette-from", "-1"},
                                                       {"--shadow-rays", "0"},
                                                       {"--albedo", "1.5"},
                                                       {"--albedo", "nan"},
                                                       {"--sky", "1,1"},
                                                       {"--sky", "-1,0,0"},
                                                       {"--sky", "1,1,1,1"},
                                                       {"--sky", "1,1,"},
                                                       {"--camera", "1,2,3"},
                                                       {"--camera", "a,b,c,d,e,f,g"},
                                                       {"--camera", "0,0,0,0,0,inf,60"},
                                                       {"--camera", "0,0,0,0,0,1,60,nan"},
                                                       {"--camera", "0,0,0,0,0,1,60,1,2"},
                                                       {"--exposure", "bright"},
                                                       {"--environment-scale", "-1"},
                                                       {"--environment-scale", "1e16"},
                                                       {"--environment-rotate", "around"},
                                                       {"--environment-rotate", "nan"},
                                                       {"--exposure", "101"},
                                                       {"--tone-map", "filmic"},
                                                       {"--kernel", "both"},
                                                       {"--seed", "-1"},
                                                       {"--no-such-option", ""}};
    for (const auto& arguments : bad) {
        std::vector<std::string> all = {"--scene", "a.obj"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        try {
            static_cast<void>(parse(all));
            ADD_FAILURE() << arguments[0] << ' ' << arguments[1] << " was taken";
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_NE(std::string(error.what()).find(arguments[0]), std::string::npos) << error.what();
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        }
    }
    EXPECT_THROW(static_cast<void>(parse({})), headrace::Error);
    EXPECT_THROW(static_cast<void>(parse({"--scene", "a.obj", "--out", "a.jpeg"})), headrace::Error);
    EXPECT_THROW(static_cast<void>(parse({"--scene", "a.obj", "--width", "70000", "--height", "70000"})),
                 headrace::Error);
}

TEST(PathTracerOptions, FilesThatAreReadHaveLimits) {
    Options options = parse({"--scene", "a.obj"});
    EXPECT_FALSE(options.files.allow_outside);
    EXPECT_EQ(options.files.largest, std::uint64_t{4} << 30);
    options = parse({"--scene", "a.obj", "--allow-outside", "--max-file-size", "5000000000"});
    EXPECT_TRUE(options.files.allow_outside);
    EXPECT_EQ(options.files.largest, 5000000000u);
    EXPECT_THROW(parse({"--scene", "a.obj", "--max-file-size", "0"}), headrace::Error);
}

} // namespace
} // namespace path_tracer
