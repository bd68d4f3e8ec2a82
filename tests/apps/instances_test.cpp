// Meshes in several places: what rays and paths find there is what they find where each place has triangles
// of its own.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "corner_shading.hpp"
#include "vector_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace path_tracer::test {
namespace {

class Instances : public Seeded {
protected:
    Point any_direction() {
        std::normal_distribution<double> normal;
        return normalised(Point{normal(random), normal(random), normal(random)});
    }
    std::array<double, 4> any_turn() {
        return {between(-1, 1), between(-1, 1), between(-1, 1), between(0.1, 1)};
    }
    /// Some mirror, some are up to `squeeze` times as wide as high.
    Transform any_place(double away, double least_size, double most_size, double squeeze) {
        const double size = least_size * std::pow(most_size / least_size, between(0, 1));
        const auto part = [&] {
            return size * std::pow(squeeze, between(-1, 0)) * (whole_between(0, 3) == 0 ? -1 : 1);
        };
        const Transform leaning = *transform_of({0, 0, 0}, any_turn(), {1, 1, 1});
        const Point shift{between(-away, away), between(-away, away), between(-away, away)};
        return transform_of(shift, any_turn(), {part(), part(), part()})->after(leaning);
    }
};

/// The triangles of `mesh`, in these places of `single`. Both have the same materials.
Scene with_instances(Scene single, const Scene& mesh, const std::vector<Transform>& places) {
    const auto normals = static_cast<uint32_t>(single.normals.size()),
               colours = static_cast<uint32_t>(single.colours.size());
    single.normals.insert(single.normals.end(), mesh.normals.begin(), mesh.normals.end());
    single.colours.insert(single.colours.end(), mesh.colours.begin(), mesh.colours.end());
    const auto textures = static_cast<uint32_t>(single.places.size());
    single.places.insert(single.places.end(), mesh.places.begin(), mesh.places.end());
    const auto number = static_cast<uint32_t>(single.meshes.size());
    single.meshes.push_back({single.triangles.size(), mesh.triangles.size()});
    for (SceneTriangle triangle : mesh.triangles) {
        if (triangle.normals != SceneTriangle::none) triangle.normals += normals;
        if (triangle.colours != SceneTriangle::none) triangle.colours += colours;
        if (triangle.places != SceneTriangle::none) triangle.places += textures;
        single.triangles.push_back(triangle);
    }
    for (const Transform& place : places) single.instances.push_back({number, place});
    return single;
}

/// The same without instances.
Scene flattened(const Scene& scene) {
    Scene flat = scene;
    flat.triangles.resize(scene.single_triangles());
    flat.meshes.clear();
    flat.instances.clear();
    for (const auto& [number, place] : scene.instances) {
        const SceneMesh& mesh = scene.meshes[number];
        for (std::size_t i = 0; i < mesh.count; ++i) {
            SceneTriangle triangle = scene.triangles[mesh.first + i];
            triangle.a = place(triangle.a);
            triangle.b = place(triangle.b);
            triangle.c = place(triangle.c);
            if (triangle.normals != SceneTriangle::none) {
                auto normals = scene.normals[triangle.normals];
                for (uint32_t& normal : normals)
                    normal = encoded_normal(place.normal(wide(decoded_normal(normal))));
                if (place.mirrors()) std::swap(normals[0], normals[1]);
                triangle.normals = static_cast<uint32_t>(flat.normals.size());
                flat.normals.push_back(normals);
            }
            if (triangle.colours != SceneTriangle::none) {
                auto colours = scene.colours[triangle.colours];
                if (place.mirrors()) std::swap(colours[0], colours[1]);
                triangle.colours = static_cast<uint32_t>(flat.colours.size());
                flat.colours.push_back(colours);
            }
            if (triangle.places != SceneTriangle::none) {
                auto places = scene.places[triangle.places];
                if (place.mirrors()) std::swap(places[0], places[1]);
                triangle.places = static_cast<uint32_t>(flat.places.size());
                flat.places.push_back(places);
            }
            if (place.mirrors()) std::swap(triangle.a, triangle.b);
            flat.triangles.push_back(triangle);
        }
    }
    return flat;
}

Float3 normal_at(const PreparedScene& scene, const Hit& hit) {
    const SceneView view = view_of(scene);
    return normal_of(AnyScene{}, &view, hit.instance, hit.triangle);
}

TEST_F(Instances, RaysMeetWhatTheyMeetOfPlainTriangles) {
    int hits = 0, rays = 0, different = 0;
    for (int round = 0; round < 60; ++round) {
        SceneBuilder single, mesh;
        single.material(lambert(0.5f));
        mesh.material(lambert(0.5f));
        if (round % 3 != 0) single.soup(random, whole_between(1, 200), 2, 0.3f);
        mesh.soup(random, whole_between(1, 300), 1, static_cast<float>(between(0.05, 1)));
        std::vector<Transform> places;
        const double squeeze = round % 2 == 0 ? 1 : 1000;
        for (int i = whole_between(1, 40); i > 0; --i) places.push_back(any_place(3, 1e-3, 1, squeeze));
        const Scene scene = with_instances(single.scene(), mesh.scene(), places);
        const PreparedScene there = prepare_scene(scene), flat = prepare_scene(flattened(scene));
        ASSERT_EQ(there.placement.scale, flat.placement.scale);
        for (int i = 0; i < 400; ++i, ++rays) {
            // Half of them go to a corner of some triangle, beside which they may pass.
            const Point from = any_direction() * between(0.1, 6);
            const Triangle& aim = flat.triangles[random() % flat.triangles.size()];
            const Point to = i % 2 == 0 ? wide(aim.a) : any_direction();
            const Point origin = flat.placement.place(from);
            const Ray ray = ray_along(rounded(origin), rounded(normalised(to - origin)));
            const Hit hit = nearest_hit(view_of(there), ray), expected = nearest_hit(view_of(flat), ray);
            const bool is_hit = hit.triangle != PATH_TRACER_NO_TRIANGLE;
            if (is_hit != (expected.triangle != PATH_TRACER_NO_TRIANGLE) ||
                (is_hit && std::abs(hit.distance - expected.distance) > 1e-5f)) {
                ++different; // beside an edge
                continue;
            }
            if (!is_hit) continue;
            ++hits;
            const float cosine = dot(normal_at(there, hit), normal_at(flat, expected));
            different += cosine < 0.999f;
            EXPECT_TRUE(is_blocked(view_of(there), ray, hit.distance * 1.0001f + 1e-5f));
            EXPECT_FALSE(is_blocked(view_of(there), ray, hit.distance * 0.9999f - 1e-5f));
        }
    }
    EXPECT_GT(hits, rays / 5);
    EXPECT_LT(different, rays / 200);
}

TEST_F(Instances, NoRayLeavesAClosedMesh) {
    SceneBuilder single, mesh;
    single.material(lambert(0.5f)).box({-100, -100, -100}, {100, 100, 100}); // bodies are small in it
    mesh.material(lambert(0.5f)).sphere({0.1f, -0.2f, 0.3f}, 1.7f, 3);
    for (int round = 0; round < 40; ++round) {
        const Transform place = any_place(50, 1e-3, 10, round % 2 == 0 ? 1 : 100);
        const PreparedScene ready = prepare_scene(with_instances(single.scene(), mesh.scene(), {place}));
        for (int i = 0; i < 600; ++i) {
            const Point from = place({between(-0.4, 0.6), between(-0.7, 0.3), between(-0.2, 0.8)});
            const SceneTriangle& aim = mesh.scene().triangles[random() % mesh.scene().triangles.size()];
            const double along = i % 4 == 0 ? 0 : between(0, 1);
            const Point to = place(i % 2 == 0 ? aim.a * (1 - along) + aim.b * along : any_direction() * 3);
            const Ray ray = ray_along(rounded(ready.placement.place(from)), rounded(normalised(to - from)));
            ASSERT_EQ(nearest_hit(view_of(ready), ray).instance, 0u) << "round " << round << ", ray " << i;
        }
    }
}

TEST_F(Instances, NoRayThatLeavesOneLeavesTheRoom) {
    // The floor goes through the bodies: rays begin beside it, on either side of the corner that they make.
    SceneBuilder single, mesh;
    single.material(lambert(0.5f)).box({-4, -4, -4}, {4, 4, 4}).box({-4, -4, -4}, {4, 0, 4});
    mesh.material(lambert(0.5f)).sphere({0, 0, 0}, 1, 2);
    for (int round = 0; round < 100; ++round) {
        std::vector<Transform> places;
        for (int i = 0; i < 8; ++i) {
            places.push_back(any_place(2, 0.05, 1, round % 2 == 0 ? 1 : 30));
            places.back().shift.y = 0;
        }
        const PreparedScene ready = prepare_scene(with_instances(single.scene(), mesh.scene(), places));
        const Frame frame = small_frame(ready, {{0, 0, 3}, {0, 0, 0}, 40}, 1, 1);
        for (int i = 0; i < 1000; ++i) {
            PathVertex vertex = begin_path(frame, 0);
            vertex.left_instance = static_cast<uint32_t>(random() % ready.instances.size());
            do vertex.left = static_cast<uint32_t>(random() % ready.triangles.size());
            while (ready.triangles[vertex.left].id < single.scene().triangles.size());
            vertex.u = static_cast<float>(i % 3 == 0 ? 1e-6 : between(0, 0.5));
            vertex.v = static_cast<float>(i % 5 == 0 ? 1e-6 : between(0, 0.5));
            vertex.direction = rounded(any_direction());
            const Hit hit = nearest_hit(view_of(ready), ray_of(view_of(ready), frame, vertex));
            ASSERT_NE(hit.triangle, PATH_TRACER_NO_TRIANGLE) << "round " << round << ", ray " << i;
            ASSERT_TRUE(hit.triangle != vertex.left || hit.instance != vertex.left_instance);
        }
    }
}

TEST_F(Instances, NormalsOfSqueezedOnesAreAtRightAngles) {
    SceneBuilder single, mesh;
    single.material(lambert(0.5f));
    mesh.material(lambert(0.5f)).sphere({0, 0, 0}, 1, 2);
    for (int round = 0; round < 200; ++round) {
        const Transform place = any_place(2, 0.1, 1, 1000);
        const PreparedScene ready = prepare_scene(with_instances(single.scene(), mesh.scene(), {place}));
        for (uint32_t i = 0; i < ready.triangles.size(); ++i) {
            const SceneTriangle& own = mesh.scene().triangles[ready.triangles[i].id];
            const Point across = normalised(cross(place(own.b) - place(own.a), place(own.c) - place(own.a))) *
                                 (place.mirrors() ? -1 : 1); // outside of the mesh
            const Point normal = wide(normal_at(ready, {0, 0, i, 0, 0, 0}));
            ASSERT_GT(dot(normal, across), 0.9999) << "round " << round << ", triangle " << i;
        }
    }
}

/// Normals that lean to all sides, in numbers that floats of 16 bits have: 0, 1/2, 1.
TextureImage leaning_picture() {
    constexpr uint32_t half = 0x3800, one = 0x3c00;
    TextureImage image;
    image.width = image.height = 4;
    for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t red = i % 3 == 0 ? one : half, green = i % 5 == 0 ? 0 : i % 2 == 0 ? one : half;
        image.texels.push_back({red | green << 16, one | one << 16});
    }
    return image;
}

