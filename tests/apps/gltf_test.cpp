// What glTF files become.
#include "apps/error_of.hpp"
#include "apps/gltf_builder.hpp"
#include "scene.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

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
        EXPECT_EQ(only_material(scene).diffuse().r, 0.25f); // a mesh without a material
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
    EXPECT_NEAR(matt.diffuse().g, 0.2, 1e-6);
    EXPECT_EQ(matt.metal().g, 0);
    const auto metal =
        load(R"({"pbrMetallicRoughness":{"baseColorFactor":[0.9,0.6,0.3,1],"metallicFactor":1}})");
    EXPECT_NEAR(metal.metal().g, 0.6, 1e-6);
    EXPECT_EQ(metal.diffuse().g, 0);
    const auto half_metal =
        load(R"({"pbrMetallicRoughness":{"baseColorFactor":[0.8,0.8,0.8,1],"metallicFactor":0.25}})");
    EXPECT_NEAR(half_metal.metal().r, 0.2, 1e-6);
    EXPECT_NEAR(half_metal.diffuse().r, 0.6, 1e-6);
    const auto lamp = load(
        R"({"emissiveFactor":[1,0.5,0.25],"extensions":{"KHR_materials_emissive_strength":{"emissiveStrength":12}}})");
    EXPECT_NEAR(lamp.emission.r, 12, 1e-5);
    EXPECT_NEAR(lamp.emission.b, 3, 1e-5);
    const auto glass =
        load(R"({"pbrMetallicRoughness":{"metallicFactor":0},"extensions":{"KHR_materials_transmission":)"
             R"({"transmissionFactor":1},"KHR_materials_ior":{"ior":1.8}}})",
             R"("KHR_materials_transmission","KHR_materials_ior")");
    EXPECT_NEAR(glass.glass().r, 1, 1e-6);
    EXPECT_EQ(glass.diffuse().r, 0);
    EXPECT_NEAR(glass.ior, 1.8, 1e-6);
}

TEST(Gltf, MaterialsKeepTheirExtensions) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.primitive_extra = R"(,"material":0)";
    const auto load = [&](const std::string& extensions, const std::string& pbr = R"("metallicFactor":0)") {
        parts.extra =
            R"(,"materials":[{"pbrMetallicRoughness":{)" + pbr + R"(},"extensions":{)" + extensions + "}}]";
        const Scene scene = load_scene(folder.write("m.gltf", parts.embedded()), 0.5f);
        EXPECT_TRUE(scene.notes.empty()) << scene.notes.at(0);
        return only_material(scene);
    };
    const auto plain = load("");
    EXPECT_EQ(plain.roughness, 1);
    EXPECT_NEAR(plain.highlight.r, 0.04, 1e-6);
    EXPECT_EQ(plain.highlight_edge, 1);
    EXPECT_EQ(load("", R"("roughnessFactor":0.25)").roughness, 0.25f);
    EXPECT_NEAR(load(R"("KHR_materials_ior":{"ior":2})").highlight.r, 1.0 / 9, 1e-6);
    EXPECT_EQ(load(R"("KHR_materials_ior":{"ior":0})").highlight.r, 1);
    const auto specular =
        load(R"("KHR_materials_specular":{"specularFactor":0.5,"specularColorFactor":[1,0.5,2]})");
    EXPECT_EQ(specular.highlight_edge, 0.5f);
    EXPECT_NEAR(specular.highlight.g, 0.02, 1e-6);
    EXPECT_NEAR(specular.highlight.b, 0.08, 1e-6);
    const std::string glass = R"("KHR_materials_transmission":{"transmissionFactor":1})";
    EXPECT_TRUE(load(glass).is_thin);
    EXPECT_TRUE(load(glass + R"(,"KHR_materials_volume":{"thicknessFactor":0})").is_thin);
    const auto ink = load(
        glass +
        R"(,"KHR_materials_volume":{"thicknessFactor":1,"attenuationDistance":2,"attenuationColor":[1,0.5,0]})");
    EXPECT_FALSE(ink.is_thin);
    EXPECT_EQ(ink.absorption.r, 0);
    EXPECT_NEAR(ink.absorption.g, std::log(2.0) / 2, 1e-6);
    EXPECT_GT(ink.absorption.b, 5);                                 // black after some way
    EXPECT_EQ(load(glass, R"("metallicFactor":1)").transmitted, 0); // metal lets nothing pass
    EXPECT_EQ(load(R"("KHR_materials_clearcoat":{"clearcoatRoughnessFactor":2})").coat, 0); // not used
    const auto coat =
        load(R"("KHR_materials_clearcoat":{"clearcoatFactor":0.5,"clearcoatRoughnessFactor":0.25})");
    EXPECT_EQ(coat.coat, 0.5f);
    EXPECT_EQ(coat.coat_roughness, 0.25f);
    const auto cloth =
        load(R"("KHR_materials_sheen":{"sheenColorFactor":[0.5,0.25,1],"sheenRoughnessFactor":0.75})");
    EXPECT_EQ(cloth.sheen.g, 0.25f);
    EXPECT_EQ(cloth.sheen_roughness, 0.75f);
}

