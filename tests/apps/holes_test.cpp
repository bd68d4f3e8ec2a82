// Holes in surfaces: a ray meets what lies behind them, as it does by an independent search in double
// precision.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "vector_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace path_tracer::test {
namespace {

constexpr std::uint32_t half_float_of_one = 0x3c00, half_float_of_quarter = 0x3400;

/// Where a ray crosses the plane of a triangle, within it.
struct Crossing {
    double distance;
    double opacity;
    double certainty; ///< distance to the next edge of the triangle or of a texel, in parts of those
};

/// A soup of triangles. Materials are opaque, with holes, and, if wanted, of parts that dim.
class Soup {
public:
    Soup(std::mt19937& random, bool has_partial) {
        SceneBuilder builder;
        const auto with_picture = [&](Passing passing, uint32_t image) {
            SurfaceDescription surface = lambert(0.5f);
            surface.passing = passing;
            surface.textures.opacity = TextureUse{.image = image};
            surface.textures.opacity->is_pixelated = true;
            return surface;
        };
        builder.material(lambert(0.5f)).material(with_picture(Passing::all, 0));
        builder.material(with_picture(has_partial ? Passing::its_share : Passing::all, has_partial ? 1 : 0));
        builder.soup(random, 150, 1, 1.5f);
        scene = builder.scene();
        for (const bool is_partial : {false, true}) {
            TextureImage& image = scene.images.emplace_back();
            image.width = width;
            image.height = height;
            for (uint32_t i = 0; i < width * height; ++i) {
                const auto kind = random() % (is_partial ? 3 : 2);
                opacities_[is_partial ? 1 : 0][i] = kind == 0 ? 0 : kind == 1 ? 1 : 0.25;
                const uint32_t opacity = kind == 0   ? 0
                                         : kind == 1 ? half_float_of_one
                                                     : half_float_of_quarter;
                image.texels.push_back(
                    {half_float_of_one | half_float_of_one << 16, half_float_of_one | opacity << 16});
            }
        }
        std::uniform_real_distribution<float> place(0, 3);
        for (SceneTriangle& triangle : scene.triangles) {
            triangle.material = random() % 8 == 0 ? 0 : 1 + random() % 2;
            triangle.places = static_cast<uint32_t>(scene.places.size());
            scene.places.push_back({TexturePoint{place(random), place(random)},
                                    TexturePoint{place(random), place(random)},
                                    TexturePoint{place(random), place(random)}});
        }
    }

    /// All, nearest first, by Cramer's rule.
    [[nodiscard]] std::vector<Crossing> crossings(Point origin, Point direction) const {
        std::vector<Crossing> all;
        for (const SceneTriangle& triangle : scene.triangles) {
            const Point ab = triangle.b - triangle.a, ac = triangle.c - triangle.a;
            const Point p = cross(direction, ac), to_origin = origin - triangle.a;
            const double determinant = dot(ab, p);
            if (determinant == 0) continue;
            const double u = dot(to_origin, p) / determinant,
                         v = dot(direction, cross(to_origin, ab)) / determinant,
                         distance = dot(ac, cross(to_origin, ab)) / determinant;
            const double margin = std::min({u, v, 1 - u - v});
            if (margin < -1e-4 || distance < -1e-4) continue;
            all.push_back(
                {distance, 1, std::min({std::abs(margin), std::abs(distance), std::abs(determinant)})});
            if (triangle.material != 0) look_at_picture(triangle, u, v, all.back());
        }
        std::sort(all.begin(), all.end(),
                  [](const Crossing& a, const Crossing& b) { return a.distance < b.distance; });
        return all;
    }

    Scene scene;

private:
    static constexpr uint32_t width = 5, height = 7;

    void look_at_picture(const SceneTriangle& triangle, double u, double v, Crossing& crossing) const {
        const auto& [a, b, c] = scene.places[triangle.places];
        const auto texel = [&](double of_a, double of_b, double of_c, uint32_t count) {
            const double place = ((1 - u - v) * of_a + u * of_b + v * of_c) * count;
            crossing.certainty = std::min(crossing.certainty, std::abs(place - std::round(place)));
            return static_cast<uint32_t>(std::floor(place)) % count;
        };
        const uint32_t column = texel(a.u, b.u, c.u, width), row = texel(a.v, b.v, c.v, height);
        const bool is_partial = scene.materials[triangle.material].passing == Passing::its_share;
        crossing.opacity = opacities_[is_partial ? 1 : 0][row * width + column];
    }

