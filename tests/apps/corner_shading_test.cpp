// Normals and colours at the corners of triangles: what files say of them, that normals turn what surfaces
// reflect and let no light pass, and that colours tint it. Wild normals, of any direction, are the worst that
// a file may have.
#include "apps/gltf_builder.hpp"
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "corner_shading.hpp"
#include "vector_math.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace path_tracer::test {
namespace {

using headrace::test::ScratchFolder;
using testing::ElementsAre;
using testing::HasSubstr;

class CornersOfTriangles : public Seeded {
protected:
    Point any_direction() {
        std::normal_distribution<double> normal;
        return normalised(Point{normal(random), normal(random), normal(random)});
    }
    std::function<Point(Point)> wild() {
        return [this](Point) { return any_direction(); };
    }
    Frame any_frame(const PreparedScene& scene, const CameraPose& pose, uint32_t width, uint32_t height) {
        Frame frame = small_frame(scene, pose, width, height);
        frame.seed_low = static_cast<std::uint32_t>(random());
        return frame;
    }
};

Point of_sphere(Point corner) { return corner; } // around the origin

std::uint64_t paths_of(const Frame& frame, std::uint64_t samples) {
    return std::uint64_t{frame.width} * frame.height * samples;
}

/// Radiance of a whole path, and after how many hits it went on.
struct Path {
    float radiance = 0;
    int hits = 0;
};
Path path_of(const PreparedScene& scene, const Frame& frame, std::uint64_t index) {
    Path path;
    PathVertex vertex = begin_path(frame, index);
    for (bool goes_on = true; goes_on; path.hits += goes_on ? 1 : 0) {
        const VertexResult result = trace_vertex(view_of(scene), frame, vertex);
        path.radiance += result.radiance.r;
        goes_on = result.goes_on;
        vertex = result.next;
    }
    return path;
}

TEST_F(CornersOfTriangles, StoreNormalsToATenThousandth) {
    for (const Point axis : {Point{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}})
        EXPECT_EQ(wide(decoded_normal(encoded_normal(axis))), axis);
    for (int i = 0; i < 100'000; ++i) {
        Point direction = any_direction();
        if (i % 3 == 0) direction.z = 0; // a fold of the octahedron
        if (i % 5 == 0) direction.x = -0.0;
        direction = normalised(direction);
        const uint32_t code = encoded_normal(direction);
        ASSERT_NE(code, PATH_TRACER_NONE);
        ASSERT_LT(length(wide(decoded_normal(code)) - direction), 1e-4);
    }
}

TEST_F(CornersOfTriangles, LeaveOutNormalsThatAreTheTriangles) {
    for (int i = 0; i < 100; ++i) {
        const Point own = any_direction(), nearly = normalised(own + any_direction() * 1e-6);
        EXPECT_FALSE(encoded_normals(own, own, nearly, own * -1));
        EXPECT_TRUE(encoded_normals(own, own, nearly, any_direction()));
    }
}

TEST_F(CornersOfTriangles, LetLambertSendOnWhatItGets) {
    for (int i = 0; i < 20; ++i) {
        const Float3 normal = rounded(any_direction());
        Float3 shading = rounded(any_direction());
        if (dot(shading, normal) < 0) shading = -shading;
        Float3 tangent, bitangent;
        make_frame(normal, &tangent, &bitangent);
        constexpr int rings = 200, sectors = 400;
        double sum = 0; // over the hemisphere above the triangle
        for (int ring = 0; ring < rings; ++ring)
            for (int sector = 0; sector < sectors; ++sector) {
                const float height = (static_cast<float>(ring) + 0.5f) / rings;
                const float angle =
                    2 * std::numbers::pi_v<float> * (static_cast<float>(sector) + 0.5f) / sectors;
                const float radius = std::sqrt(1 - height * height);
                const Float3 direction = tangent * (radius * std::cos(angle)) +
                                         bitangent * (radius * std::sin(angle)) + normal * height;
                sum += std::max(0.0, double{dot(lambert_lobe(shading, normal), direction)}) * 2 *
                       std::numbers::pi / (rings * sectors);
            }
        EXPECT_NEAR(sum, std::numbers::pi, 2e-3);
    }
}

TEST_F(CornersOfTriangles, LetConvexBodiesShowTheirAlbedo) {
    for (const auto& normals : {wild(), std::function<Point(Point)>(of_sphere)}) {
        SceneBuilder builder;
        builder.material(lambert(0.5f)).sphere({0, 0, 0}, 1, 2).normals(normals);
        const PreparedScene body = prepare_scene(builder.scene());
        Frame frame = any_frame(body, {{3, 2, 4}, {0, 0, 0}, 25}, 40, 40);
        frame.sky = {1, 1, 1};
        int shown = 0;
        for (std::uint64_t i = 0; i < paths_of(frame, 8); ++i) {
            const Path path = path_of(body, frame, i);
            ASSERT_LE(path.hits, 1) << "light went below the triangle, or through it";
            ASSERT_EQ(path.radiance, path.hits == 0 ? 1.0f : 0.5f);
            shown += path.hits;
        }
        EXPECT_GT(shown, 3000);
    }
}

TEST_F(CornersOfTriangles, LetClosedRoomsSumTheGeometricSeries) {
    SceneBuilder builder;
    builder.material(lambert(0.5f, 1))
        .box({-1, -1, -1}, {1, 1, 1})
        .soup(random, 10, 0.7f, 0.5f)
        .normals(wild());
    const PreparedScene room = prepare_scene(builder.scene());
    Frame frame = any_frame(room, {{0.9f, 0.8f, 0.7f}, {0, 0, 0}, 90}, 40, 40);
    for (std::uint64_t i = 0; i < paths_of(frame, 8); ++i)
        ASSERT_NEAR(path_of(room, frame, i).radiance, (1 - std::pow(0.5, 8)) / (1 - 0.5), 4e-6);
}

TEST_F(CornersOfTriangles, LetNoLightIntoAClosedRoom) {
    for (int scene = 0; scene < 30; ++scene) {
        SceneBuilder builder;
        builder.material(scene % 2 == 0 ? lambert(0.8f) : mirror(0.9f)).box({-1, -1, -1}, {1, 1, 1});
        builder.material(glass(1.5f)).soup(random, 5, 0.7f, 0.5f).normals(wild());
        const PreparedScene room = prepare_scene(builder.scene());
        Frame frame = any_frame(room, {{0.9f, 0.8f, 0.7f}, {0, 0, 0}, 90}, 20, 20);
        frame.sky = {1000, 1000, 1000};
        frame.max_depth = 32;
        for (std::uint64_t i = 0; i < paths_of(frame, 4); ++i) ASSERT_EQ(path_of(room, frame, i).radiance, 0);
    }
}

TEST_F(CornersOfTriangles, LoseNoLightInGlassAndMirrors) {
    constexpr int roulette_from = 200;
    for (const SurfaceDescription& surface : {glass(1.5f), glass(2.4f), glass(1), mirror(1)}) {
        SceneBuilder builder;
        builder.material(surface).sphere({0, 0, 0}, 1, 2).normals(wild());
        const PreparedScene body = prepare_scene(builder.scene());
        Frame frame = any_frame(body, {{3, 2, 4}, {0, 0, 0}, 25}, 40, 40);
        frame.sky = {1, 1, 1};
        frame.max_depth = 1u << 20;
        frame.roulette_from = roulette_from;
        for (std::uint64_t i = 0; i < paths_of(frame, 4); ++i) {
            const Path path = path_of(body, frame, i);
            if (path.hits < roulette_from - 1) { // else roulette has made noise of it
                ASSERT_NEAR(path.radiance, 1, 1e-5);
            }
            if (surface.mirror.r > 0) {
                ASSERT_LE(path.hits, 1);
            }
        }
    }
}

TEST_F(CornersOfTriangles, KeepTheMeanWithShadowRays) {
    SceneBuilder builder;
    builder.material(lambert(0.7f))
        .box({-1, -1, -1}, {1, 1, 1})
        .sphere({0, -0.3f, 0}, 0.5f, 1)
        .normals(wild());
    builder.material(lambert(0, 4)).triangle({-0.5, 0.9, -0.5}, {0.5, 0.9, -0.5}, {0, 0.9, 0.5});
    const PreparedScene room = prepare_scene(builder.scene());
    Frame frame = any_frame(room, {{0.9f, 0.8f, 0.7f}, {0, 0, 0}, 70}, 24, 24);
    frame.max_depth = 3;
    const Estimate without = estimate(room, frame, 1000);
    frame.shadow_rays = 2;
    const Estimate with = estimate(room, frame, 200);
    const double error = std::hypot(without.standard_error, with.standard_error);
    EXPECT_NEAR(with.mean, without.mean, 4.5 * error);
    EXPECT_LT(error, 0.02 * with.mean);
}

/// With the corners of a sphere as normals, the shading normal is that of the sphere below the hit, exactly.
struct RoundSphere {
    SceneBuilder builder;
    PreparedScene ready;
    Frame frame{};

