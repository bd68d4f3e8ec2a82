// Lights of glTF files: places, directions, units, and what is wrong with them.
#include "apps/error_of.hpp"
#include "apps/gltf_builder.hpp"
#include "scene.hpp"
#include "vector_math.hpp"
#include <core/scratch_folder.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace path_tracer::test {
namespace {

using headrace::test::error_of;
using headrace::test::mentions;
using headrace::test::ScratchFolder;
using Kind = PunctualLightDescription::Kind;

constexpr double lumens = 683;

class GltfLights : public testing::Test {
protected:
    /// A triangle, and a node with this light.
    [[nodiscard]] static std::string file(const std::string& light, const std::string& place = "",
                                          const std::string& number = "0") {
        GltfParts parts;
        parts.nodes =
            R"({"mesh":0},{"extensions":{"KHR_lights_punctual":{"light":)" + number + "}}" + place + "}";
        parts.roots = "0,1";
        parts.extra =
            R"(,"extensionsUsed":["KHR_lights_punctual"],"extensionsRequired":["KHR_lights_punctual"],)"
            R"("extensions":{"KHR_lights_punctual":{"lights":[)" +
            light + "]}}";
        return parts.embedded();
    }
    Scene load(const std::string& light, const std::string& place = "") {
        Scene scene = load_scene(folder.write("s.gltf", file(light, place)), 0.5f);
        EXPECT_TRUE(scene.notes.empty());
        return scene;
    }
    PunctualLightDescription only(const std::string& light, const std::string& place = "") {
        const Scene scene = load(light, place);
        EXPECT_EQ(scene.lights.size(), 1u);
        return scene.lights.at(0);
    }
    headrace::Error refusal(const std::string& text) {
        const auto path = folder.write("r.gltf", text);
        headrace::Error error = error_of([&] { static_cast<void>(load_scene(path, 0.5f)); });
        EXPECT_TRUE(error.is_users_mistake()) << error.what();
        return error;
    }

