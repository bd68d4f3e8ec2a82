// Scene files as other programs write them: what they mean is shown, and what is not shown is named.
#include "apps/error_of.hpp"
#include "apps/gltf_builder.hpp"
#include "scene.hpp"
#include "vector_math.hpp"
#include <core/scratch_folder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace path_tracer::test {
namespace {

using headrace::test::error_of;
using headrace::test::mentions;
using headrace::test::ScratchFolder;

constexpr const char* mark = "\xEF\xBB\xBF";
const std::string square = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\n";
const std::string red = "newmtl red\nKd 0 0 0\nKe 0.25 0 0\n";

std::string all_notes(const Scene& scene) {
    std::string all;
    for (const std::string& note : scene.notes) all += note + '\n';
    return all;
}
bool has_note(const Scene& scene, const std::string& word) {
    return all_notes(scene).find(word) != std::string::npos;
}
double area(const Scene& scene) {
    double sum = 0;
    for (const SceneTriangle& t : scene.triangles) sum += length(cross(t.b - t.a, t.c - t.a)) / 2;
    return sum;
}
const SurfaceDescription& first_material(const Scene& scene) {
    return scene.materials.at(scene.triangles.at(0).material);
}

class ForeignScene : public testing::Test {
protected:
    Scene load(std::string_view name, const std::string& content) {
        return load_scene(folder_.write(name, content), albedo);
    }
    headrace::Error refusal(std::string_view name, const std::string& content) {
        headrace::Error error = error_of([&] { static_cast<void>(load(name, content)); });
        EXPECT_TRUE(error.is_users_mistake()) << error.what();
        return error;
    }
    /// The square with one face, under materials that `mtl` defines in s.mtl.
    Scene load_with(const std::string& mtl, const std::string& material) {
        folder_.write("s.mtl", mtl);
        return load("s.obj", "mtllib s.mtl\n" + square + "usemtl " + material + "\nf 1 2 3 4\n");
    }
    Scene load(const GltfParts& parts) { return load("s.gltf", parts.embedded()); }