    explicit RoundSphere(const SurfaceDescription& surface) {
        builder.material(surface).sphere({0, 0, 0}, 1, 3).normals(of_sphere);
        prepare();
    }
    /// Once more, when something has been added.
    void prepare() {
        ready = prepare_scene(builder.scene());
        frame = small_frame(ready, {{0, 0, 6}, {0, 0, 0}, 20}, 64, 64);
    }

    /// What the rays through the pixels' middles meet on the sphere: the way of the ray, and the normal.
    void for_each_hit(const std::function<void(const VertexResult&, Point way, Point normal)>& visit) const {
        for (std::uint64_t i = 0; i < paths_of(frame, 1); ++i) {
            const PathVertex vertex = begin_path(frame, i);
            const Hit hit = nearest_hit(view_of(ready), ray_of(view_of(ready), frame, vertex));
            if (hit.triangle == PATH_TRACER_NO_TRIANGLE) continue;
            const Point placed = wide(point_of(&ready.triangles[hit.triangle], hit.u, hit.v));
            const Point at = placed * (1 / ready.placement.scale) + ready.placement.middle;
            visit(trace_vertex(view_of(ready), frame, vertex), wide(vertex.direction), normalised(at));
        }
    }
};

TEST(SmoothSphere, IsLitAsARoundOne) {
    constexpr double albedo = 0.6, emission = 1e6, size = 0.01;
    const Point lamp{8, 6, 10};
    RoundSphere sphere(lambert(static_cast<float>(albedo)));
    const Point across = normalised(cross(lamp, {0, 1, 0})) * size,
                up = normalised(cross(across, lamp)) * size;
    sphere.builder.material(lambert(0, emission)).triangle(lamp, lamp + across, lamp + up);
    sphere.prepare();
    sphere.frame.shadow_rays = 1;
    int seen = 0;
    sphere.for_each_hit([&](const VertexResult& result, Point, Point normal) {
        const Point way = lamp - normal;
        const double cosine = dot(normal, way) / length(way);
        if (cosine < 0.3) return; // facets are in the shadow of their neighbours there
        const double expected = albedo / std::numbers::pi * emission * (size * size / 2) * cosine *
                                (dot(way, lamp) / length(way) / length(lamp)) / dot(way, way);
        ASSERT_NEAR(result.radiance.r, expected,
                    0.015 * expected); // the hit lies below the sphere, and no light is lost
        ++seen;
    });
    EXPECT_GT(seen, 1000);
}

TEST(SmoothSphere, MirrorsAsARoundOne) {
    int seen = 0;
    RoundSphere(mirror(1)).for_each_hit([&](const VertexResult& result, Point way, Point normal) {
        if (dot(normal, way) > -0.4) return; // bent, beside the outline
        const Point expected = way - normal * (2 * dot(normal, way));
        ASSERT_LT(length(wide(result.next.direction) - expected), 5e-4);
        ++seen;
    });
    EXPECT_GT(seen, 1000);
}

TEST(SmoothSphere, RefractsAsARoundOne) {
    int seen = 0;
    RoundSphere(glass(1.5f)).for_each_hit([&](const VertexResult& result, Point way, Point normal) {
        const double cosine = -dot(normal, way);
        if (cosine < 0.4 || dot(wide(result.next.direction), normal) > 0) return;
        const double in_far = std::sqrt(1 - (1 - cosine * cosine) / (1.5 * 1.5));
        const Point expected = way * (1 / 1.5) + normal * (cosine / 1.5 - in_far);
        ASSERT_LT(length(wide(result.next.direction) - expected), 5e-4);
        ++seen;
    });
    EXPECT_GT(seen, 1000);
}

// ---- colours

TEST_F(CornersOfTriangles, TintWhatIsReflected) {
    // Linear in the place, so that they are known everywhere.
    const auto colour_at = [](Point place) {
        return Rgb{static_cast<float>((place.x + 2) / 4), static_cast<float>((place.y + 2) / 4),
                   static_cast<float>((place.z + 2) / 4)};
    };
    for (const SurfaceDescription& surface : {lambert(0.5f), mirror(0.8f), glass(1.5f)}) {
        SceneBuilder builder;
        builder.material(surface).sphere({0, 0, 0}, 1, 2).normals(wild()).colours(colour_at);
        const PreparedScene body = prepare_scene(builder.scene());
        const Frame frame = any_frame(body, {{3, 2, 4}, {0, 0, 0}, 25}, 40, 40);
        int seen = 0;
        for (std::uint64_t i = 0; i < paths_of(frame, 1); ++i) {
            const PathVertex vertex = begin_path(frame, i);
            const Hit hit = nearest_hit(view_of(body), ray_of(view_of(body), frame, vertex));
            if (hit.triangle == PATH_TRACER_NO_TRIANGLE) continue;
            const Point placed = wide(point_of(&body.triangles[hit.triangle], hit.u, hit.v));
            const Rgb tint = colour_at(placed * (1 / body.placement.scale) + body.placement.middle);
            const float all = (surface.diffuse() + surface.mirror + surface.glass()).r;
            const VertexResult result = trace_vertex(view_of(body), frame, vertex);
            ASSERT_TRUE(result.goes_on);
            ASSERT_NEAR(result.next.throughput.r, all * tint.r, 1e-6);
            ASSERT_NEAR(result.next.throughput.g, all * tint.g, 1e-6);
            ASSERT_NEAR(result.next.throughput.b, all * tint.b, 1e-6);
            ++seen;
        }
        EXPECT_GT(seen, 400);
    }
}

TEST_F(CornersOfTriangles, TintARoomAsTheGeometricSeriesSays) {
    SceneBuilder builder;
    builder.material(lambert(1, 1)).box({-1, -1, -1}, {1, 1, 1}).colours([](Point) {
        return Rgb{0.5f, 0.25f, 0.75f};
    });
    const PreparedScene room = prepare_scene(builder.scene());
    Frame frame = any_frame(room, {{0.9f, 0.8f, 0.7f}, {0, 0, 0}, 90}, 32, 32);
    for (const uint32_t shadow_rays : {0u, 2u}) { // lamps are not tinted
        frame.shadow_rays = shadow_rays;
        std::array<double, 3> mean{};
        for (const Rgb& pixel : sum_with_consumer(room, frame, 64))
            for (std::size_t part = 0; part < 3; ++part)
                mean[part] += double{std::array{pixel.r, pixel.g, pixel.b}[part]} / (32 * 32 * 64);
        const double noise = shadow_rays == 0 ? 1e-5 : 0.02;
        for (const auto& [part, albedo] : {std::pair(mean[0], 0.5), {mean[1], 0.25}, {mean[2], 0.75}}) {
            const double expected = (1 - std::pow(albedo, 8)) / (1 - albedo);
            EXPECT_NEAR(part, expected, noise * expected);
        }
    }
}

// ---- files

Point decoded(uint32_t code) { return wide(decoded_normal(code)); }

void expect_corner_normals(const Scene& scene, std::size_t triangle, std::array<Point, 3> expected) {
    const uint32_t place = scene.triangles.at(triangle).normals;
    ASSERT_NE(place, SceneTriangle::none);
    std::size_t corner = 0;
    for (const uint32_t code : scene.normals.at(place)) {
        EXPECT_LT(length(decoded(code) - normalised(expected[corner])), 1e-4) << "corner " << corner;
        ++corner;
    }
}

bool is_flat(const Scene& scene, std::size_t triangle) {
    return scene.triangles.at(triangle).normals == SceneTriangle::none;
}

TEST(NormalsOfFiles, Obj) {
    const ScratchFolder folder;
    const Scene scene =
        load_scene(folder.write("s.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 2 # twice as long\n"
                                         "vn 1 0 1\nvn 0 1 1\nvn 0 0 0\nvn nan 0 1\n"
                                         "f 1//1 2//2 3//3\nf 1/1/-5 2/1/-4 3/1/-3\n"
                                         "f 1//1 2//2 3\nf 1 2 3\nf 1//1 2//2 3//9\n"
                                         "f 1//1 2//2 3//4\nf 1//1 2//2 3//5\nf 1//1 2//1 3//1\n"),
                   0.5f);
    ASSERT_EQ(scene.triangles.size(), 8u);
    for (const std::size_t smooth : {0u, 1u})
        expect_corner_normals(scene, smooth, {{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}});
    for (const std::size_t flat : {2u, 3u, 4u, 5u, 6u, 7u}) EXPECT_TRUE(is_flat(scene, flat)) << flat;
    EXPECT_THAT(scene.notes, testing::Contains(HasSubstr("a face names normal 9 of 5; it is not used")));
    EXPECT_THAT(scene.notes, testing::Contains(HasSubstr("normals of length 0 or not finite")));
}

TEST(NormalsOfFiles, ObjPolygons) {
    const ScratchFolder folder; // concave: its triangles begin at other corners
    const Scene scene = load_scene(
        folder.write("s.obj",
                     "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0\nvn 0 0 1\nvn 1 0 1\nvn 1 1 1\nvn 0 -1 1\n"
                     "f 1//1 2//2 3//3 4//4\n"),
        0.5f);
    ASSERT_EQ(scene.triangles.size(), 2u);
    const std::array<std::pair<Point, Point>, 4> corners = {
        {{{0, 0, 0}, {0, 0, 1}}, {{2, 0, 0}, {1, 0, 1}}, {{2, 2, 0}, {1, 1, 1}}, {{1, 0.5, 0}, {0, -1, 1}}}};
    for (std::size_t i = 0; i < 2; ++i) {
        std::array<Point, 3> expected{};
        std::size_t at = 0;
        for (const Point corner : {scene.triangles[i].a, scene.triangles[i].b, scene.triangles[i].c})
            expected[at++] = std::ranges::find(corners, corner, &std::pair<Point, Point>::first)->second;
        expect_corner_normals(scene, i, expected);
    }
}

TEST(NormalsOfFiles, Ply) {
    const ScratchFolder folder;
    const auto load = [&](const char* properties, const char* rows) {
        return load_scene(folder.write("s.ply", std::string("ply\nformat ascii 1.0\nelement vertex 3\n") +
                                                    properties +
                                                    "element face 1\nproperty list uchar int vertex_indices\n"
                                                    "end_header\n" +
                                                    rows + "3 0 1 2\n"),
                          0.5f);
    };
    const char* const all = "property float x\nproperty float y\nproperty float z\nproperty float nx\n"
                            "property float ny\nproperty float nz\n";
    expect_corner_normals(load(all, "0 0 0 0 0 1\n1 0 0 1 0 1\n0 1 0 0 1 1\n"), 0,
                          {{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}});
    const Scene bad = load(all, "0 0 0 0 0 1\n1 0 0 inf 0 1\n0 1 0 0 1 1\n");
    EXPECT_TRUE(is_flat(bad, 0));
    EXPECT_THAT(bad.notes, ElementsAre(HasSubstr("normals of length 0 or not finite")));
    const Scene two = load("property float x\nproperty float y\nproperty float z\nproperty float nx\n"
                           "property float ny\n",
                           "0 0 0 0 0\n1 0 0 1 0\n0 1 0 0 1\n");
    EXPECT_TRUE(is_flat(two, 0));
    EXPECT_TRUE(two.notes.empty());
}

/// The usual triangle with one more attribute, of these bytes, as the accessor says.
std::string gltf_with(const std::string& attribute, const std::string& accessor, const std::string& bytes,
                      const std::string& node = R"({"mesh":0})") {
    GltfParts parts;
    parts.nodes = node;
    std::string all = parts.buffer();
    all.resize(44); // floats begin at multiples of 4
    all += bytes;
    parts.byte_length = static_cast<int>(all.size());
    std::string text = parts.json("data:application/octet-stream;base64," + base64(all));
    const auto put = [&](const std::string& before, const std::string& what) {
        const auto at = text.find(before);
        ASSERT_NE(at, std::string::npos);
        text.insert(at + before.size(), what);
    };
    put(R"("POSITION":0)", ",\"" + attribute + "\":2");
    put(R"("type":"SCALAR","count":3})", "," + accessor);
    put(R"("byteOffset":36,"byteLength":6})",
        R"(,{"buffer":0,"byteOffset":44,"byteLength":)" + std::to_string(bytes.size()) + "}");
    return text;
}
template <class Numbers>
std::string bytes_of(const Numbers& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), sizeof numbers};
}
/// Normals (0, 0, 1), (1, 0, 1), (0, 1, 1).
std::string gltf_with_normals(const std::string& node, const std::string& accessor) {
    return gltf_with("NORMAL", accessor, bytes_of(std::array<float, 9>{0, 0, 1, 1, 0, 1, 0, 1, 1}), node);
}
const std::string three_floats = R"({"bufferView":2,"componentType":5126,"type":"VEC3","count":3})";

