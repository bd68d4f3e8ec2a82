// What a user can get wrong. Every case: one line on stderr that says what, where and what to do; exit code 2
// for a mistake of the user's and 1 for a failure; no crash; and the folder afterwards holds what it held
// before.
#include "end_to_end/path_tracer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace headrace::end_to_end {
namespace {

constexpr std::string_view triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
const Options tiny{"--width", "4", "--height", "4", "--spp", "1", "--devices", "cpu"};

class BadInput : public testing::Test {
protected:
    /// Runs with `options` and expects a refusal that mentions every one of `words`.
    void expect_refusal(const Options& options, std::initializer_list<const char*> words, int exit_code = 2) {
        const std::vector<std::string> before = folder_.list();
        const Outcome outcome = run_path_tracer(folder_, options);

        std::string command;
        for (const std::string& option : options) command += option + ' ';
        SCOPED_TRACE(command + "\nsaid: " + outcome.errors);
        EXPECT_FALSE(outcome.timed_out);
        EXPECT_EQ(outcome.signal, 0);
        EXPECT_EQ(outcome.exit_code, exit_code);
        EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << "not one line";
        for (const char* word : words)
            EXPECT_NE(outcome.errors.find(word), std::string::npos) << "no word of " << word;
        EXPECT_TRUE(outcome.output.empty()) << outcome.output;
        EXPECT_EQ(folder_.list(), before) << "something was left behind";
    }
    void expect_refused_scene(const std::string& name, std::string_view content) {
        folder_.write(name, content);
        expect_refusal(tiny + Options{"--scene", name, "--out", "out.png"}, {name.c_str()});
    }

