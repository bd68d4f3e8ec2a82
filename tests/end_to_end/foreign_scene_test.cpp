// Scenes as other programs write them, through the program: what a file names is looked at before it is read,
// what is not shown is named on stderr, and the camera's roll is in the picture.
#include "end_to_end/glowing_triangle.hpp"
#include "end_to_end/path_tracer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <sys/stat.h>

namespace headrace::end_to_end {
namespace {

const Options tiny{"--width", "16", "--height", "16", "--spp", "4", "--sky", "0,0,0"};

class NamedFile : public testing::Test {
protected:
    void expect_refused(const std::string& scene, const std::string& word, const Options& more = {}) {
        // The time is that of a program which ends by itself, not of one that waits for a file.
        const Outcome outcome =
            start_path_tracer(folder_,
                              tiny + Options{"--devices", "cpu", "--scene", scene, "--out", "out.png"} + more)
                .wait(Seconds(30));
        EXPECT_FALSE(outcome.timed_out) << scene;
        EXPECT_EQ(outcome.exit_code, 2) << scene << outcome.errors;
        EXPECT_NE(outcome.errors.find(word), std::string::npos) << outcome.errors;
        EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
        EXPECT_LT(outcome.peak_memory, std::size_t{1} << 30);
    }
    Scratch folder_;
};

TEST_F(NamedFile, IsARegularFileBelowTheScene) {
    ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
    std::filesystem::create_directory(folder_.path() / "sub");
    for (const auto& [name, word] : {std::pair<const char*, const char*>{"/dev/zero", "--allow-outside"},
                                     {"../x", "--allow-outside"},
                                     {"pipe", "pipe"},
                                     {"sub", "folder"},
                                     {"lost.bin", "lost.bin"}}) {
        folder_.write("s.gltf", glowing_triangle(name, R"({"mesh":0})"));
        expect_refused("s.gltf", word);
        if (std::string(name) == "lost.bin") continue; // an OBJ without its MTL is shown in grey
        folder_.write("s.obj", std::string("mtllib ") + name + "\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
        expect_refused("s.obj", word);
    }
    folder_.write("s.gltf", glowing_triangle("/dev/zero", R"({"mesh":0})"));
    expect_refused("s.gltf", "device", {"--allow-outside"});
    folder_.write("t.bin", triangle_numbers());
    folder_.write("s.gltf", glowing_triangle("t.bin", R"({"mesh":0})"));
    expect_refused("s.gltf", "--max-file-size", {"--max-file-size", "35"});
}

TEST(ForeignScene, WhatIsNotShownIsNamedOnce) {
    const Scratch folder;
    folder.write("s.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nl 1 2\nl 2 3\np 1\n");
    const Outcome outcome =
        Program(HEADRACE_PATH_TRACER,
                tiny + Options{"--devices", "cpu", "--scene", "s.obj", "--out", "o.png"}, folder.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    const auto note = outcome.errors.find("not shown: points and lines");
    EXPECT_NE(note, std::string::npos) << outcome.errors;
    EXPECT_EQ(outcome.errors.find("points and lines", note + 20), std::string::npos) << outcome.errors;
}

class ForeignSceneOnDevices : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

TEST_P(ForeignSceneOnDevices, ShowsTheRollOfTheCamera) {
    const Scratch folder;
    folder.write("t.bin", triangle_numbers());
    // The camera looks along -z from above the right angle, which is in the middle of the picture.
    const auto red_at = [&](const char* rotation) {
        folder.write("s.gltf",
                     glowing_triangle("t.bin",
                                      R"({"mesh":0},{"camera":0,"translation":[0,0,3],"rotation":)" +
                                          std::string(rotation) + "}",
                                      "0,1"));
        const Image image = render(folder, tiny + Options{"--scene", "s.gltf", "--devices", GetParam()});
        std::string quarters; // where it glows: north-east, north-west, south-west, south-east
        for (const auto& [x, y] : {std::pair{9u, 6u}, {6u, 6u}, {6u, 9u}, {9u, 9u}})
            quarters += *image.pixel(x, y) > 0.2f ? '1' : '0';
        return quarters;
    };
    EXPECT_EQ(red_at("[0,0,0,1]"), "1000");
    EXPECT_EQ(red_at("[0,0,1,0]"), "0010");
    EXPECT_EQ(red_at("[0,0,0.7071067811865475,0.7071067811865475]"),
              "0001"); // its left is the scene's bottom
}

INSTANTIATE_TEST_SUITE_P(Devices, ForeignSceneOnDevices, testing::ValuesIn(every_device),
                         [](const auto& chosen) { return test_name(chosen.param); });

} // namespace
} // namespace headrace::end_to_end