TEST(NormalsOfFiles, Gltf) {
    const ScratchFolder folder;
    const auto load = [&](const std::string& node) {
        return load_scene(folder.write("s.gltf", gltf_with_normals(node, three_floats)), 0.5f);
    };
    expect_corner_normals(load(R"({"mesh":0})"), 0, {{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}});
    // A plane x + z = 0 that is stretched along x by 2 becomes x / 2 + z = 0.
    expect_corner_normals(load(R"({"mesh":0,"scale":[2,1,1]})"), 0, {{{0, 0, 1}, {0.5, 0, 1}, {0, 1, 1}}});
    // Turned by a quarter around z, and moved.
    expect_corner_normals(
        load(R"({"mesh":0,"rotation":[0,0,0.70710678118,0.70710678118],"translation":[5,6,7]})"), 0,
        {{{0, 0, 1}, {0, 1, 1}, {-1, 0, 1}}});
    // Mirrored: the first two corners change places, so that the outside stays outside.
    const Scene mirrored = load(R"({"mesh":0,"scale":[-1,1,1]})");
    expect_corner_normals(mirrored, 0, {{{1, 0, -1}, {0, 0, -1}, {0, -1, -1}}});
    EXPECT_EQ(mirrored.triangles[0].a.x, -1);
    EXPECT_TRUE(is_flat(load_scene(folder.write("flat.gltf", GltfParts{}.embedded()), 0.5f), 0));
}

