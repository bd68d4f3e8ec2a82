// What OBJ and PLY files become, and the cameras.
#include "apps/scene_builder.hpp"
#include "prepared_scene.hpp"
#include "vector_math.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace path_tracer::test {
namespace {

using headrace::test::ScratchFolder;

void expect_rgb(Rgb got, Rgb expected) {
    EXPECT_NEAR(got.r, expected.r, 1e-6);
    EXPECT_NEAR(got.g, expected.g, 1e-6);
    EXPECT_NEAR(got.b, expected.b, 1e-6);
}

const SurfaceDescription& material_of(const Scene& scene, std::size_t triangle) {
    return scene.materials.at(scene.triangles.at(triangle).material);
}

TEST(Obj, FacesOfEveryFormBecomeTriangles) {
    const ScratchFolder folder;
    const Scene scene = load_scene(
        folder.write("s.obj",
                     "# quad, relative indices, all kinds of slashes\n"
                     "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
                     "f 1 2 3 4\nf -4 -3 -2\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1\nf 1/1/1 2/1/1 3/1/1\n"),
        0.5f);
    EXPECT_EQ(scene.triangles.size(), 6u);
    expect_rgb(material_of(scene, 0).diffuse(), {0.5f, 0.5f, 0.5f});
    EXPECT_TRUE(scene.cameras.empty());
}

TEST(Obj, MaterialsAreThoseOfTheMtl) {
    const ScratchFolder folder;
    folder.write("s.mtl", "newmtl matt\nKd 0.1 0.2 0.3\nKs 0.5 0.5 0.5\nNs 10\nillum 1\n"
                          "newmtl lamp\nKd 0 0 0\nKe 4 5 6\n"
                          "newmtl mirror\nKd 0.1 0.1 0.1\nKs 0.7 0.8 0.85\nillum 3\n"
                          "newmtl glass\nKd 0.5 0.5 0.5\nTf 0.9 0.95 1\nNi 1.7\nillum 7\n");
    std::string obj = "mtllib s.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n";
    for (const char* name : {"matt", "lamp", "mirror", "glass"})
        obj += std::string("usemtl ") + name + "\nf 1 2 3\n";
    const Scene scene = load_scene(folder.write("s.obj", obj), 0.5f);
    ASSERT_EQ(scene.triangles.size(), 4u);
    std::size_t seen = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        const SurfaceDescription& surface = material_of(scene, i);
        if (surface.emission.r > 0) {
            seen |= 1;
            expect_rgb(surface.emission, {4, 5, 6});
            expect_rgb(surface.diffuse(), {0, 0, 0});
        } else if (surface.mirror.r > 0) {
            seen |= 2;
            expect_rgb(surface.mirror, {0.7f, 0.8f, 0.85f});
            expect_rgb(surface.diffuse(), {0.1f, 0.1f, 0.1f});
        } else if (surface.glass().r > 0) {
            seen |= 4;
            expect_rgb(surface.glass(), {0.9f, 0.95f, 1});
            expect_rgb(surface.diffuse(), {0, 0, 0});
            EXPECT_NEAR(surface.ior, 1.7f, 1e-6);
        } else {
            seen |= 8;
            expect_rgb(surface.diffuse(), {0.1f, 0.2f, 0.3f}); // illum 1 has no highlight
        }
    }
    EXPECT_EQ(seen, 15u);
}