    std::array<std::array<double, std::size_t{width} * height>, 2> opacities_{};
};

/// The same soup as one mesh in one other place.
Scene as_instance(Scene scene, const Transform& place) {
    scene.meshes.push_back({0, scene.triangles.size()});
    scene.instances.push_back({0, place});
    return scene;
}

class Holes : public Seeded {
protected:
    Point any_point(double extent) {
        return {between(-extent, extent), between(-extent, extent), between(-extent, extent)};
    }
    /// Rays through soups: most pass some holes, and all of what they cross is told apart by floats.
    void expect_same(bool has_partial, const std::optional<Transform>& place) {
        int passed = 0, met = 0;
        for (int round = 0; round < 12; ++round) {
            const Soup soup(random, has_partial);
            const PreparedScene prepared =
                prepare_scene(place ? as_instance(soup.scene, *place) : soup.scene);
            const SceneView view = view_of(prepared);
            Frame frame = small_frame(prepared, {{0, 0, 9}, {0, 0, 0}, 30}, 1, 1);
            EXPECT_EQ(frame.holes, has_partial ? HOLES_PARTIAL : HOLES_CLEAR);
            for (int i = 0; i < 300; ++i) {
                const Point origin = any_point(2), direction = normalised(any_point(1) - origin);
                const std::vector<Crossing> all = soup.crossings(origin, direction);
                if (std::any_of(all.begin(), all.end(), [](const Crossing& c) { return c.certainty < 2e-3; }))
                    continue;
                const auto first =
                    std::find_if(all.begin(), all.end(), [](const Crossing& c) { return c.opacity > 0; });
                const Point from = place ? (*place)(origin) : origin;
                const Point to = place ? (*place)(origin + direction) : origin + direction;
                const double stretch = length(to - from) * prepared.placement.scale;
                const Ray ray =
                    ray_along(rounded(prepared.placement.place(from)), rounded(normalised(to - from)));
                const Frame there = small_frame(prepared, {from, to, 30}, 1, 1);
                PathVertex vertex = begin_path(there, 0);
                vertex.direction = ray.direction;
                Meeting seen;
                // Chance decides what else is met.
                if (first == all.end() || first->opacity == 1) {
                    ASSERT_EQ(next_meeting(AnyScene{}, &view, &there, &vertex, &seen), first != all.end());
                }
                if (first != all.end() && first->opacity == 1) {
                    ASSERT_NEAR(seen.distance_to, first->distance * stretch, 1e-4);
                    passed += first != all.begin();
                    ++met;
                }
                double light = 1;
                for (const Crossing& crossing : all) light *= 1 - crossing.opacity;
                EXPECT_FLOAT_EQ(light_through(AnyScene{}, &view, &frame, ray, 100),
                                static_cast<float>(light));
                if (first == all.end()) continue;
                const auto before = static_cast<float>(first->distance * stretch * 0.999);
                EXPECT_EQ(light_through(AnyScene{}, &view, &frame, ray, before), 1);
            }
        }
        EXPECT_GT(passed, met / 4) << "of " << met;
        EXPECT_GT(met, 500);
    }
};

TEST_F(Holes, ArePassedToWhatLiesBehind) { expect_same(false, std::nullopt); }
TEST_F(Holes, ArePassedBesideWhatDims) { expect_same(true, std::nullopt); }
TEST_F(Holes, OfInstancesArePassed) {
    expect_same(false, transform_of({0.3, -2, 0.7}, {0.1, 0.5, -0.3, 0.8}, {0.5, 2, -1}));
}

/// Rays that go through edges and corners, where floats cannot tell.
TEST_F(Holes, ArePassedAtEdgesAndCorners) {
    for (const Passing passing : {Passing::all, Passing::its_share}) {
        SurfaceDescription clear = lambert(0.5f);
        clear.passing = passing;
        clear.opacity = 0;
        SceneBuilder builder;
        builder.material(clear);
        for (int i = 0; i < 12; ++i) // fans around one axis, one behind the other
            for (int k = 0; k < 9; ++k) {
                const double z = -0.1 * i, from = 0.7 * k, to = 0.7 * (k + 1);
                builder.triangle({0, 0, z}, {std::cos(from), std::sin(from), z},
                                 {std::cos(to), std::sin(to), z});
            }
        builder.material(lambert(0.5f)).triangle({-9, -9, -2}, {9, -9, -2}, {0, 9, -2});
        const PreparedScene prepared = prepare_scene(builder.scene());
        const SceneView view = view_of(prepared);
        const Frame frame = small_frame(prepared, {{0, 0, 2}, {0, 0, 0}, 30}, 1, 1);
        const Point eye{0, 0, 2};
        for (int k = 0; k < 9; ++k) {
            const double far = k == 0 ? 0 : between(0, 0.9), angle = 0.7 * k;
            const Point at{far * std::cos(angle), far * std::sin(angle), 0};
            // Along an edge of one fan, or straight down the axis of all of them.
            const Ray ray = ray_along(rounded(prepared.placement.place(eye)), rounded(normalised(at - eye)));
            const auto to_wall = static_cast<float>(length(at - eye) * 2 * prepared.placement.scale);
            EXPECT_EQ(light_through(AnyScene{}, &view, &frame, ray, 0.999f * to_wall), 1) << k;
            EXPECT_EQ(light_through(AnyScene{}, &view, &frame, ray, 100), 0) << k;
            PathVertex vertex = begin_path(frame, 0);
            vertex.direction = ray.direction;
            Meeting met;
            ASSERT_TRUE(next_meeting(AnyScene{}, &view, &frame, &vertex, &met)) << k;
            EXPECT_NEAR(met.distance_to, to_wall, 1e-4) << k;
        }
    }
}

/// Sheets on a wall with the same corners: the wall is met everywhere, from both sides, and no ray that
/// leaves it meets a sheet.
TEST_F(Holes, OfSheetsOnAWallLeaveTheWall) {
    for (const bool wall_first : {false, true})
        for (const Passing passing : {Passing::all, Passing::its_share})
            for (const float opacity : {0.0f, 0.3f, 1.0f}) {
                SurfaceDescription sheet = lambert(0.9f), wall = lambert(0.5f);
                sheet.passing = passing;
                sheet.opacity = opacity;
                const Point corner = any_point(1), along = any_point(1), up = any_point(1);
                SceneBuilder builder;
                for (const bool is_wall : {wall_first, !wall_first}) {
                    builder.material(is_wall ? wall : sheet);
                    const Point beyond = corner + along + up;
                    if (is_wall) // corners in another order
                        builder.triangle(corner, corner + along, beyond)
                            .triangle(corner, beyond, corner + up);
                    else
                        builder.triangle(beyond, corner + along, corner)
                            .triangle(corner + up, corner, beyond);
                }
                const PreparedScene prepared = prepare_scene(builder.scene());
                EXPECT_EQ(prepared.hidden, 2u);
                EXPECT_EQ(prepared.holes, HOLES_NONE);
                const SceneView view = view_of(prepared);
                const Frame frame = small_frame(prepared, {{0, 0, 3}, {0, 0, 0}, 30}, 1, 1);
                for (int i = 0; i < 200; ++i) {
                    const double u = between(0.01, 0.98), v = i % 2 == 0 ? u : between(0.01, 0.98);
                    const Point at = corner + along * u + up * v,
                                eye = any_point(3); // half go to the diagonal
                    const Ray ray =
                        ray_along(rounded(prepared.placement.place(eye)), rounded(normalised(at - eye)));
                    const Hit hit = nearest_hit(view, ray);
                    ASSERT_NE(hit.triangle, PATH_TRACER_NO_TRIANGLE);
                    EXPECT_EQ(prepared.triangles[hit.triangle].material, wall_first ? 0u : 1u);
                    EXPECT_EQ(light_through(AnyScene{}, &view, &frame, ray, 100), 0);
                    Ray back = ray_behind(ray, &prepared.triangles[hit.triangle], &hit);
                    back.direction = negated(back.direction);
                    EXPECT_EQ(light_through(AnyScene{}, &view, &frame, back, 100), 1);
                }
            }
}

/// Seen from afar, a sheet of squares that are holes or not dims by what they cover, wherever a ray goes.
TEST_F(Holes, FromAfarDimByWhatTheyCover) {
    SurfaceDescription sheet = lambert(0);
    sheet.passing = Passing::its_share;
    sheet.textures.opacity = TextureUse{.image = 0};
    sheet.textures.opacity->is_pixelated = true;
    SceneBuilder builder;
    builder.material(sheet).triangle({-9, -9, 0}, {9, -9, 0}, {0, 9, 0});
    Scene scene = builder.scene();
    TextureImage& image = scene.images.emplace_back();
    image.width = image.height = 64;
    int covered = 0;
    for (int i = 0; i < 64 * 64; ++i) {
        const bool is_opaque = whole_between(0, 9) < 4;
        covered += is_opaque;
        image.texels.push_back({0, is_opaque ? half_float_of_one << 16 : 0});
    }
    scene.triangles[0].places = 0;
    scene.places.push_back({TexturePoint{0, 0}, TexturePoint{8, 0}, TexturePoint{4, 8}});
    const PreparedScene prepared = prepare_scene(scene);
    Frame frame = small_frame(prepared, {{0, 0, 30}, {0, 0, 0}, 6}, 16, 16);
    frame.sky = {1, 1, 1};
    const Estimate near_by = estimate(prepared, frame, 60);
    frame.spread = 0.05f; // a sample is as wide as the picture
    const Estimate afar = estimate(prepared, frame, 60);
    const double expected = 1 - covered / (64.0 * 64);
    EXPECT_NEAR(near_by.mean, expected, 5 * near_by.standard_error);
    EXPECT_NEAR(afar.mean, expected, 5 * afar.standard_error);
}

} // namespace
} // namespace path_tracer::test