    Scratch folder_;
};

// ---- scenes

TEST_F(BadInput, MissingScene) {
    expect_refusal(tiny + Options{"--scene", "nowhere.obj", "--out", "out.png"}, {"nowhere.obj"});
}
TEST_F(BadInput, SceneIsAFolder) {
    std::filesystem::create_directory(folder_.path() / "folder.obj");
    expect_refusal(tiny + Options{"--scene", "folder.obj", "--out", "out.png"}, {"folder.obj"});
}
TEST_F(BadInput, SceneOfUnknownFormat) { expect_refused_scene("scene.xyz", triangle); }
TEST_F(BadInput, EmptyScene) {
    for (const char* name : {"empty.obj", "empty.ply", "empty.gltf", "empty.glb"})
        expect_refused_scene(name, "");
}
TEST_F(BadInput, SceneWithoutTriangles) {
    expect_refused_scene("points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    expect_refused_scene("points.ply",
                         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
                         "property float z\nend_header\n0 0 0\n");
    expect_refused_scene("nothing.gltf", R"({"asset":{"version":"2.0"},"scenes":[{"nodes":[]}],"scene":0})");
}
TEST_F(BadInput, MalformedScene) {
    std::string noise(4096, '\0');
    std::uint32_t state = 1;
    for (char& byte : noise) byte = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
    for (const char* name : {"noise.obj", "noise.ply", "noise.gltf", "noise.glb"})
        expect_refused_scene(name, noise);
    expect_refused_scene("words.obj", "v a b c\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    expect_refused_scene("brace.gltf", R"({"asset":{"version":"2.0"},"meshes":[)");
}
TEST_F(BadInput, TruncatedPly) {
    std::string ply =
        "ply\nformat binary_little_endian 1.0\nelement vertex 1000\nproperty float x\nproperty float y\n"
        "property float z\nelement face 500\nproperty list uchar int vertex_indices\nend_header\n";
    expect_refused_scene("header.ply", ply);
    ply.append(1234, '\0');
    expect_refused_scene("vertices.ply", ply);
}
TEST_F(BadInput, PlyWithAnAbsurdCount) {
    expect_refused_scene("absurd.ply",
                         "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000000\n"
                         "property float x\nproperty float y\nproperty float z\nelement face 1\n"
                         "property list uchar int vertex_indices\nend_header\n0123456789");
}
TEST_F(BadInput, TruncatedGltfBuffer) {
    expect_refused_scene("short.gltf", R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
        "nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}],
        "bufferViews":[{"buffer":0,"byteLength":36}],
        "buffers":[{"byteLength":12,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAA"}]})");
}
TEST_F(BadInput, GltfBufferMissing) {
    expect_refused_scene("lost.gltf", R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
        "nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}],
        "bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":"lost.bin"}]})");
}
TEST_F(BadInput, NotANumberVertices) {
    expect_refused_scene("nan.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n");
    expect_refused_scene("inf.obj", "v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n");
    std::string ply =
        "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
        "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    const float positions[] = {0, 0, 0, std::numeric_limits<float>::quiet_NaN(), 0, 0, 0, 1, 0};
    const std::int32_t indices[] = {0, 1, 2};
    ply.append(reinterpret_cast<const char*>(positions), sizeof positions).append(1, '\3');
    ply.append(reinterpret_cast<const char*>(indices), sizeof indices);
    expect_refused_scene("nan.ply", ply);
}
TEST_F(BadInput, IndexOutOfRange) {
    expect_refused_scene("far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
    expect_refused_scene("zero.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n");
    expect_refused_scene("far.ply",
                         "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                         "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                         "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n");
}

// ---- options

TEST_F(BadInput, NoScene) { expect_refusal(tiny + Options{"--out", "out.png"}, {"--scene"}); }
TEST_F(BadInput, UnknownOption) {
    folder_.write("scene.obj", triangle);
    expect_refusal(tiny + Options{"--scene", "scene.obj", "--out", "out.png", "--colour", "red"},
                   {"--colour"});
}
TEST_F(BadInput, UnknownDevice) {
    folder_.write("scene.obj", triangle);
    for (const char* device : {"toaster", "cuda:99", "opencl:nobody", "cpu,toaster", "cpu:"})
        expect_refusal({"--scene", "scene.obj", "--out", "out.png", "--devices", device}, {"cpu"});
    expect_refusal({"--scene", "scene.obj", "--out", "out.png", "--devices", "@lost.toml"}, {"lost.toml"});
}
TEST_F(BadInput, UnknownKernelOrPolicy) {
    folder_.write("scene.obj", triangle);
    expect_refusal(tiny + Options{"--scene", "scene.obj", "--out", "out.png", "--kernel", "both"},
                   {"--kernel"});
    expect_refusal(tiny + Options{"--scene", "scene.obj", "--out", "out.png", "--policy", "luck"}, {"luck"});
}
TEST_F(BadInput, SizesOfZeroOrLess) {
    folder_.write("scene.obj", triangle);
    for (const char* option : {"--width", "--height", "--spp", "--max-depth"})
        for (const char* value : {"0", "-3", "many", "1e99", ""})
            expect_refusal({"--scene", "scene.obj", "--out", "out.png", "--devices", "cpu", option, value},
                           {option});
}
TEST_F(BadInput, SizesThatNoMemoryHolds) {
    folder_.write("scene.obj", triangle);
    expect_refusal({"--scene", "scene.obj", "--out", "out.png", "--devices", "cpu", "--spp", "1", "--width",
                    "1000000", "--height", "1000000"},
                   {"1000000"});
    expect_refusal({"--scene", "scene.obj", "--out", "out.png", "--devices", "cpu", "--spp", "1", "--width",
                    "4294967295", "--height", "4294967295"},
                   {"4294967295"});
}
TEST_F(BadInput, CameraThatSeesNothing) {
    folder_.write("scene.obj", triangle);
    for (const char* camera :
         {"0,0,1", "0,0,1,0,0,1,60", "0,0,1,0,0,0,0", "0,0,1,0,0,0,180", "a,b,c,d,e,f,g", "nan,0,1,0,0,0,60",
          "0,1,0,0,0,0,60,7,8", "0,1,0,0,0,0,60,nan", "0,1,0,0,0,0,60,"})
        expect_refusal(tiny + Options{"--scene", "scene.obj", "--out", "out.png", "--camera", camera},
                       {"--camera"});
}
TEST_F(BadInput, ColoursOutOfRange) {
    folder_.write("scene.obj", triangle);
    for (const char* sky : {"1,1", "nan,0,0", "-1,0,0", "blue"})
        expect_refusal(tiny + Options{"--scene", "scene.obj", "--out", "out.png", "--sky", sky}, {"--sky"});
    for (const char* albedo : {"-0.1", "1.5", "nan"})
        expect_refusal(tiny + Options{"--scene", "scene.obj", "--out", "out.png", "--albedo", albedo},
                       {"--albedo"});
}

// ---- output: found out before rendering, so a rendering of hours is refused in no time

class BadOutput : public BadInput {
protected:
    const Options long_render_{"--scene", "scene.obj", "--devices", "cpu",   "--width",
                               "1024",    "--height",  "1024",      "--spp", "1000000"};
    void SetUp() override { folder_.write("scene.obj", triangle); }
};

TEST_F(BadOutput, FolderDoesNotExist) {
    expect_refusal(long_render_ + Options{"--out", "nowhere/out.png"}, {"nowhere/out.png"});
}
TEST_F(BadOutput, NameIsAFolder) {
    std::filesystem::create_directory(folder_.path() / "out.png");
    expect_refusal(long_render_ + Options{"--out", "out.png"}, {"out.png"});
}
TEST_F(BadOutput, UnknownFormat) {
    expect_refusal(long_render_ + Options{"--out", "out.jpeg"}, {"out.jpeg"});
}
TEST_F(BadOutput, FolderIsReadOnly) {
    expect_refusal(long_render_ + Options{"--out", "/proc/out.png"}, {"/proc/out.png"}); // not even for root
}
TEST_F(BadOutput, ReportCannotBeWritten) {
    expect_refusal(long_render_ + Options{"--out", "out.png", "--report", "nowhere/report.json"},
                   {"nowhere/report.json"});
}

} // namespace
} // namespace headrace::end_to_end