    ScratchFolder folder;
};

TEST_F(GltfLights, CandelaAndLuxAreOf683Lumens) {
    const auto point = only(R"({"type":"point","intensity":1366,"color":[1,0.5,0.25]})");
    EXPECT_EQ(point.kind, Kind::point);
    EXPECT_NEAR(point.strength.r, 2, 1e-6);
    EXPECT_NEAR(point.strength.g, 1, 1e-6);
    EXPECT_NEAR(point.strength.b, 0.5, 1e-6);
    EXPECT_EQ(point.range, 0);
    const auto far = only(R"({"type":"directional","intensity":341.5})");
    EXPECT_EQ(far.kind, Kind::far);
    EXPECT_NEAR(far.strength.g, 0.5, 1e-6);
    const auto least = only(R"({"type":"spot"})"); // what is not said
    EXPECT_NEAR(least.strength.b, 1 / lumens, 1e-8);
    EXPECT_EQ(least.inner_angle, 0);
    EXPECT_NEAR(least.outer_angle, std::numbers::pi / 4, 1e-12);
}

TEST_F(GltfLights, StandAndShineAsTheirNodesDo) {
    // Turned by 90 degrees around x, -z becomes +y.
    const std::string place =
        R"(,"translation":[1,2,3],"rotation":[0.7071067811865476,0,0,0.7071067811865476],"scale":[2,2,2])";
    const auto spot =
        only(R"({"type":"spot","range":7,"spot":{"innerConeAngle":0.3,"outerConeAngle":0.6}})", place);
    EXPECT_LT(length(spot.place - Point{1, 2, 3}), 1e-12);
    EXPECT_LT(length(spot.axis - Point{0, 1, 0}), 1e-12);
    EXPECT_EQ(spot.range, 7); // nor is it scaled, nor how bright it is
    EXPECT_NEAR(spot.strength.r, 1 / lumens, 1e-8);
    EXPECT_EQ(spot.inner_angle, 0.3);
    EXPECT_EQ(spot.outer_angle, 0.6);
    const auto mirrored = only(R"({"type":"directional"})", R"(,"scale":[1,1,-3])");
    EXPECT_LT(length(mirrored.axis - Point{0, 0, 1}), 1e-12);
}

TEST_F(GltfLights, SharpConesAndWideOnesAreShown) {
    const auto cone = [&](const char* inner, const char* outer) {
        return only(std::string(R"({"type":"spot","spot":{"innerConeAngle":)") + inner +
                    R"(,"outerConeAngle":)" + outer + "}}");
    };
    const auto sharp = cone("0.5", "0.5"); // as Blender writes a spot without a soft edge
    EXPECT_LT(sharp.inner_angle, sharp.outer_angle);
    EXPECT_NEAR(sharp.inner_angle, 0.5, 1e-3);
    EXPECT_NEAR(cone("0", "3").outer_angle, std::numbers::pi / 2, 1e-12);
    const auto turned = cone("0.7", "0.4");
    EXPECT_LT(turned.inner_angle, turned.outer_angle);
    EXPECT_EQ(cone("0", "0.001").inner_angle, 0);
}

TEST_F(GltfLights, WhatDoesNotShineIsNone) {
    EXPECT_TRUE(load(R"({"type":"point","intensity":0})").lights.empty());
    EXPECT_TRUE(load(R"({"type":"directional","color":[0,0,0]})").lights.empty());
    EXPECT_EQ(only(R"({"type":"point","range":0})").range, 0); // no range at all
}

TEST_F(GltfLights, OnesThatCannotBeAreRefusedByName) {
    for (const char* light :
         {R"({"name":"sofa","intensity":3})", R"({"name":"sofa","type":"area"})",
          R"({"name":"sofa","type":"point","intensity":-1})",
          R"({"name":"sofa","type":"point","intensity":1e31})",
          R"({"name":"sofa","type":"point","color":[1,-1,1]})",
          R"({"name":"sofa","type":"spot","spot":{"outerConeAngle":-1}})",
          R"({"name":"sofa","type":"spot","spot":{"outerConeAngle":0}})",
          R"({"name":"sofa","type":"spot","spot":{"innerConeAngle":4}})",
          R"({"name":"sofa","type":"spot","spot":3})", R"({"name":"sofa","type":"point","range":-2})"})
        EXPECT_TRUE(mentions(refusal(file(light)), "sofa")) << light;
    EXPECT_TRUE(mentions(refusal(file(R"({"name":"sofa","type":"spot"})", R"(,"scale":[0,0,0])")), "sofa"));
    for (const char* light : {R"({"type":"point","color":[1,1]})", R"({"type":"point","color":"red"})",
                              R"({"type":"point","intensity":"3"})", R"({"type":7})", "3", "null"})
        EXPECT_FALSE(refusal(file(light)).message().empty()) << light;
    EXPECT_TRUE(mentions(refusal(file(R"({"type":"point"})", "", "1")), "none of its 1"));
    EXPECT_TRUE(mentions(refusal(file("", "", "0")), "none of its 0"));
    GltfParts parts;
    parts.nodes = R"({"mesh":0,"extensions":{"KHR_lights_punctual":{"light":0}}})";
    EXPECT_TRUE(mentions(refusal(parts.embedded()), "no list of lights"));
}

TEST_F(GltfLights, OnesThatNoNodeShowsMayBeWrong) {
    GltfParts parts;
    parts.extra =
        R"(,"extensionsUsed":["KHR_lights_punctual"],"extensions":{"KHR_lights_punctual":{"lights":[{"type":"area"}, 3]}})";
    const Scene scene = load_scene(folder.write("u.gltf", parts.embedded()), 0.5f);
    EXPECT_TRUE(scene.lights.empty());
    EXPECT_TRUE(scene.notes.empty());
}

} // namespace
} // namespace path_tracer::test