TEST(NormalsOfFiles, GltfThatAreWrongAreRefusedByName) {
    const ScratchFolder folder;
    const auto refusal = [&](const std::string& accessor) -> std::string {
        try {
            static_cast<void>(
                load_scene(folder.write("s.gltf", gltf_with_normals(R"({"mesh":0})", accessor)), 0.5f));
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            return error.message();
        }
        return "was read";
    };
    EXPECT_THAT(refusal(R"({"bufferView":2,"componentType":5126,"type":"VEC3","count":2})"),
                HasSubstr("mesh 0, primitive 0 has 2 elements of NORMAL for 3 vertices"));
    EXPECT_THAT(refusal(R"({"bufferView":2,"componentType":5126,"type":"VEC2","count":3})"),
                HasSubstr("(NORMAL) has elements that are not three floats"));
    EXPECT_THAT(refusal(R"({"bufferView":2,"componentType":5126,"type":"VEC3","count":300})"),
                HasSubstr("reaches past its buffer"));
}

void expect_corner_colours(const Scene& scene, std::size_t triangle, std::array<Rgb, 3> expected) {
    const uint32_t place = scene.triangles.at(triangle).colours;
    ASSERT_NE(place, SceneTriangle::none);
    for (std::size_t corner = 0; corner < 3; ++corner) {
        const Rgb colour = scene.colours.at(place)[corner].colour;
        EXPECT_NEAR(colour.r, expected[corner].r, 1e-6) << "corner " << corner;
        EXPECT_NEAR(colour.g, expected[corner].g, 1e-6) << "corner " << corner;
        EXPECT_NEAR(colour.b, expected[corner].b, 1e-6) << "corner " << corner;
    }
}
float albedo_of(const Scene& scene, std::size_t triangle) {
    return scene.materials.at(scene.triangles.at(triangle).material).diffuse().r;
}
constexpr Rgb red{1, 0, 0}, green{0, 1, 0};
constexpr float half = 0.2140411f; // of sRGB, linear
constexpr Rgb grey_half{half, half, half};