TEST_F(Instances, PathsShowWhatTheyShowOfPlainTriangles) {
    const auto sum_of = [](const std::vector<Rgb>& film) {
        Rgb sum{0, 0, 0};
        for (const Rgb& pixel : film) sum = sum + pixel;
        return sum;
    };
    for (int round = 0; round < 4; ++round) {
        SurfaceDescription tinted = glass(1.4f), shiny = lambert(0.6f), paint = lambert(0.7f);
        tinted.absorption = {0.1f, 0.5f, 1};
        tinted.roughness = round % 2 == 0 ? 0 : 0.3f;
        shiny.highlight = {1, 1, 1};
        shiny.highlight_edge = 1;
        shiny.roughness = 0.4f;
        if (round % 2 == 1) {
            paint.passing = Passing::its_share;
            paint.opacity = 0.6f;
        } else {
            paint.textures.colour = paint.textures.normal = TextureUse{.image = 0};
        }
        SceneBuilder room, ball;
        room.material(shiny).box({-4, -4, -4}, {4, 4, 4}).material(tinted).material(paint);
        room.material(lambert(0, 30)).triangle({-1, 3.9, -1}, {1, 3.9, -1}, {0, 3.9, 1});
        ball.sphere({0, 0, 0}, 1, 2).normals([](Point corner) { return corner; });
        if (round % 4 > 1)
            ball.colours([](Point corner) {
                const auto part = [](double value) { return static_cast<float>(0.5 + 0.4 * value); };
                return Rgb{part(corner.x), part(corner.y), part(corner.z)};
            });
        Scene single = room.scene(), mesh = ball.scene();
        single.images.push_back(leaning_picture());
        for (SceneTriangle& triangle : mesh.triangles) {
            triangle.material = static_cast<uint32_t>(whole_between(0, 2));
            triangle.places = static_cast<uint32_t>(mesh.places.size());
            const auto place = [&] {
                return TexturePoint{static_cast<float>(between(0, 3)), static_cast<float>(between(0, 3))};
            };
            mesh.places.push_back({place(), place(), place()});
        }
        std::vector<Transform> places;
        for (int i = 0; i < 12; ++i) places.push_back(any_place(2.5, 0.2, 1, round % 3 == 0 ? 1 : 4));
        const Scene scene = with_instances(single, mesh, places);
        const PreparedScene there = prepare_scene(scene), flat = prepare_scene(flattened(scene));
        const CameraPose pose{{0, 0, 3.5}, {0, 0, 0}, 70};
        Frame frame = small_frame(there, pose, 24, 18), flat_frame = small_frame(flat, pose, 24, 18);
        frame.shadow_rays = flat_frame.shadow_rays = 1;
        frame.max_depth = flat_frame.max_depth = 8;
        const uint32_t samples = 16;
        const std::vector<Rgb> film = sum_with_consumer(there, frame, samples),
                               expected = sum_with_consumer(flat, flat_frame, samples);
        std::size_t different = 0;
        for (std::size_t i = 0; i < film.size(); ++i)
            different += std::abs(film[i].g - expected[i].g) > 0.02f * (1 + expected[i].g);
        // A path that passes an edge otherwise goes elsewhere; there are few of them.
        EXPECT_LT(different, film.size() / 8) << "round " << round;
        EXPECT_NEAR(sum_of(film).g / sum_of(expected).g, 1, 0.03) << "round " << round;
        EXPECT_NEAR(sum_of(film).b / sum_of(expected).b, 1, 0.03) << "round " << round;
    }
}