    static constexpr float albedo = 0.3f;
    ScratchFolder folder_;
};

// ---- text

using ForeignText = ForeignScene;

TEST_F(ForeignText, ByteOrderMarksAreNoText) {
    folder_.write("s.mtl", mark + red);
    const Scene obj =
        load("s.obj", mark + square + "mtllib s.mtl\nusemtl red\nf 1 2 3\n"); // the first line is a vertex
    EXPECT_EQ(obj.triangles.at(0).a, (Point{-1, -1, 0}));
    EXPECT_EQ(first_material(obj).emission.r, 0.25f);
    EXPECT_EQ(obj.notes.size(), 0u) << all_notes(obj);
    EXPECT_EQ(load("s.gltf", mark + GltfParts{}.embedded()).triangles.size(), 1u);
    EXPECT_EQ(
        load("s.ply", std::string(mark) +
                          "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float "
                          "y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                          "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
            .triangles.size(),
        1u);
}

TEST_F(ForeignText, MaterialLibrariesAreNamedInManyWays) {
    std::filesystem::create_directory(folder_.path() / "sub");
    for (const char* name : {"mm q.mtl", "sub/m.mtl", "red.mtl", "x#1.mtl"}) folder_.write(name, red);
    folder_.write("blue.mtl", "newmtl blue\nKd 0 0 0\nKe 0 0 1\n");
    for (const char* named : {"\"mm q.mtl\"", "mm q.mtl", "sub\\m.mtl", "blue.mtl red.mtl",
                              "red.mtl blue.mtl", "blue.mtl mm q.mtl", "\"blue.mtl\" \"mm q.mtl\"",
                              "red.mtl # of the shop", "x#1.mtl", "./red.mtl", "sub/../red.mtl"}) {
        const Scene scene =
            load("s.obj", std::string("mtllib ") + named + '\n' + square + "usemtl red\nf 1 2 3 4\n");
        EXPECT_EQ(first_material(scene).emission.r, 0.25f) << named << '\n' << all_notes(scene);
    }
}

TEST_F(ForeignText, MaterialLibrariesMayBeMissing) {
    folder_.write("red.mtl", red);
    for (const char* named : {"", "\"\"", "# none", "lost.mtl", "\"lost one.mtl\"", "lost.mtl red.mtl"}) {
        const Scene scene =
            load("s.obj", std::string("mtllib ") + named + '\n' + square + "usemtl red\nf 1 2 3 4\n");
        EXPECT_EQ(area(scene), 4) << named;
        EXPECT_FALSE(scene.notes.empty()) << named;
    }
}

TEST_F(ForeignText, RemarksStandBehindData) {
    folder_.write("s.mtl",
                  "newmtl red # a remark\nKd 0 0 0 # black\nKe 0.25 0 0# red\nnewmtl red #2\nKe 0 1 0\n");
    const Scene scene =
        load("s.obj", "# the next line is no part of this one \\\nv -1 -1 0 # one\nv 1 -1 0#two\n"
                      "v 1 1 0\nv -1 1 0\nmtllib s.mtl # red\nusemtl red # a remark too\n"
                      "f 1 2 3 4 # all\nusemtl red #2\nf 1 2 3\n");
    EXPECT_EQ(first_material(scene).emission.r, 0.25f) << all_notes(scene);
    EXPECT_EQ(scene.materials.at(scene.triangles.at(2).material).emission.g, 1); // a name with a '#'
    EXPECT_EQ(scene.triangles.size(), 3u);
    EXPECT_EQ(scene.notes.size(), 0u) << all_notes(scene);
}

TEST_F(ForeignText, MaterialsMayBeUsedBeforeTheirLibraryIsNamed) {
    folder_.write("s.mtl", red);
    EXPECT_EQ(first_material(load("s.obj", square + "usemtl red\nf 1 2 3\nmtllib s.mtl\n")).emission.r,
              0.25f);
}

TEST_F(ForeignText, LinesMayEndAsOnOldMacintoshes) {
    std::string text = square + "f 1 2 3 4\n";
    std::replace(text.begin(), text.end(), '\n', '\r');
    EXPECT_EQ(area(load("s.obj", text)), 4);
}

// ---- what is not used

using UnusedParts = ForeignScene;

TEST_F(UnusedParts, OfObjMayBeWrong) {
    for (const char* face : {"f 1//1 2//1 3//1 4//1", "f 1/1 2/2 3/3 4/4", "f 1/1/0 2/1/0 3/1/0 4/1/0",
                             "f 1/x 2/1 3/1 4/1", "f 1/-7 2/-7 3/-7 4/-7", "f 1 2\nf 1 2 3 4"}) {
        const Scene scene = load("s.obj", square + face + '\n');
        EXPECT_EQ(area(scene), 4) << face;
        EXPECT_TRUE(has_note(scene, "line 5")) << face << '\n' << all_notes(scene);
    }
    EXPECT_EQ(area(load("s.obj", square + "v nan 0 0\nv 1\nv x y z\nf 1 2 3 4\n")), 4);
    EXPECT_TRUE(mentions(refusal("s.obj", square + "v nan 0 0\nf 1 2 5\n"), "line 5"));
    EXPECT_TRUE(mentions(refusal("s.obj", square + "v 1 2 3 4 5\nf 1 2 5\n"), "5 numbers"));
}

TEST_F(UnusedParts, OfMtlMayBeWrong) {
    for (const char* other :
         {"newmtl broken\nKd abc\n", "newmtl broken\nillum x\n", "newmtl broken\nKd -1 0 0\n"}) {
        const Scene scene = load_with(red + other, "red");
        EXPECT_EQ(first_material(scene).emission.r, 0.25f);
        EXPECT_TRUE(has_note(scene, "not used")) << other << all_notes(scene);
    }
    for (const char* line : {"Ni 0\nillum 2", "Ni x\nillum 2", "Ks abc\nillum 1", "Tf x\nillum 2"}) {
        const Scene scene = load_with(red + line + '\n', "red");
        EXPECT_EQ(first_material(scene).emission.r, 0.25f);
        EXPECT_EQ(first_material(scene).ior, 1.5f); // what kernels divide by
        EXPECT_TRUE(has_note(scene, "not used")) << line;
    }
    EXPECT_TRUE(mentions(error_of([&] { load_with(red + "illum 7\nNi 0\n", "red"); }), "refraction"));
}

TEST_F(UnusedParts, OfGltfMayBeWrong) {
    GltfParts parts;
    parts.primitive_extra = R"(},{"attributes":{})";
    Scene scene = load(parts);
    EXPECT_EQ(scene.triangles.size(), 1u);
    EXPECT_TRUE(has_note(scene, "no positions"));

    std::string text = GltfParts{}.embedded();
    text.replace(text.find(R"("buffers":[)"), 11, R"("buffers":[{"uri":"none.bin","byteLength":4},)");
    for (std::size_t at = 0; (at = text.find(R"("buffer":0)", at)) != text.npos;)
        text.replace(at, 10, R"("buffer":1)");
    scene = load("b.gltf", text);
    EXPECT_EQ(scene.triangles.size(), 1u);
    EXPECT_TRUE(has_note(scene, "none.bin"));

    parts = {};
    parts.nodes = R"({"mesh":0},{"mesh":7,"children":[1,99]})"; // the second is in no scene
    parts.extra = R"(,"materials":[{"emissiveFactor":"red"}])";
    EXPECT_EQ(load(parts).triangles.size(), 1u);
    parts = {};
    parts.positions[0] = NAN;
    parts.indices = {1, 2, 1};
    EXPECT_TRUE(
        mentions(refusal("n.gltf", parts.embedded()), "no triangles")); // not of the vertex, which is unused
}

TEST_F(UnusedParts, OfPlyMayBeWrong) {
    const std::string header = "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\n"
                               "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                               "end_header\n-1 -1 0\n1 -1 0\n1 1 0\n-1 1 0\nnan 0 0\n";
    EXPECT_EQ(area(load("s.ply", header + "4 0 1 2 3\n")), 4);
    EXPECT_TRUE(mentions(refusal("s.ply", header + "3 0 1 4\n"), "vertex 4"));
}

// ---- PLY

class ForeignPly : public ForeignScene {
protected:
    static std::string header(const std::string& format, const std::string& more_of_vertex,
                              const std::string& faces) {
        return "ply\nformat " + format + " 1.0 \nelement vertex 4\nproperty float x\nproperty float y\n" +
               "property float z\n" + more_of_vertex + faces + "end_header \n";
    }
    static constexpr const char* faces = "element face 1\nproperty list uchar int vertex_indices\n";
    static constexpr const char* corners = "-1 -1 0\n1 -1 0\n1 1 0\n-1 1 0\n";
};

TEST_F(ForeignPly, RowsOfTextAreAsWideAsDeclared) {
    const std::string four = header("ascii", "property float nx\n", faces);
    const headrace::Error wide =
        refusal("w.ply", four + "-1 -1 0 0 9\n1 -1 0 0 9\n1 1 0 0 9\n-1 1 0 0 9\n4 0 1 2 3\n");
    EXPECT_TRUE(mentions(wide, "line 11")) << wide.what();
    EXPECT_TRUE(mentions(wide, "5 numbers")) << wide.what();
    EXPECT_TRUE(mentions(wide, "declares 4")) << wide.what();
    const std::string three = header("ascii", "", faces);
    for (const char* face : {"3 0 1 2 3 0 0 0\n", "4 0 1 2\n3\n", "4 0 1 2 3 4 0 1\n", "3 0 1\n"})
        EXPECT_TRUE(mentions(refusal("w.ply", three + corners + face), "line 14")) << face;
    EXPECT_TRUE(mentions(refusal("w.ply", three + "-1 -1 0 1 -1 0\n1 1 0 -1 1 0\n\n4 0 1 2 3\n"), "line 10"));
    EXPECT_TRUE(mentions(refusal("w.ply", three + corners + "3 0 1 1.5\n"), "1.5"));
    EXPECT_EQ(area(load("w.ply", three + "\n-1 -1 0 \r\n1 -1 0\n\n1 1 0\n\t-1 1 0\n4 0 1 2 3")), 4);
    EXPECT_TRUE(has_note(load("w.ply", three + corners + "4 0 1 2 3\n3 0 1 2\n"), "line 15"));
}

TEST_F(ForeignPly, VerticesHaveThreeCoordinates) {
    std::string text = header("ascii", "", faces);
    text.erase(text.find("property float z\n"), 17);
    EXPECT_TRUE(mentions(refusal("z.ply", text + "-1 -1\n1 -1\n1 1\n-1 1\n4 0 1 2 3\n"), "without one z"));
}

TEST_F(ForeignPly, StripsBecomeTriangles) {
    const std::string strips =
        header("ascii", "", "element tristrips 1\nproperty list int int vertex_indices\n");
    const Scene scene = load("s.ply", strips + "-1 -1 0\n1 -1 0\n-1 1 0\n1 1 0\n8 0 1 2 3 -1 0 1 2\n");
    EXPECT_EQ(scene.triangles.size(), 3u);
    EXPECT_EQ(area(scene), 6);
    for (const SceneTriangle& t : scene.triangles) EXPECT_GT(cross(t.b - t.a, t.c - t.a).z, 0);
    std::string binary =
        header("binary_little_endian", "", "element tristrips 1\nproperty list int int vertex_indices\n");
    const std::array<float, 12> places = {-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0};
    const std::array<std::int32_t, 6> list = {5, 0, 1, 2, 3, -1};
    binary.append(reinterpret_cast<const char*>(places.data()), sizeof places);
    binary.append(reinterpret_cast<const char*>(list.data()), sizeof list);
    EXPECT_EQ(area(load("b.ply", binary)), 4);
}

TEST_F(ForeignPly, WhatIsNotShownIsNamed) {
    const Scene coloured =
        load("c.ply", header("ascii", "property uchar red\nproperty uchar green\n",
                             std::string(faces) + "element edge 1\nproperty int vertex1\n") +
                          "-1 -1 0 1 1\n1 -1 0 1 1\n1 1 0 1 1\n-1 1 0 1 1\n4 0 1 2 3\n0\n");
    ASSERT_EQ(coloured.notes.size(), 1u) << all_notes(coloured);
    EXPECT_TRUE(has_note(coloured, "vertex colours"));
    EXPECT_TRUE(has_note(coloured, "edge"));
}

// ---- OBJ and MTL

using ForeignObj = ForeignScene;

TEST_F(ForeignObj, WhatIsNotShownIsNamed) {
    const Scene scene = load("s.obj", "v -1 -1 0 1 1 0 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\nl 1 2\n");
    ASSERT_EQ(scene.notes.size(), 1u) << all_notes(scene);
    EXPECT_TRUE(has_note(scene, "vertex colours"));
    EXPECT_TRUE(has_note(scene, "lines"));
}

TEST_F(ForeignObj, TexturesLeaveNoFactorBehind) {
    const Scene scene = load_with("newmtl t\nKd 1 1 1\nmap_Kd a.png\nKe 1 1 1\nmap_Ke b.png\nKs 1 1 1\n"
                                  "map_Ks c.png\nillum 3\n",
                                  "t");
    const SurfaceDescription& surface = first_material(scene);
    EXPECT_EQ(surface.diffuse().r, albedo);
    EXPECT_TRUE(is_black(surface.emission));
    EXPECT_TRUE(is_black(surface.mirror));
    EXPECT_TRUE(has_note(scene, "map_Ke"));
}

TEST_F(ForeignObj, GlassIsWhatLetsLightThrough) {
    const auto is_glass = [&](const std::string& lines) {
        return !is_black(first_material(load_with("newmtl a\nKd 0.2 0.2 0.2\n" + lines, "a")).glass());
    };
    EXPECT_FALSE(
        is_glass("Ni 1.5\nd 1\nTr 0\nTf 1 1 1\nillum 4\n")); // what Maya writes for all that is opaque
    EXPECT_FALSE(is_glass("Tf 1 1 1\nillum 4\n"));
    EXPECT_FALSE(is_glass("d 1\nillum 9\n"));
    EXPECT_TRUE(is_glass("d 0.2\nTf 1 1 1\nillum 4\n"));
    EXPECT_TRUE(is_glass("Tr 0.8\nillum 4\n"));
    EXPECT_TRUE(is_glass("Tf 0.9 0.9 1\nillum 4\n"));
    EXPECT_TRUE(is_glass("Tf 1 1 1\nillum 7\n"));
    EXPECT_EQ(
        first_material(load_with("newmtl a\nKd 0.2 0.2 0.2\nd 1\nTf 1 1 1\nillum 4\n", "a")).diffuse().r,
        0.2f);
}

// ---- glTF

using ForeignGltf = ForeignScene;

TEST_F(ForeignGltf, RequiredExtensionsAreKnownOrRefusedByName) {
    GltfParts parts;
    for (const char* name :
         {"EXT_texture_webp", "FOO_bar", "KHR_materials_pbrSpecularGlossiness", "KHR_texture_basisu"}) {
        parts.extra =
            R"(,"extensionsUsed":[")" + std::string(name) + R"("],"extensionsRequired":[")" + name + R"("])";
        EXPECT_TRUE(mentions(refusal("r.gltf", parts.embedded()), name));
    }
}

TEST_F(ForeignGltf, WhatIsNotShownIsNamedOnce) {
    GltfParts parts;
    parts.primitive_extra = R"(,"material":0,"targets":[{"POSITION":0}])";
    parts.nodes = R"({"mesh":0,"skin":0,"extensions":{"MSFT_lod":{"ids":[]}}})";
    parts.extra =
        R"(,"materials":[{"alphaMode":"FADE","pbrMetallicRoughness":{"metallicFactor":0}}],"skins":[{}],)"
        R"("animations":[{}],"extensionsUsed":["MSFT_lod","FOO_bar"])";
    std::string text = parts.embedded();
    text.replace(text.find(R"("POSITION":0)"), 12, R"("POSITION":0,"COLOR_1":0)");
    const Scene scene = load("s.gltf", text);
    ASSERT_EQ(scene.notes.size(), 1u) << all_notes(scene);
    for (const char* name :
         {"MSFT_lod", "the skin of mesh 0, primitive 0", "vertex colours", "FADE", "animations", "FOO_bar"})
        EXPECT_TRUE(has_note(scene, name)) << name;
}

TEST_F(ForeignGltf, TexturesLeaveNoFactorBehind) {
    GltfParts parts;
    parts.primitive_extra = R"(,"material":0)";
    const auto surface_of = [&](const std::string& material) {
        parts.extra = R"(,"materials":[)" + material + "]";
        const Scene scene = load(parts);
        EXPECT_TRUE(has_note(scene, "texture")) << material;
        return first_material(scene);
    };
    const SurfaceDescription metal = surface_of(
        R"({"pbrMetallicRoughness":{"baseColorTexture":{"index":0},"metallicRoughnessTexture":{"index":0}}})");
    EXPECT_TRUE(is_black(metal.metal()));
    EXPECT_EQ(metal.diffuse().r, albedo);
    const SurfaceDescription lamp = surface_of(
        R"({"pbrMetallicRoughness":{"baseColorFactor":[0.2,0.2,0.2,1],"metallicFactor":0},"emissiveFactor":[1,1,1],"emissiveTexture":{"index":0}})");
    EXPECT_TRUE(is_black(lamp.emission));
    EXPECT_EQ(lamp.diffuse().r, 0.2f);
    const SurfaceDescription window = surface_of(
        R"({"pbrMetallicRoughness":{"metallicFactor":0},"extensions":{"KHR_materials_transmission":{"transmissionFactor":1,"transmissionTexture":{"index":0}}}})");
    EXPECT_TRUE(is_black(window.glass()));
    const SurfaceDescription old = surface_of(
        R"({"extensions":{"KHR_materials_pbrSpecularGlossiness":{"diffuseTexture":{"index":0}}}})");
    EXPECT_TRUE(is_black(old.metal()));
}

TEST_F(ForeignGltf, CamerasKeepTheirRoll) {
    GltfParts parts;
    parts.roots = "0,1";
    parts.extra = R"(,"cameras":[{"type":"perspective","perspective":{"yfov":0.8,"znear":0.1}}])";
    const auto up_of = [&](const std::string& rotation) {
        parts.nodes = R"({"mesh":0},{"camera":0,"translation":[0,0,3],"rotation":)" + rotation + "}";
        const Scene scene = load(parts);
        return wide(make_camera(scene.cameras.at(0).pose, {}, 8, 8).down) * -1;
    };
    const double half = std::sqrt(0.5);
    EXPECT_NEAR(normalised(up_of("[0,0,0,1]")).y, 1, 1e-6);
    EXPECT_NEAR(normalised(up_of("[0,0,1,0]")).y, -1, 1e-6); // upside down
    const std::string h = std::to_string(half);
    EXPECT_NEAR(normalised(up_of("[0,0," + h + "," + h + "]")).x, -1, 1e-5);  // a quarter turn to the left
    EXPECT_NEAR(normalised(up_of("[-" + h + ",0,0," + h + "]")).z, -1, 1e-5); // straight down, the top is -z
    EXPECT_NEAR(normalised(up_of("[0," + h + "," + h + ",0]")).z, 1, 1e-5); // the same, turned by half a turn
}

TEST_F(ForeignGltf, CamerasThatSeeNothingAreLeftOutWithANote) {
    GltfParts parts;
    parts.nodes = R"({"mesh":0,"camera":0})";
    for (const char* camera : {R"({"type":"perspective","perspective":{}})", R"({"type":"orthographic"})",
                               R"({"perspective":{"yfov":3.2}})"}) {
        parts.extra = std::string(R"(,"cameras":[)") + camera + "]";
        const Scene scene = load(parts);
        EXPECT_TRUE(scene.cameras.empty());
        EXPECT_TRUE(has_note(scene, "camera")) << camera;
    }
}

TEST_F(ForeignGltf, NodesNestDeeperThanAnyStack) {
    GltfParts parts;
    parts.nodes.clear();
    constexpr int depth = 20000;
    for (int i = 1; i < depth; ++i)
        parts.nodes += R"({"translation":[0,0,0.5],"children":[)" + std::to_string(i) + "]},";
    parts.nodes += R"({"mesh":0})";
    EXPECT_EQ(load(parts).triangles.at(0).a.z, 0.5 * (depth - 1));
}

TEST_F(ForeignGltf, BuffersHaveEncodedNames) {
    const GltfParts parts;
    folder_.write("b\xC3\xBC"
                  "cher 1.bin",
                  parts.buffer());
    EXPECT_EQ(load("p.gltf", parts.json("b%C3%BCcher%201.bin")).triangles.size(), 1u);
    folder_.write("100%25.bin", parts.buffer()); // a name that an exporter forgot to encode
    EXPECT_EQ(load("p.gltf", parts.json("100%25.bin")).triangles.size(), 1u);
}

TEST_F(ForeignGltf, PositionsMayBeQuantised) {
    GltfParts parts;
    const auto load_as = [&](int component, const std::string& more, const auto& coordinates) {
        std::string bytes(36, '\0');
        for (std::size_t vertex = 0; vertex < 3; ++vertex) // the view's stride is 12 here
            std::memcpy(bytes.data() + vertex * 12, &coordinates[vertex * 3], 3 * sizeof coordinates[0]);
        bytes += parts.buffer().substr(36);
        std::string text = parts.json("data:application/octet-stream;base64," + base64(bytes));
        text.replace(text.find("5126"), 4, std::to_string(component) + more);
        text.replace(text.find(R"("byteLength":36)"), 15, R"("byteLength":36,"byteStride":12)");
        text.insert(
            text.size() - 1,
            R"(,"extensionsUsed":["KHR_mesh_quantization"],"extensionsRequired":["KHR_mesh_quantization"])");
        return load("q.gltf", text).triangles.at(0);
    };
    const std::array<std::int16_t, 9> shorts = {-32768, -32767, 0, 32767, 0, 0, 0, 32767, 0};
    SceneTriangle t = load_as(5122, R"(,"normalized":true)", shorts);
    EXPECT_EQ(t.a, (Point{-1, -1, 0}));
    EXPECT_EQ(t.b, (Point{1, 0, 0}));
    t = load_as(5122, "", shorts);
    EXPECT_EQ(t.a, (Point{-32768, -32767, 0}));
    const std::array<std::uint8_t, 9> bytes = {0, 0, 51, 255, 0, 0, 0, 255, 0};
    t = load_as(5121, R"(,"normalized":true)", bytes);
    EXPECT_EQ(t.a, (Point{0, 0, 0.2}));
    EXPECT_EQ(t.b, (Point{1, 0, 0}));
}

TEST_F(ForeignGltf, AccessorsMayBeSparse) {
    GltfParts parts;
    const std::string whole = R"({"bufferView":0,"componentType":5126)";
    const std::string sparse =
        R"(,"sparse":{"count":1,"indices":{"bufferView":1,"byteOffset":4,"componentType":5123},"values":{"bufferView":0,"byteOffset":12}})";
    std::string text = parts.embedded(); // vertex 2, which index 2 names, becomes vertex 1's place
    text.replace(text.find(whole), whole.size(), whole + sparse);
    EXPECT_TRUE(mentions(refusal("s.gltf", text), "no triangles")); // two corners are one
    // Without numbers of its own it is zeros, but for vertices 1 and 2.
    text = parts.embedded();
    text.replace(
        text.find(whole), whole.size(),
        R"({"componentType":5126,"sparse":{"count":2,"indices":{"bufferView":1,"byteOffset":2,"componentType":5123},"values":{"bufferView":0,"byteOffset":12}})");
    const SceneTriangle t = load("s.gltf", text).triangles.at(0);
    EXPECT_EQ(t.a, (Point{0, 0, 0}));
    EXPECT_EQ(t.b, (Point{1, 0, 0}));
    EXPECT_EQ(t.c, (Point{0, 1, 0}));
    text.replace(text.find(R"("count":2,"indices")"), 9, R"("count":9)");
    EXPECT_TRUE(mentions(refusal("s.gltf", text), "reaches past"));
}

TEST_F(ForeignGltf, ChunksMayLackTheirPadding) {
    GltfParts parts;
    for (const std::string spaces : {"", " ", "  ", "   "}) {
        parts.extra = R"(,"extras":")" + spaces + '"';
        const std::string text = parts.json(""), bytes = parts.buffer();
        std::string glb = "glTF";
        const auto word = [&glb](std::size_t value) {
            const auto fixed = static_cast<std::uint32_t>(value);
            glb.append(reinterpret_cast<const char*>(&fixed), 4);
        };
        word(2), word(28 + text.size() + bytes.size()), word(text.size());
        glb += "JSON" + text;
        word(bytes.size());
        glb += std::string("BIN\0", 4) + bytes;
        EXPECT_EQ(load("u.glb", glb).triangles.size(), 1u) << spaces.size();
    }
}

TEST_F(ForeignGltf, StripsAndFansBecomeTriangles) {
    GltfParts parts;
    parts.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    parts.indices = {0, 1, 2, 3};
    std::string text = parts.embedded();
    const auto with_mode = [&](const char* mode) {
        std::string changed = text;
        changed.replace(changed.find(R"("indices":1)"), 11, std::string(R"("mode":)") + mode);
        changed.replace(changed.find(R"("byteLength":36)"), 15, R"("byteLength":48)");
        changed.replace(changed.find(R"("count":3)"), 9, R"("count":4)");
        return load("m.gltf", changed);
    };
    for (const SceneTriangle& t : with_mode("5").triangles) EXPECT_GT(cross(t.b - t.a, t.c - t.a).z, 0);
    EXPECT_EQ(area(with_mode("5")), 1);
    EXPECT_EQ(with_mode("6").triangles.size(), 2u);
    EXPECT_TRUE(mentions(error_of([&] { with_mode("1"); }), "no triangles"));
}

// ---- files that a file names

using NamedFiles = ForeignScene;

TEST_F(NamedFiles, AreBelowTheFolderOfTheScene) {
    const GltfParts parts;
    std::filesystem::create_directory(folder_.path() / "scene");
    std::filesystem::create_directory(folder_.path() / "scene" / "sub");
    folder_.write("outside.bin", parts.buffer());
    folder_.write("scene/inside.bin", parts.buffer());
    std::filesystem::create_symlink("../outside.bin", folder_.path() / "scene/link.bin");
    const std::string outside = (folder_.path() / "outside.bin").string(),
                      inside = (folder_.path() / "scene/inside.bin").string();
    for (const std::string& name :
         {std::string("../outside.bin"), std::string("%2e%2e/outside.bin"), std::string("link.bin"), outside,
          inside, std::string("sub/../../outside.bin")}) {
        const auto file = folder_.write("scene/s.gltf", parts.json(name));
        const headrace::Error error = error_of([&] { static_cast<void>(load_scene(file, albedo)); });
        EXPECT_TRUE(mentions(error, "--allow-outside")) << name << error.what();
        EXPECT_EQ(load_scene(file, albedo, {.allow_outside = true}).triangles.size(), 1u) << name;
    }
    for (const char* name : {"inside.bin", "./inside.bin", "sub/../inside.bin"})
        EXPECT_EQ(load_scene(folder_.write("scene/s.gltf", parts.json(name)), albedo).triangles.size(), 1u);
    const auto obj = folder_.write("scene/s.obj", "mtllib ../s.mtl\n" + square + "f 1 2 3\n");
    EXPECT_TRUE(mentions(error_of([&] { static_cast<void>(load_scene(obj, albedo)); }), "--allow-outside"));
}

TEST_F(NamedFiles, AreNoLargerThanAllowed) {
    const GltfParts parts;
    folder_.write("b.bin", parts.buffer() + std::string(5000, '\0'));
    const auto file = folder_.write("s.gltf", parts.json("b.bin"));
    EXPECT_EQ(load_scene(file, albedo, {.largest = 5042}).triangles.size(), 1u);
    for (const std::uint64_t largest : {5041, 100})
        EXPECT_TRUE(
            mentions(error_of([&] { static_cast<void>(load_scene(file, albedo, {.largest = largest})); }),
                     "--max-file-size"));
}

} // namespace
} // namespace path_tracer::test