TEST(ColoursOfFiles, Obj) {
    const ScratchFolder folder;
    folder.write("m.mtl", "newmtl matt\nKd 0.5 0.5 0.5\n");
    const Scene scene =
        load_scene(folder.write("s.obj", "mtllib m.mtl\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0.5 0.5 0.5\n"
                                         "v 0 0 1\nv 0 0 2 1 0 2\nf 1 2 3\nf 1 2 4\nf 1 2 5\n"
                                         "usemtl matt\nf 2 3 1\n"),
                   0.25f);
    ASSERT_EQ(scene.triangles.size(), 4u);
    expect_corner_colours(scene, 0, {red, green, grey_half});
    EXPECT_EQ(albedo_of(scene, 0), 1) << "the colours are all that it sends on";
    for (const std::size_t plain : {1u, 2u}) {
        EXPECT_EQ(scene.triangles[plain].colours, SceneTriangle::none);
        EXPECT_EQ(albedo_of(scene, plain), 0.25f);
    }
    expect_corner_colours(scene, 3, {green, grey_half, red});
    EXPECT_EQ(albedo_of(scene, 3), 0.5f);
    EXPECT_THAT(scene.notes, ElementsAre(HasSubstr("vertex colours that are not between 0 and 1")));
}

TEST(ColoursOfFiles, Ply) {
    const ScratchFolder folder;
    const auto load = [&](const std::string& properties, const char* rows) {
        return load_scene(folder.write("s.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n"
                                                "property float y\nproperty float z\n" +
                                                    properties +
                                                    "element face 1\nproperty list uchar int vertex_indices\n"
                                                    "end_header\n" +
                                                    rows + "3 0 1 2\n"),
                          0.25f);
    };
    const std::string bytes = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    const Scene scene = load(bytes, "0 0 0 255 0 0\n1 0 0 0 255 0\n0 1 0 255 255 255\n");
    expect_corner_colours(scene, 0, {red, green, Rgb{1, 1, 1}});
    EXPECT_EQ(albedo_of(scene, 0), 1);
    EXPECT_TRUE(scene.notes.empty());
    const Scene opaque = load(bytes + "property uchar alpha\n",
                              "0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n0 1 0 255 255 255 255\n");
    EXPECT_TRUE(opaque.notes.empty());
    const Scene clear =
        load(bytes + "property uchar alpha\n", "0 0 0 255 0 0 9\n1 0 0 0 255 0 255\n0 1 0 255 255 255 255\n");
    EXPECT_THAT(clear.notes, ElementsAre(HasSubstr("vertex opacity")));
    const std::string floats = "property float diffuse_red\nproperty float diffuse_green\n"
                               "property float diffuse_blue\n";
    expect_corner_colours(load(floats, "0 0 0 1 0 0\n1 0 0 0 1 0\n0 1 0 .5 .5 .5\n"), 0,
                          {red, green, grey_half});
    const Scene bad = load(floats, "0 0 0 1 0 0\n1 0 0 0 nan 0\n0 1 0 .5 .5 .5\n");
    EXPECT_THAT(bad.notes, ElementsAre(HasSubstr("vertex colours that are not between 0 and 1")));
    EXPECT_EQ(load("", "0 0 0\n1 0 0\n0 1 0\n").triangles.at(0).colours, SceneTriangle::none);
}