TEST_F(Instances, ThatShowTheSameAtTheSamePlaceAreOne) {
    SceneBuilder single, mesh;
    single.material(lambert(0.5f));
    mesh.material(lambert(0.5f)).sphere({0, 0, 0}, 1, 2);
    int left = 0;
    for (int round = 0; round < 50; ++round) {
        const Transform place = any_place(5, 0.01, 2, 10);
        const PreparedScene ready = prepare_scene(
            with_instances(single.scene(), mesh.scene(), {place, any_place(5, 1, 1, 1), place}));
        Frame frame = small_frame(ready, {place({0, 0, 3}), place({0, 0, 0}), 40}, 8, 8);
        for (uint64_t i = 0; i < 64; ++i) {
            const PathVertex vertex = begin_path(frame, i);
            const Hit hit = nearest_hit(view_of(ready), ray_of(view_of(ready), frame, vertex));
            if (hit.triangle == PATH_TRACER_NO_TRIANGLE || hit.instance == 1) continue;
            const VertexResult result = trace_vertex(view_of(ready), frame, vertex);
            if (!result.goes_on) continue;
            ++left;
            const Hit next = nearest_hit(view_of(ready), ray_of(view_of(ready), frame, result.next));
            if (next.triangle != PATH_TRACER_NO_TRIANGLE) {
                EXPECT_EQ(next.instance, 1u) << "a ray comes back to the convex body that it has left";
            }
        }
        EXPECT_EQ(ready.instances.size(), 2u);
    }
    EXPECT_GT(left, 1000);
}