TEST(Gltf, MaterialsBeyondTheirRangesAreRefused) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.primitive_extra = R"(,"material":0)";
    for (
        const char* extensions :
        {R"("KHR_materials_clearcoat":{"clearcoatFactor":1.5})",
         R"("KHR_materials_clearcoat":{"clearcoatFactor":0.5,"clearcoatRoughnessFactor":-1})",
         R"("KHR_materials_sheen":{"sheenColorFactor":[2,0,0]})",
         R"("KHR_materials_specular":{"specularFactor":2})",
         R"("KHR_materials_transmission":{"transmissionFactor":1},"KHR_materials_volume":{"thicknessFactor":1,"attenuationDistance":0})",
         R"("KHR_materials_transmission":{"transmissionFactor":1},"KHR_materials_volume":{"thicknessFactor":1,"attenuationDistance":1,"attenuationColor":[2,1,1]})",
         R"("KHR_materials_specular":{"specularColorFactor":[-1,1,1]})"}) {
        parts.extra =
            std::string(R"(,"materials":[{"pbrMetallicRoughness":{"metallicFactor":0},"extensions":{)") +
            extensions + "}}]";
        EXPECT_TRUE(headrace::test::error_of([&] {
                        static_cast<void>(load_scene(folder.write("m.gltf", parts.embedded()), 0.5f));
                    }).is_users_mistake())
            << extensions;
    }
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
    ASSERT_EQ(scene.cameras.size(), 1u);
    EXPECT_NEAR(scene.cameras[0].pose.vertical_fov_degrees, 45, 1e-4);
    EXPECT_NEAR(scene.cameras[0].pose.eye.y, 1, 1e-5);
    EXPECT_NEAR(scene.cameras[0].pose.eye.z, 5, 1e-5);
    EXPECT_NEAR(scene.cameras[0].pose.target.x, -1, 1e-5); // a quarter turn to the left of -z
    EXPECT_NEAR(scene.cameras[0].pose.target.z, 5, 1e-5);
}

/// Three: "Front", one whose name is that of its description, and one without a name, which is turned.
Scene with_three_cameras(const ScratchFolder& folder) {
    GltfParts parts;
    parts.roots = "0,1,2,3";
    parts.nodes = R"({"mesh":0},{"name":"Front","translation":[0,0,5],"camera":0},)"
                  R"({"translation":[0,7,0],"rotation":[0,0,0.5,0.8660254037844386],"camera":1},)"
                  R"({"translation":[1,2,3],"camera":0})";
    parts.extra =
        R"(,"cameras":[{"type":"perspective","perspective":{"yfov":0.7853981633974483,"znear":0.1}},)"
        R"({"name":"Top","type":"perspective","perspective":{"yfov":1.0471975511965976,"znear":0.1}}])";
    return load_scene(folder.write("c.gltf", parts.embedded()), 0.5f);
}

TEST(Gltf, CamerasAreChosenByNameOrNumber) {
    const ScratchFolder folder;
    const Scene scene = with_three_cameras(folder);
    ASSERT_EQ(scene.cameras.size(), 3u);
    EXPECT_EQ(camera_of(scene, "").eye.z, 5);
    EXPECT_EQ(camera_of(scene, "Front").eye.z, 5);
    EXPECT_EQ(camera_of(scene, "Top").eye.y, 7);
    EXPECT_EQ(camera_of(scene, "1").eye.y, 7);
    EXPECT_EQ(camera_of(scene, "2").eye.x, 1);
    for (const char* absent : {"3", "-1", "front", "1.0"}) {
        try {
            static_cast<void>(camera_of(scene, absent));
            ADD_FAILURE() << absent << " was found";
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_NE(error.message().find(R"(0 "Front", 1 "Top", 2 "")"), std::string::npos)
                << error.message();
        }
    }
}

TEST(Gltf, CamerasAreListedAsTheCommandLineTakesThem) {
    const ScratchFolder folder;
    // Turned by 60 degrees around its own way of looking, to the left: its up leans to the left.
    EXPECT_EQ(list_of_cameras(with_three_cameras(folder)), "0\tFront\t0,0,5,0,0,4,45\n"
                                                           "1\tTop\t0,7,0,0,7,-1,60,-60\n"
                                                           "2\t\t1,2,3,1,2,2,45\n");
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
