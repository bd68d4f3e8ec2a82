// What of a scene is shown, and how brightly: cameras by name and number, exposure, tones.
#include "end_to_end/glowing_triangle.hpp"
#include "end_to_end/path_tracer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace headrace::end_to_end {
namespace {

/// A glowing triangle, and two cameras that see it: one from the front, one from the front and turned.
class Cameras : public testing::Test {
protected:
    void SetUp() override {
        folder_.write("t.bin", triangle_numbers());
        folder_.write(
            "s.gltf",
            glowing_triangle(
                "t.bin",
                R"({"mesh":0},{"name":"Front","camera":0,"translation":[0.5,0.25,3]},)"
                R"({"name":"Leaning","camera":0,"translation":[0.5,0.25,3],"rotation":[0,0,0.5,0.8660254037844386]})",
                "0,1,2"));
    }
    Image shown(const Options& more, const char* scene = "s.gltf") {
        return render(folder_, small + Options{"--scene", scene} + more);
    }
    Outcome run(const Options& more, const char* scene = "s.gltf") {
        return run_path_tracer(folder_, small + Options{"--scene", scene} + more);
    }

    const Options small{"--devices", "cpu",   "--width", "24",    "--height",
                        "24",        "--spp", "4",       "--sky", "0,0,0"};
    Scratch folder_;
};

TEST_F(Cameras, AreListedAndNoPictureIsMade) {
    const Outcome outcome = run({"--list-cameras", "--out", "o.png"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, "0\tFront\t0.5,0.25,3,0.5,0.25,2,45\n"
                              "1\tLeaning\t0.5,0.25,3,0.5,0.25,2,45,-60\n");
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "o.png"));
}

TEST_F(Cameras, OfTheSceneShowWhatTheirDescriptionsShow) {
    const Image front = shown({}), leaning = shown({"--camera", "Leaning"});
    EXPECT_EQ(front.values, shown({"--camera", "Front"}).values);
    EXPECT_EQ(front.values, shown({"--camera", "0"}).values);
    EXPECT_EQ(leaning.values, shown({"--camera", "1"}).values);
    EXPECT_GT(rms_difference(front, leaning), 0.01);
    // Rounding of the angle moves an edge past a ray here and there.
    EXPECT_LT(rms_difference(front, shown({"--camera", "0.5,0.25,3,0.5,0.25,2,45"})), 1e-6);
    EXPECT_LT(rms_difference(leaning, shown({"--camera", "0.5,0.25,3,0.5,0.25,2,45,-60"})), 0.01);
}

TEST_F(Cameras, MayHaveParallelRaysOrALens) {
    folder_.write(
        "flat.gltf",
        glowing_triangle(
            "t.bin", R"({"mesh":0},{"name":"Flat","camera":0,"translation":[0.5,0.25,3]})", "0,1",
            R"({"type":"orthographic","orthographic":{"xmag":1,"ymag":0.75,"znear":0.1,"zfar":9}})"));
    EXPECT_EQ(run({"--list-cameras"}, "flat.gltf").output,
              "0\tFlat\t0.5,0.25,3,0.5,0.25,2,45\t--orthographic 1.5\n");
    const Image of_scene = shown({}, "flat.gltf");
    EXPECT_EQ(of_scene.values,
              shown({"--camera", "0.5,0.25,3,0.5,0.25,2,45", "--orthographic", "1.5"}).values);
    EXPECT_GT(rms_difference(of_scene, shown({})), 0.01);
    // Far out of focus, the triangle is a haze.
    EXPECT_GT(rms_difference(shown({"--lens", "0.5,1"}), shown({})), 0.01);
    for (const Options& wrong : {Options{"--orthographic", "0"},
                                 {"--lens", "1"},
                                 {"--lens", "-1,2"},
                                 {"--lens", "1,0"},
                                 {"--orthographic", "1", "--lens", "1,1"}})
        EXPECT_EQ(run(wrong + Options{"--out", "o.png"}).exit_code, 2);
    EXPECT_EQ(run({"--lens", "1,1", "--out", "o.png"}, "flat.gltf").exit_code, 2);
}

TEST_F(Cameras, MayShowAPartOfThePicture) {
    const Options picture{"--scene", "s.gltf", "--devices", "cpu", "--sky", "0,0,0",
                          "--width", "24",     "--height",  "20",  "--spp", "900"};
    for (const Options& view : {Options{}, {"--orthographic", "2"}, {"--lens", "0.1,3"}}) {
        const Image whole = render(folder_, picture + view);
        const Image part = render(folder_, picture + view + Options{"--crop", "7,5,9,11"});
        ASSERT_EQ(part.values.size(), std::size_t{9} * 11 * 3);
        double lit = 0;
        for (std::size_t row = 0; row < 11; ++row)
            for (std::size_t i = 0; i < std::size_t{9} * 3; ++i) {
                const float there = whole.values[(row + 5) * 24 * 3 + std::size_t{7} * 3 + i];
                EXPECT_NEAR(part.values[row * 27 + i], there, 0.04); // noise
                lit += static_cast<double>(there);
            }
        EXPECT_GT(lit, 1);
    }
    for (const char* wrong : {"0,0,25,1", "0,24,1,1", "0,0,0,1", "1,1", "0.5,0,1,1", "-1,0,2,2"})
        EXPECT_EQ(run({"--crop", wrong, "--out", "o.png"}).exit_code, 2) << wrong;
}

TEST_F(Cameras, ThatAreNotThereAreRefused) {
    const Outcome outcome = run({"--camera", "Back", "--out", "o.png"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(
        outcome.errors.find(R"(--camera Back: the scene has no such camera; it has 0 "Front", 1 "Leaning")"),
        std::string::npos)
        << outcome.errors;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "o.png"));
}

TEST_F(Cameras, ExposeByPowersOfTwo) {
    const Image plain = shown({}), bright = shown({"--exposure", "3"}), dark = shown({"--exposure", "-1"});
    for (std::size_t i = 0; i < plain.values.size(); ++i) {
        ASSERT_EQ(bright.values[i], 8 * plain.values[i]);
        ASSERT_EQ(dark.values[i], 0.5f * plain.values[i]);
    }
}

TEST_F(Cameras, MapTonesOfPngAlone) {
    EXPECT_EQ(run({"--tone-map", "agx", "--out", "o.exr"}).exit_code, 2);
    for (const char* map : {"none", "aces", "agx"})
        EXPECT_EQ(run({"--tone-map", map, "--out", std::string(map) + ".png"}).exit_code, 0);
    const auto bytes = [&](const char* name) {
        std::ifstream file(folder_.path() / name, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    EXPECT_NE(bytes("none.png"), bytes("aces.png"));
    EXPECT_NE(bytes("none.png"), bytes("agx.png"));
    EXPECT_NE(bytes("aces.png"), bytes("agx.png"));
}

} // namespace
} // namespace headrace::end_to_end