/// The material of a triangle.
SurfaceDescription of_mtl(const ScratchFolder& folder, const std::string& text) {
    folder.write("s.mtl", text);
    const Scene scene = load_scene(
        folder.write("s.obj", "mtllib s.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), 0.5f);
    EXPECT_EQ(scene.notes.size(), 0u) << scene.notes.at(0);
    return material_of(scene, 0);
}

TEST(Obj, HighlightsAreAsWideAsPhongs) {
    const ScratchFolder folder;
    for (const double exponent : {0.0, 1.0, 30.0, 1000.0}) {
        const SurfaceDescription surface =
            of_mtl(folder, "newmtl a\nKd 0.1 0.2 0.3\nKs 0.3 0.2 0.1\nillum 2\nNs " +
                               std::to_string(exponent) + "\n");
        expect_rgb(surface.diffuse(), {0.1f, 0.2f, 0.3f});
        expect_rgb(surface.mirror, {0.3f, 0.2f, 0.1f});
        EXPECT_NEAR(std::pow(double{surface.roughness}, 4), 2 / (exponent + 2), 1e-5);
    }
    EXPECT_EQ(of_mtl(folder, "newmtl a\nKs 0.1 0.1 0.1\nillum 3\nNs 10\n").roughness, 0); // a mirror
}

TEST(Obj, BlenderWritesItsOwnNumbers) {
    const ScratchFolder folder;
    const std::string header = "# Blender 4.1.1 MTL File: 'room.blend'\n";
    const SurfaceDescription plastic = of_mtl(
        folder, header + "newmtl a\nNs 250\nKa 1 1 1\nKd 0.8 0.8 0.8\nKs 0.5 0.5 0.5\nNi 1.45\nillum 2\n");
    EXPECT_NEAR(plastic.roughness, 0.5, 1e-6);
    EXPECT_NEAR(plastic.highlight.g, 0.04, 1e-6);
    EXPECT_EQ(plastic.highlight_edge, 1);
    EXPECT_EQ(plastic.mirror.g, 0);
    const SurfaceDescription metal = of_mtl(
        folder, header + "newmtl a\nNs 1000\nKa 0.75 0.75 0.75\nKd 0.8 0.8 0.8\nKs 0.5 0.5 0.5\nillum 3\n");
    EXPECT_EQ(metal.metallic, 0.75f);
    EXPECT_EQ(metal.roughness, 0);
}

TEST(Obj, PhysicallyBasedValuesAreKnown) {
    const ScratchFolder folder;
    const SurfaceDescription surface =
        of_mtl(folder, "newmtl a\nKd 0.5 0.5 0.5\nPr 0.25\nPm 0.75\nPs 0.5\nPc 0.125\nPcr 0.0625\nillum 2\n");
    EXPECT_EQ(surface.roughness, 0.25f);
    EXPECT_EQ(surface.metallic, 0.75f);
    EXPECT_EQ(surface.coat, 0.125f);
    EXPECT_EQ(surface.coat_roughness, 0.0625f);
    EXPECT_EQ(surface.sheen.g, 0.5f);
    EXPECT_NEAR(surface.highlight.g, 0.04, 1e-6);
}

TEST(Obj, LightOutOfNothingIsDimmedWithANote) {
    const ScratchFolder folder;
    folder.write("s.mtl", "newmtl bright\nKd 0.8 0.8 0.8\nKs 0.8 0.8 0.8\nillum 3\n");
    const Scene scene = load_scene(
        folder.write("s.obj", "mtllib s.mtl\nusemtl bright\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), 0.5f);
    expect_rgb(material_of(scene, 0).diffuse(), {0.5f, 0.5f, 0.5f});
    expect_rgb(material_of(scene, 0).mirror, {0.5f, 0.5f, 0.5f});
    ASSERT_EQ(scene.notes.size(), 1u);
    EXPECT_NE(scene.notes[0].find("bright"), std::string::npos);
}

TEST(Obj, TextAsProgramsWriteIt) {
    const ScratchFolder folder;
    folder.write("my materials.mtl", "newmtl red one\r\nKd .5\r\nbump red.png\r\n");
    const Scene scene = load_scene(
        folder.write("s.obj", "mtllib my materials.mtl\r\nv 0 0 0 1.0\r\nv +1 1e-400 -0\r\nv 0 1 4e-46\r\n"
                              "o thing\r\nusemtl red one\r\nf 1 2 \\\r\n3\r\n"),
        0.1f);
    ASSERT_EQ(scene.triangles.size(), 1u);
    expect_rgb(material_of(scene, 0).diffuse(), {0.5f, 0.5f, 0.5f});
    ASSERT_EQ(scene.notes.size(), 1u); // of the texture
}

TEST(Obj, MissingMaterialsAreStoodInForWithANote) {
    const ScratchFolder folder;
    const Scene scene = load_scene(
        folder.write("s.obj", "mtllib lost.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl lost\nf 1 2 3\n"), 0.1f);
    expect_rgb(material_of(scene, 0).diffuse(), {0.1f, 0.1f, 0.1f});
    EXPECT_EQ(scene.notes.size(), 2u);
}

TEST(Obj, FacesMayComeBeforeTheirVertices) {
    const ScratchFolder folder;
    EXPECT_EQ(
        load_scene(folder.write("s.obj", "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n"), 0.1f).triangles.size(), 1u);
}

TEST(Obj, TrianglesWithoutAreaAreLeftOut) {
    const ScratchFolder folder;
    const Scene scene = load_scene(
        folder.write("s.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\nf 1 2 4\nf 1 1 2\n"), 0.5f);
    EXPECT_EQ(scene.triangles.size(), 1u);
}

constexpr std::string_view ply_header =
    "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n"
    "property float y\nproperty float z\nelement face 1\n"
    "property list uchar int vertex_indices\nend_header\n";

TEST(Ply, AsciiPolygonsBecomeTriangles) {
    const ScratchFolder folder;
    const Scene scene = load_scene(
        folder.write("s.ply", std::string(ply_header).append("0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n")),
        0.3f);
    EXPECT_EQ(scene.triangles.size(), 2u);
    expect_rgb(material_of(scene, 0).diffuse(), {0.3f, 0.3f, 0.3f});
}

TEST(Ply, BinaryOfBothByteOrders) {
    for (const bool big : {false, true}) {
        const ScratchFolder folder;
        std::string ply = std::string("ply\nformat ") + (big ? "binary_big_endian" : "binary_little_endian") +
                          " 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
                          "z\nproperty uchar red\n"
                          "element face 1\nproperty list uchar uint vertex_indices\nend_header\n";
        const auto append = [&](const auto& value) {
            std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
            if (big) bytes.assign(bytes.rbegin(), bytes.rend());
            ply += bytes;
        };
        for (const auto& vertex : {Float3{0, 0, 0}, Float3{2, 0, 0}, Float3{0, 3, 0.5f}}) {
            append(vertex.x), append(vertex.y), append(vertex.z);
            ply += '\x7f';
        }
        ply += '\3';
        for (const std::uint32_t index : {0u, 1u, 2u}) append(index);
        const Scene scene = load_scene(folder.write("s.ply", ply), 0.3f);
        ASSERT_EQ(scene.triangles.size(), 1u);
        EXPECT_EQ(scene.triangles[0].b.x, 2);
        EXPECT_EQ(scene.triangles[0].c.z, 0.5f);
    }
}

TEST(Coordinates, AreDoublesInEveryFormat) {
    const ScratchFolder folder;
    const std::string obj =
        "v 500000.3 4600000.7 0\nv 500000.301 4600000.7 0\nv 500000.3 4600000.701 0\nf 1 2 3\n";
    const std::string ply =
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\n"
        "property double z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
        "500000.3 4600000.7 0\n500000.301 4600000.7 0\n500000.3 4600000.701 0\n3 0 1 2\n";
    for (const auto& file : {folder.write("d.obj", obj), folder.write("d.ply", ply)}) {
        const Scene scene = load_scene(file, 0.5f);
        EXPECT_EQ(scene.triangles.at(0).b.x, 500000.301) << file;
        EXPECT_EQ(scene.triangles.at(0).c.y, 4600000.701) << file;
    }
}

TEST(Camera, MovesAlongWithTheScene) {
    SceneBuilder builder;
    builder.material(lambert(0.5f));
    const Point place{5e5, 4.6e6, -70};
    for (const Point corner : {Point{-1, -1, -1}, Point{1, 1, 1}})
        builder.triangle(place + corner, place - corner, place + Point{corner.x, 0, 0});
    const PreparedScene scene = prepare_scene(builder.scene());
    const Camera camera = make_camera({place + Point{0.25, 0.5, 3}, place, 40}, scene.placement, 8, 8);
    const Point eye = wide(camera.eye) * (1 / scene.placement.scale) + scene.placement.middle;
    EXPECT_NEAR(length(eye - place - Point{0.25, 0.5, 3}), 0, 1e-6);
    for (const Triangle& triangle : scene.triangles)
        for (const Float3 corner : {triangle.a, triangle.b, triangle.c})
            EXPECT_LE(largest_part(wide(corner)), 1);
    EXPECT_THROW(static_cast<void>(make_camera({{0, 0, 0}, place, 40}, scene.placement, 8, 8)),
                 headrace::Error);
}

TEST(Camera, MiddleOfThePictureIsTheTargetAndPlusYIsUp) {
    const CameraPose pose{{1, 2, 3}, {4, 2.5f, -1}, 50};
    const Camera camera = make_camera(pose, {}, 64, 36);
    const auto direction = [&](float x, float y) {
        return normalised(camera.corner + camera.right * x + camera.down * y);
    };
    const Float3 middle = direction(32, 18), towards = rounded(normalised(pose.target - pose.eye));
    EXPECT_NEAR(dot(middle, towards), 1, 1e-6);
    EXPECT_GT(direction(32, 0).y, direction(32, 36).y);
    const Float3 right = direction(64, 18) - direction(0, 18);
    EXPECT_GT(dot(cross(towards, {0, 1, 0}), right), 0);
    // The angle from the top to the bottom of the picture, and square pixels.
    EXPECT_NEAR(std::acos(dot(direction(32, 0), direction(32, 36))) * 180 / 3.14159265, 50, 1e-3);
    EXPECT_NEAR(length(camera.right), length(camera.down), 1e-7);
}

TEST(Camera, LooksStraightDownToo) {
    const Camera camera = make_camera({{0, 5, 0}, {0, 0, 0}, 40}, {}, 10, 10);
    const Float3 middle = normalised(camera.corner + camera.right * 5.0f + camera.down * 5.0f);
    EXPECT_NEAR(middle.y, -1, 1e-6);
    EXPECT_GT(camera.right.x, 0);
}

TEST(Camera, RefusesWhatSeesNothing) {
    for (const CameraPose& pose :
         {CameraPose{{1, 1, 1}, {1, 1, 1}, 40}, CameraPose{{0, 0, 0}, {0, 0, 1}, 0},
          CameraPose{{0, 0, 0}, {0, 0, 1}, 180}, CameraPose{{0, 0, 0}, {NAN, 0, 1}, 40},
          CameraPose{{INFINITY, 0, 0}, {0, 0, 1}, 40}})
        EXPECT_THROW(static_cast<void>(make_camera(pose, {}, 4, 4)), headrace::Error);
}

TEST(Camera, DefaultShowsAllFromTheFront) {
    const ScratchFolder folder;
    const Scene scene = load_scene(folder.write("s.obj", "v -3 10 0\nv 5 10 0\nv 1 16 -2\nf 1 2 3\n"), 0.5f);
    const CameraPose pose = camera_of(scene, "");
    EXPECT_GT(pose.eye.z, 0);
    EXPECT_NEAR(pose.target.x, 1, 1e-5);
    EXPECT_NEAR(pose.target.y, 13, 1e-5);
    for (const Point corner : {scene.triangles[0].a, scene.triangles[0].b, scene.triangles[0].c}) {
        const Point way = corner - pose.eye;
        EXPECT_LT(std::abs(way.x) / -way.z, std::tan(pose.vertical_fov_degrees * 3.14159265 / 360));
        EXPECT_LT(std::abs(way.y) / -way.z, std::tan(pose.vertical_fov_degrees * 3.14159265 / 360));
    }
}

TEST(Camera, RollsClockwiseAsSeenFromBehind) {
    CameraPose pose{{0, 0, 5}, {0, 0, 0}, 45};
    pose.roll_degrees = 90;
    const Camera camera = make_camera(pose, {}, 8, 8);
    EXPECT_NEAR(normalised(camera.right).y, -1, 1e-6); // what was below is to the right now
    EXPECT_NEAR(normalised(camera.down).x, -1, 1e-6);
    pose.roll_degrees = -30;
    EXPECT_NEAR(normalised(make_camera(pose, {}, 8, 8).right).y, 0.5, 1e-6);
}

} // namespace
} // namespace path_tracer::test
