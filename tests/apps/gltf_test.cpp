// What glTF files become.
#include "apps/gltf_builder.hpp"
#include "scene.hpp"
#include <core/scratch_folder.hpp>

#include <gtest/gtest.h>

namespace path_tracer::test {
namespace {

using headrace::test::ScratchFolder;

const SurfaceDescription& only_material(const Scene& scene) {
    return scene.materials.at(scene.triangles.at(0).material);
}

TEST(Gltf, EmbeddedExternalAndBinaryBuffers) {
    const ScratchFolder folder;
    const GltfParts parts;
    folder.write("mesh.bin", parts.buffer());
    for (const auto& file :
         {folder.write("a.gltf", parts.embedded()), folder.write("b.gltf", parts.json("mesh.bin")),
          folder.write("c.glb", parts.binary())}) {
        const Scene scene = load_scene(file, 0.25f);
        ASSERT_EQ(scene.triangles.size(), 1u) << file;
        EXPECT_EQ(scene.triangles[0].b.x, 1);
        EXPECT_EQ(only_material(scene).diffuse.r, 0.25f); // a mesh without a material
    }
}

TEST(Gltf, MaterialsKeepTheirFactors) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.primitive_extra = R"(,"material":1)";
    const auto load = [&](const std::string& material,
                          const char* extensions = R"("KHR_materials_transmission")") {
        parts.extra = std::string(R"(,"extensionsUsed":[)") + extensions +
                      R"(],"materials":[{"name":"unused"},)" + material + "]";
        return only_material(load_scene(folder.write("m.gltf", parts.embedded()), 0.5f));
    };
    const auto matt =
        load(R"({"pbrMetallicRoughness":{"baseColorFactor":[0.1,0.2,0.3,1],"metallicFactor":0}})");
    EXPECT_NEAR(matt.diffuse.g, 0.2, 1e-6);
    EXPECT_EQ(matt.mirror.g, 0);
    const auto metal =
        load(R"({"pbrMetallicRoughness":{"baseColorFactor":[0.9,0.6,0.3,1],"metallicFactor":1}})");
    EXPECT_NEAR(metal.mirror.g, 0.6, 1e-6);
    EXPECT_EQ(metal.diffuse.g, 0);
    const auto half_metal =
        load(R"({"pbrMetallicRoughness":{"baseColorFactor":[0.8,0.8,0.8,1],"metallicFactor":0.25}})");
    EXPECT_NEAR(half_metal.mirror.r, 0.2, 1e-6);
    EXPECT_NEAR(half_metal.diffuse.r, 0.6, 1e-6);
    const auto lamp = load(
        R"({"emissiveFactor":[1,0.5,0.25],"extensions":{"KHR_materials_emissive_strength":{"emissiveStrength":12}}})");
    EXPECT_NEAR(lamp.emission.r, 12, 1e-5);
    EXPECT_NEAR(lamp.emission.b, 3, 1e-5);
    const auto glass =
        load(R"({"pbrMetallicRoughness":{"metallicFactor":0},"extensions":{"KHR_materials_transmission":)"
             R"({"transmissionFactor":1},"KHR_materials_ior":{"ior":1.8}}})",
             R"("KHR_materials_transmission","KHR_materials_ior")");
    EXPECT_NEAR(glass.glass.r, 1, 1e-6);
    EXPECT_EQ(glass.diffuse.r, 0);
    EXPECT_NEAR(glass.ior, 1.8, 1e-6);
}

TEST(Gltf, NodesPlaceMeshesAndCameras) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.roots = "0,2";
    parts.nodes =
        R"({"translation":[10,0,0],"children":[1]},{"mesh":0,"scale":[2,2,2]},)"
        R"({"translation":[0,1,5],"rotation":[0,0.7071067811865476,0,0.7071067811865476],"camera":1})";
    parts.extra =
        R"(,"cameras":[{"type":"orthographic","orthographic":{"xmag":1,"ymag":1,"zfar":2,"znear":1}},)"
        R"({"type":"perspective","perspective":{"yfov":0.7853981633974483,"aspectRatio":1.7777,"znear":0.1}}])";
    const Scene scene = load_scene(folder.write("n.gltf", parts.embedded()), 0.5f);
    EXPECT_NEAR(scene.triangles.at(0).a.x, 10, 1e-5);
    EXPECT_NEAR(scene.triangles.at(0).b.x, 12, 1e-5);
    ASSERT_TRUE(scene.camera);
    EXPECT_NEAR(scene.camera->vertical_fov_degrees, 45, 1e-4);
    EXPECT_NEAR(scene.camera->eye.y, 1, 1e-5);
    EXPECT_NEAR(scene.camera->eye.z, 5, 1e-5);
    EXPECT_NEAR(scene.camera->target.x, -1, 1e-5); // a quarter turn to the left of -z
    EXPECT_NEAR(scene.camera->target.z, 5, 1e-5);
}

TEST(Gltf, MirroredNodesKeepTheirOutside) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.nodes = R"({"mesh":0,"scale":[-1,1,1]})";
    const Scene scene = load_scene(folder.write("m.gltf", parts.embedded()), 0.5f);
    const SceneTriangle& t = scene.triangles.at(0); // counter-clockwise as seen from +z, as it was
    EXPECT_GT((t.b.x - t.a.x) * (t.c.y - t.a.y) - (t.b.y - t.a.y) * (t.c.x - t.a.x), 0);
}

TEST(Gltf, NodesMayStandFarFromTheOrigin) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.nodes = R"({"mesh":0,"translation":[500000.3,4600000.7,0],"scale":[0.001,0.001,0.001]})";
    const Scene scene = load_scene(folder.write("f.gltf", parts.embedded()), 0.5f);
    // In floats the triangle would be a point, a quarter of a metre beside its place.
    EXPECT_NEAR(scene.triangles.at(0).b.x - scene.triangles.at(0).a.x, 0.001, 1e-9);
    EXPECT_NEAR(scene.triangles.at(0).a.y, 4600000.7, 1e-8);
}

TEST(Gltf, OneMeshMayStandInManyPlaces) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.roots = "0,1,2";
    parts.nodes = R"({"mesh":0},{"mesh":0,"translation":[0,0,1]},{"mesh":0,"translation":[0,0,2]})";
    EXPECT_EQ(load_scene(folder.write("i.gltf", parts.embedded()), 0.5f).triangles.size(), 3u);
}

} // namespace
} // namespace path_tracer::test
