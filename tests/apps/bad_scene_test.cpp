// Files that are no scenes. Each is refused in one line that names the file, and none crashes a reader.
#include "apps/gltf_builder.hpp"
#include "scene.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace path_tracer::test {
namespace {

using headrace::test::ScratchFolder;

class BadScene : public testing::Test {
protected:
    void expect_refused(const std::filesystem::path& file, const std::string& word) {
        try {
            static_cast<void>(load_scene(file, 0.5f));
            FAIL() << file.filename() << " was read";
        } catch (const headrace::Error& error) {
            const std::string what = error.what();
            EXPECT_TRUE(error.is_users_mistake()) << what;
            EXPECT_NE(what.find(file.filename().string()), std::string::npos) << what;
            EXPECT_NE(what.find(word), std::string::npos) << what;
            EXPECT_EQ(what.find('\n'), std::string::npos) << what;
        }
    }
    void expect_refused(std::string_view name, std::string_view content, const std::string& word) {
        expect_refused(folder_.write(name, content), word);
    }
    void expect_refused(const GltfParts& parts, const std::string& word) {
        expect_refused("bent.gltf", parts.embedded(), word);
    }

    ScratchFolder folder_;
};

TEST_F(BadScene, NoFile) {
    expect_refused(folder_.path() / "nowhere.obj", "no such file");
    std::filesystem::create_directory(folder_.path() / "folder.ply");
    expect_refused(folder_.path() / "folder.ply", "not a file");
    expect_refused("scene.blend", "BLENDER", "unknown format");
    for (const char* name : {"empty.obj", "empty.ply", "empty.gltf", "empty.glb"})
        expect_refused(name, "", "empty");
}

TEST_F(BadScene, Obj) {
    const std::string mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    expect_refused("a.obj", mesh, "no triangles");
    expect_refused("a.obj", mesh + "f 1 2 4\n", "line 4");
    expect_refused("a.obj", mesh + "f 0 1 2\n", "line 4");
    expect_refused("a.obj", mesh + "f 1 2 -4\n", "line 4");
    expect_refused("a.obj", mesh + "f 1 2 99999999999999999999999\n", "line 4");
    expect_refused("a.obj", mesh + "f 1 two 3\n", "two");
    expect_refused("a.obj", mesh + "f 1\n", "three vertices");
    expect_refused("a.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", "line 2");
    expect_refused("a.obj", "v 0 0 0\nv 1 inf 0\nv 0 1 0\nf 1 2 3\n", "line 2");
    expect_refused("a.obj", "v 0 0 0\nv 1e300 0 0\nv 0 1 0\nf 1 2 3\n", "line 2");
    expect_refused("a.obj", "v 0 0 0\nv 1\nv 0 1 0\nf 1 2 3\n", "three numbers");
    expect_refused("a.obj", "v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n", "no triangles"); // on one line
    expect_refused("a.obj", std::string("v 0 0 0\0f 1 2 3", 15), "not text");
    folder_.write("bad.mtl", "newmtl m\nKd -1 0 0\n");
    try {
        static_cast<void>(
            load_scene(folder_.write("a.obj", "mtllib bad.mtl\nusemtl m\n" + mesh + "f 1 2 3\n"), 0.5f));
        ADD_FAILURE() << "a negative colour was taken";
    } catch (const headrace::Error& error) {
        EXPECT_NE(std::string(error.what()).find("colour"), std::string::npos) << error.what();
    }
    for (const char* line : {"Kd red", "Kd 1 2", "Ke nan 0 0", "Ni\nillum 7", "Ke 1e300 0 0", "illum one",
                             "Ks x\nillum 3", "Tf x\nillum 6"}) {
        folder_.write("bad.mtl", std::string("newmtl m\n") + line + '\n');
        try {
            static_cast<void>(
                load_scene(folder_.write("a.obj", "mtllib bad.mtl\nusemtl m\n" + mesh + "f 1 2 3\n"), 0.5f));
            ADD_FAILURE() << line << " was taken";
        } catch (const headrace::Error& error) {
            EXPECT_NE(std::string(error.what()).find("bad.mtl: line 2"), std::string::npos) << error.what();
        }
    }
}

std::string ply(const std::string& format, const std::string& vertices, const std::string& faces) {
    return "ply\nformat " + format + " 1.0\nelement vertex " + vertices +
           "\nproperty float x\nproperty float y\nproperty float z\nelement face " + faces +
           "\nproperty list uchar int vertex_indices\nend_header\n";
}

TEST_F(BadScene, Ply) {
    expect_refused("a.ply", "plyful", "end");
    expect_refused("a.ply", "solid stl", "no PLY");
    expect_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\n", "does not end");
    expect_refused("a.ply", "ply\nelement vertex 0\nend_header\n", "format");
    expect_refused("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty quaternion x\nend_header\n",
                   "quaternion");
    expect_refused("a.ply", ply("morse", "3", "1"), "morse");
    expect_refused("a.ply", ply("ascii", "-3", "1"), "-3");
    expect_refused("a.ply", ply("ascii", "3", "1") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "face 0");
    expect_refused("a.ply", ply("ascii", "3", "1") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "face 0");
    expect_refused("a.ply", ply("ascii", "3", "1") + "0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", "vertex 1");
    expect_refused("a.ply", ply("ascii", "3", "1") + "0 0 0\n1 inf 0\n0 1 0\n3 0 1 2\n", "vertex 1");
    expect_refused("a.ply", ply("ascii", "3", "1") + "0 0 0\n1 x 0\n0 1 0\n3 0 1 2\n", "\"x\"");
    expect_refused("a.ply", ply("ascii", "3", "1") + "0 0 0\n1 0 0\n0 1 0\n3 0 1", "truncated");
    expect_refused("a.ply", ply("ascii", "3", "4000000000000") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
                   "truncated");
    expect_refused("a.ply", ply("binary_little_endian", "18446744073709551615", "1") + "0123456789",
                   "truncated");
    expect_refused("a.ply", ply("binary_little_endian", "99999999999999999999999999", "1") + "0123456789",
                   "truncated");
    expect_refused("a.ply", ply("binary_little_endian", "2", "1") + std::string(24, '\0') + "\3",
                   "truncated");
    expect_refused("a.ply",
                   "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
                   "float z\nend_header\n0 0 0\n",
                   "");
    expect_refused("a.ply",
                   "ply\nformat ascii 1.0\nelement nothing 1000000000\nelement face 1\nproperty list uchar "
                   "int vertex_indices\nend_header\n3 0 0 0\n",
                   "truncated");
}

TEST_F(BadScene, Gltf) {
    expect_refused("a.gltf", "{", "JSON");
    expect_refused("a.gltf", "[]", "no glTF");
    expect_refused("a.gltf", R"({"asset":{"version":"1.0"}})", "2.0");
    expect_refused("a.gltf", R"({"asset":{"version":"2.0"},"meshes":{}})", "list");
    expect_refused("a.gltf", R"({"asset":{"version":"2.0"},"meshes":[3]})", "");
    expect_refused("a.gltf", R"({"asset":{"version":"2.0"},"scenes":[{"nodes":[]}],"scene":0})", "");
    expect_refused("a.gltf", R"({"asset":{"version":"2.0"},"extensionsRequired":["KHR_texture_basisu"]})",
                   "basisu");
    GltfParts parts;
    expect_refused("a.gltf", parts.json("lost.bin"), "lost.bin");
    expect_refused("a.gltf", parts.json("data:text/plain,hello"), "base64");
    expect_refused("a.gltf", parts.json("data:a;base64,AAAA"), "truncated");
    expect_refused("a.gltf", parts.json(""), "no data");
    parts.position_count = 4;
    expect_refused(parts, "reaches past");
    parts.position_count = 1000000000;
    expect_refused(parts, "reaches past");
    parts = {};
    parts.index_count = 6;
    expect_refused(parts, "reaches past");
    parts = {};
    parts.indices[1] = 3;
    expect_refused(parts, "names vertex 3 of 3");
    parts = {};
    parts.positions[4] = std::numeric_limits<float>::quiet_NaN();
    expect_refused(parts, "vertex 1");
    parts = {};
    parts.primitive_extra = R"(,"material":5)";
    expect_refused(parts, "material");
    parts = {};
    parts.nodes = R"({"mesh":7})";
    expect_refused(parts, "mesh");
    parts.nodes = R"({"mesh":0,"children":[9]})";
    expect_refused(parts, "child");
    parts.nodes = R"({"mesh":0,"children":[0]})";
    expect_refused(parts, "ancestor");
    parts.nodes = R"({"mesh":0,"matrix":[1,0,0,0.1,0,1,0,0,0,0,1,0,0,0,0,1]})";
    expect_refused(parts, "affine");
    parts.nodes = R"({"mesh":0,"rotation":[0,0,0,0]})";
    expect_refused(parts, "rotation");
    parts.nodes = R"({"children":[1]},{"children":[2]},{"mesh":0,"children":[0]})";
    expect_refused(parts, "ancestor");
    parts = {};
    parts.roots = "4";
    expect_refused(parts, "node");
    parts = {};
    parts.primitive_extra = R"(,"material":0)";
    parts.extra = R"(,"materials":[{"pbrMetallicRoughness":"shiny"}])";
    expect_refused(parts, "material");
    parts.extra = R"(,"materials":[{"pbrMetallicRoughness":{"metallicFactor":1.5}}])";
    expect_refused(parts, "factor");
    parts.extra = R"(,"materials":[{"emissiveFactor":[-1,0,0]}])";
    expect_refused(parts, "colour");
}

TEST_F(BadScene, TruncatedGlb) {
    const std::string glb = GltfParts{}.binary();
    for (std::size_t size = 4; size < glb.size(); size += 7)
        expect_refused("cut.glb", glb.substr(0, size), "");
}

/// Damage at random: the file is refused or it is read, and either way we are still here afterwards.
TEST_F(BadScene, DamagedFilesNeverCrash) {
    std::mt19937 random(7);
    const std::string obj =
        "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\nusemtl m\nf 1/1/1 2/1/1 3/1/1\n";
    const std::string ascii = ply("ascii", "3", "1") + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    GltfParts parts;
    parts.primitive_extra = R"(,"material":0)";
    parts.extra =
        R"(,"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[1,1,1,1]}}],"cameras":[{"type":"perspective","perspective":{"yfov":1}}])";
    int read = 0;
    for (int i = 0; i < 500; ++i) {
        for (const auto& [name, whole] : {std::pair<const char*, std::string>{"a.obj", obj},
                                          {"a.ply", ascii},
                                          {"a.gltf", parts.embedded()},
                                          {"a.glb", parts.binary()}}) {
            std::string damaged = whole;
            for (auto hits = 1 + random() % 3; hits > 0; --hits) {
                const std::size_t at = random() % damaged.size();
                if (random() % 2 == 0)
                    damaged[at] = static_cast<char>(random());
                else
                    damaged.erase(at, 1 + random() % 5);
            }
            try {
                static_cast<void>(load_scene(folder_.write(name, damaged), 0.5f));
                ++read;
            } catch (const headrace::Error& error) {
                ASSERT_TRUE(error.is_users_mistake()) << error.what();
            }
        }
    }
    EXPECT_GT(read, 0); // some damage is harmless
}

} // namespace
} // namespace path_tracer::test