TEST(ColoursOfFiles, Gltf) {
    const ScratchFolder folder;
    const auto load = [&](const std::string& accessor, const std::string& bytes) {
        return load_scene(folder.write("s.gltf", gltf_with("COLOR_0", accessor, bytes)), 0.25f);
    };
    const std::array<float, 9> floats = {1, 0, 0, 0, 1, 0, 0.5f, 0.5f, 0.5f};
    const Scene scene = load(three_floats, bytes_of(floats));
    expect_corner_colours(scene, 0, {red, green, Rgb{0.5f, 0.5f, 0.5f}}); // linear
    EXPECT_EQ(albedo_of(scene, 0), 1);
    EXPECT_TRUE(scene.notes.empty());
    const std::array<std::uint8_t, 12> four = {255, 0, 0, 255, 0, 255, 0, 9, 51, 51, 51, 255};
    expect_corner_colours(
        load(R"({"bufferView":2,"componentType":5121,"normalized":true,"type":"VEC4","count":3})",
             bytes_of(four)),
        0, {red, green, Rgb{0.2f, 0.2f, 0.2f}});
    const std::array<float, 9> bright = {1, 0, 0, 0, 7, 0, 0.5f, 0.5f, 0.5f};
    EXPECT_THAT(load(three_floats, bytes_of(bright)).notes,
                ElementsAre(HasSubstr("vertex colours that are not between 0 and 1")));
}

} // namespace
} // namespace path_tracer::test