TEST(ManyInstances, TakeLittleMemory) {
    SceneBuilder mesh;
    mesh.material(lambert(0.5f)).sphere({0, 0, 0}, 0.4f, 3);
    std::vector<Transform> places;
    constexpr int side = 60;
    for (int x = 0; x < side; ++x)
        for (int y = 0; y < side; ++y)
            for (int z = 0; z < side; ++z)
                places.push_back(*transform_of({1.0 * x, 1.0 * y, 1.0 * z}, {0, 0, 0, 1}, {1, 1, 1}));
    SceneBuilder single;
    single.material(lambert(0.5f));
    const PreparedScene ready = prepare_scene(with_instances(single.scene(), mesh.scene(), places));
    ASSERT_EQ(ready.instances.size(), places.size());
    EXPECT_LT(ready.triangles.size(), 2 * mesh.scene().triangles.size());
    const std::size_t bytes =
        ready.nodes.size() * sizeof(BvhNode) + ready.instances.size() * sizeof(Instance);
    EXPECT_LT(bytes, 250 * places.size() + 1'000'000);
    // Along a row of balls, and between rows.
    const auto meets = [&](Point from, Float3 along) {
        const Ray ray = ray_along(rounded(ready.placement.place(from)), along);
        return nearest_hit(view_of(ready), ray).triangle != PATH_TRACER_NO_TRIANGLE;
    };
    EXPECT_TRUE(meets({-3, 7, 9}, {1, 0, 0}));
    EXPECT_FALSE(meets({-3, 7.5, 9.5}, {1, 0, 0}));
    EXPECT_TRUE(meets({20.5, 7, 9}, {-1, 0, 0}));
}

TEST(DegenerateInstances, AreLeftOut) {
    SceneBuilder single, mesh;
    single.material(lambert(0.5f)).box({-1, -1, -1}, {1, 1, 1});
    mesh.material(lambert(0.5f)).sphere({0, 0, 0}, 1, 1);
    const Transform point = *transform_of({0, 0, 0}, {0, 0, 0, 1}, {1e-30, 1e-30, 1e-30});
    const PreparedScene ready = prepare_scene(with_instances(single.scene(), mesh.scene(), {point}));
    EXPECT_EQ(nearest_hit(view_of(ready), ray_along({0.2f, 0.1f, 0}, {0, 0, 1})).instance, PATH_TRACER_NONE);
    Scene without_area = with_instances(single.scene(), {}, {Transform{}});
    EXPECT_NO_THROW(static_cast<void>(prepare_scene(without_area)));
}

} // namespace
} // namespace path_tracer::test
