// Textures, against double precision and closed forms: which texel is where, how they are averaged from afar,
// and what colour, metal, emission, normals and opacity make of a surface.
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "vector_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace path_tracer::test {
namespace {

using Colour = std::array<double, 4>; ///< red, green, blue, opacity

/// Floats of 16 bits between 0 and 1 in steps that they all have.
std::uint32_t half_of(double value) {
    if (value == 0) return 0;
    int exponent;
    const double fraction = std::frexp(value, &exponent); // 1/2 to 1
    return static_cast<std::uint32_t>(exponent + 14) << 10 |
           (static_cast<std::uint32_t>(std::lround(fraction * 2048)) & 1023);
}

/// A picture, and the same in double precision.
struct Picture {
    std::uint32_t width, height;
    std::vector<Colour> colours;

    [[nodiscard]] TextureImage image() const {
        TextureImage image;
        image.width = width;
        image.height = height;
        image.is_opaque =
            std::all_of(colours.begin(), colours.end(), [](const Colour& c) { return c[3] == 1; });
        for (const Colour& c : colours)
            image.texels.push_back(
                {half_of(c[0]) | half_of(c[1]) << 16, half_of(c[2]) | half_of(c[3]) << 16});
        return image;
    }
    /// As if the picture went on for ever.
    [[nodiscard]] Colour texel(long column, long row, Wrap wrap_u, Wrap wrap_v) const {
        const auto place = [](long i, long count, Wrap wrap) {
            if (wrap == WRAP_KEEPS_EDGE) return std::clamp(i, 0L, count - 1);
            const long period = wrap == WRAP_MIRRORS ? 2 * count : count;
            const long in_period = (i % period + period) % period;
            return in_period < count ? in_period : 2 * count - 1 - in_period;
        };
        return colours[static_cast<std::size_t>(place(row, height, wrap_v) * width +
                                                place(column, width, wrap_u))];
    }
    [[nodiscard]] Colour bilinear(double u, double v, Wrap wrap_u, Wrap wrap_v) const {
        if (wrap_u == WRAP_KEEPS_EDGE) u = std::clamp(u, 0.0, 1.0);
        if (wrap_v == WRAP_KEEPS_EDGE) v = std::clamp(v, 0.0, 1.0);
        const double x = u * width - 0.5, y = v * height - 0.5;
        const long column = std::lround(std::floor(x)), row = std::lround(std::floor(y));
        Colour sum{};
        for (const long i : {0L, 1L})
            for (const long j : {0L, 1L}) {
                const double right = x - static_cast<double>(column), down = y - static_cast<double>(row);
                const double weight = (i == 1 ? right : 1 - right) * (j == 1 ? down : 1 - down);
                const Colour own = texel(column + i, row + j, wrap_u, wrap_v);
                for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += weight * own[k];
            }
        return sum;
    }
};

Picture uniform(const Colour& colour) { return {1, 1, {colour}}; }

/// A parallelogram in the plane z = 0 whose corners have places in textures.
struct Sheet {
    Point corner{-1, -1, 0}, along{2, 0, 0}, up{0, 2, 0};
    TexturePoint at_corner{0, 1}, at_along{1, 1}, at_up{0, 0};

    void add_to(Scene& scene, uint32_t material) const {
        const Point beyond = corner + along + up;
        const TexturePoint at_beyond{at_along.u + at_up.u - at_corner.u, at_along.v + at_up.v - at_corner.v};
        const auto add = [&](Point a, Point b, Point c, TexturePoint of_a, TexturePoint of_b,
                             TexturePoint of_c) {
            SceneTriangle triangle{a, b, c, material};
            triangle.places = static_cast<uint32_t>(scene.places.size());
            scene.triangles.push_back(triangle);
            scene.places.push_back({of_a, of_b, of_c});
        };
        add(corner, corner + along, beyond, at_corner, at_along, at_beyond);
        add(corner, beyond, corner + up, at_corner, at_beyond, at_up);
    }
    /// Where a point of the plane lies in the texture.
    [[nodiscard]] std::array<double, 2> place_of(Point point) const {
        const Point from = point - corner;
        const double det = along.x * up.y - along.y * up.x;
        const double s = (from.x * up.y - from.y * up.x) / det,
                     t = (along.x * from.y - along.y * from.x) / det;
        const auto mixed = [&](double a, double b, double c) { return a + s * (b - a) + t * (c - a); };
        return {mixed(at_corner.u, at_along.u, at_up.u), mixed(at_corner.v, at_along.v, at_up.v)};
    }
};

uint32_t add(Scene& scene, const SurfaceDescription& surface) {
    scene.materials.push_back(surface);
    return static_cast<uint32_t>(scene.materials.size() - 1);
}
TextureUse use_of(Scene& scene, const Picture& picture) {
    scene.images.push_back(picture.image());
    TextureUse use{};
    use.image = static_cast<uint32_t>(scene.images.size() - 1);
    return use;
}

/// A whole path.
Rgb radiance_of(const PreparedScene& scene, const Frame& frame, std::uint64_t index) {
    Rgb sum{0, 0, 0};
    PathVertex vertex = begin_path(frame, index);
    for (bool goes_on = true; goes_on;) {
        const VertexResult result = trace_vertex(view_of(scene), frame, vertex);
        sum = sum + result.radiance;
        goes_on = result.goes_on;
        vertex = result.next;
    }
    return sum;
}

/// Where a ray from the camera meets z = 0.
Point met(const Frame& frame, Point eye, std::uint64_t index) {
    const Point direction = wide(begin_path(frame, index).direction);
    return eye + direction * (-eye.z / direction.z);
}

class Textures : public Seeded {
protected:
    static constexpr std::uint64_t of_picture = std::uint64_t{24} * 24; ///< paths, one a pixel

    Picture any_picture(std::uint32_t width, std::uint32_t height) {
        Picture picture{width, height, {}};
        for (std::uint32_t i = 0; i < width * height; ++i) {
            Colour colour;
            for (double& part : colour) part = whole_between(1, 1024) / 1024.0;
            picture.colours.push_back(colour);
        }
        return picture;
    }
    Wrap any_wrap() {
        return std::array{WRAP_REPEATS, WRAP_MIRRORS,
                          WRAP_KEEPS_EDGE}[static_cast<std::size_t>(whole_between(0, 2))];
    }
    Frame frame_of(const PreparedScene& scene, const CameraPose& pose, uint32_t side = 24) {
        Frame frame = small_frame(scene, pose, side, side);
        frame.seed_low = static_cast<std::uint32_t>(random());
        frame.sky = {1, 1, 1};
        return frame;
    }
};

TEST_F(Textures, LieWhereTheirCornersSay) {
    for (int scenes = 0; scenes < 60; ++scenes) {
        const Picture picture = any_picture(static_cast<std::uint32_t>(whole_between(1, 9)),
                                            static_cast<std::uint32_t>(whole_between(1, 9)));
        Scene scene;
        SurfaceDescription surface = lambert(1);
        TextureUse use = use_of(scene, picture);
        for (double& number : use.transform) number = between(-2, 2);
        use.wrap_u = any_wrap();
        use.wrap_v = any_wrap();
        use.is_pixelated = whole_between(0, 1) == 1;
        surface.textures.colour = use;
        Sheet sheet;
        for (TexturePoint* at : {&sheet.at_corner, &sheet.at_along, &sheet.at_up})
            *at = {static_cast<float>(between(-2, 2)), static_cast<float>(between(-2, 2))};
        sheet.add_to(scene, add(scene, surface));
        const PreparedScene prepared = prepare_scene(scene);
        const Point eye{between(-1, 1), between(-1, 1), 3};
        const Frame frame = frame_of(prepared, {eye, {0, 0, 0}, 25});
        int compared = 0;
        for (std::uint64_t i = 0; i < of_picture; ++i) {
            const auto [u, v] = sheet.place_of(met(frame, eye, i));
            const auto& m = use.transform;
            const double s = m[0] * u + m[1] * v + m[2], t = m[3] * u + m[4] * v + m[5];
            Colour expected = picture.bilinear(s, t, use.wrap_u, use.wrap_v);
            if (use.is_pixelated) {
                const double x = s * picture.width, y = t * picture.height;
                if (std::abs(x - std::round(x)) < 1e-3 || std::abs(y - std::round(y)) < 1e-3) continue;
                expected = picture.texel(std::lround(std::floor(x)), std::lround(std::floor(y)), use.wrap_u,
                                         use.wrap_v);
            }
            const Rgb shown = radiance_of(prepared, frame, i);
            ASSERT_NEAR(shown.r, expected[0], 3e-4) << s << ' ' << t;
            ASSERT_NEAR(shown.g, expected[1], 3e-4) << s << ' ' << t;
            ASSERT_NEAR(shown.b, expected[2], 3e-4) << s << ' ' << t;
            ++compared;
        }
        EXPECT_GT(compared, 400);
    }
}

TEST_F(Textures, ShowTheirMeanFromAfar) {
    for (int scenes = 0; scenes < 20; ++scenes) {
        const Picture picture = any_picture(static_cast<std::uint32_t>(whole_between(1, 40)),
                                            static_cast<std::uint32_t>(whole_between(1, 40)));
        double mean = 0;
        for (const Colour& colour : picture.colours)
            mean += colour[0] / static_cast<double>(picture.colours.size());
        Scene scene;
        SurfaceDescription surface = lambert(1);
        surface.textures.colour = use_of(scene, picture);
        Sheet{}.add_to(scene, add(scene, surface));
        const PreparedScene prepared = prepare_scene(scene);
        Frame frame = frame_of(prepared, {{0, 0, 30}, {0, 0, 0}, 3}, 4);
        // As wide as the picture, whatever its sides: half of the scene is one unit of kernels, 15 away.
        frame.spread = 1.1f / 15;
        for (std::uint64_t i = 0; i < 16; ++i) EXPECT_NEAR(radiance_of(prepared, frame, i).r, mean, 2e-3);
    }
}

/// The standard deviation of pixels that all see the same mixture of black and white.
double flicker_of(std::uint32_t texels_of_a_pixel, std::mt19937& random) {
    Picture picture{256, 256, {}};
    for (int i = 0; i < 256 * 256; ++i) {
        const double grey = std::uniform_int_distribution<int>(0, 1)(random);
        picture.colours.push_back({grey, grey, grey, 1});
    }
    Scene scene;
    SurfaceDescription surface = lambert(1);
    surface.textures.colour = use_of(scene, picture);
    Sheet sheet;
    sheet.at_along.u = sheet.at_corner.v = sheet.at_along.v = 16; // the picture 16 times along each side
    sheet.add_to(scene, add(scene, surface));
    const PreparedScene prepared = prepare_scene(scene);
    constexpr uint32_t side = 16, samples = 64;
    // Seen: side x texels_of_a_pixel texels, of 16 x 256 in two units of length.
    const double seen = 2.0 * side * texels_of_a_pixel / (16 * 256), away = 3;
    const auto degrees = static_cast<float>(2 * std::atan(0.5 * seen / away) * 180 / std::numbers::pi);
    const CameraPose pose{{0.13, 0.07, away}, {0.13, 0.07, 0}, degrees};
    Frame frame = small_frame(prepared, pose, side, side);
    frame.sky = {1, 1, 1};
    frame.spread = sample_width(pose, prepared.placement, side, samples).spread;
    double sum = 0, sum2 = 0;
    for (const Rgb& pixel : sum_with_consumer(prepared, frame, samples)) {
        sum += double{pixel.r} / samples;
        sum2 += std::pow(double{pixel.r} / samples, 2);
    }
    const double mean = sum / (side * side);
    EXPECT_NEAR(mean, 0.5, 0.03);
    return std::sqrt(sum2 / (side * side) - mean * mean);
}

TEST_F(Textures, DoNotFlickerWithSixtyFourSamples) {
    // Without averages a pixel would be 64 texels by chance: 0.5 / 8. What is left below is that of the
    // picture itself, 0.5 / texels, and a little noise.
    for (const std::uint32_t texels : {16u, 32u, 64u})
        EXPECT_LT(flicker_of(texels, random), 0.5 / texels + 0.01) << texels;
}

TEST_F(Textures, ColourTheBaseAndNotTheMirrorOnIt) {
    Scene scene;
    SurfaceDescription surface{
        .base = {0.5f, 0.5f, 0.5f}, .metallic = 0.25f, .mirror = {0.25f, 0.25f, 0.25f}};
    surface.textures.colour = use_of(scene, uniform({0.5, 0.25, 0, 1}));
    Sheet{}.add_to(scene, add(scene, surface));
    const PreparedScene prepared = prepare_scene(scene);
    Frame frame = frame_of(prepared, {{0, 0, 3}, {0, 0, 0}, 30}, 64);
    Rgb sum{0, 0, 0};
    for (const Rgb& pixel : sum_with_consumer(prepared, frame, 4)) sum = sum + pixel * (0.25f / (64 * 64));
    EXPECT_NEAR(sum.r, 0.5 * 0.5 + 0.25, 0.01);
    EXPECT_NEAR(sum.g, 0.25 * 0.5 + 0.25, 0.01);
    EXPECT_NEAR(sum.b, 0.25, 0.01);
}

TEST_F(Textures, SayWhereMetalIs) {
    // The left half is metal, the right half is none: mirrored directions there and here.
    Scene scene;
    SurfaceDescription surface{.base = {0.5f, 0.5f, 0.5f}, .metallic = 1};
    surface.textures.metal = use_of(scene, {2, 1, {{0, 0, 1, 1}, {0, 0, 0, 1}}});
    surface.textures.metal->is_pixelated = true;
    Sheet{}.add_to(scene, add(scene, surface));
    const PreparedScene prepared = prepare_scene(scene);
    const Point eye{0, 0, 3};
    const Frame frame = frame_of(prepared, {eye, {0, 0, 0}, 30});
    for (std::uint64_t i = 0; i < of_picture; ++i) {
        const PathVertex vertex = begin_path(frame, i);
        const VertexResult result = trace_vertex(view_of(prepared), frame, vertex);
        ASSERT_TRUE(result.goes_on);
        const Float3 mirrored{vertex.direction.x, vertex.direction.y, -vertex.direction.z};
        const bool is_mirrored = length(result.next.direction - mirrored) < 1e-5f;
        EXPECT_EQ(is_mirrored, met(frame, eye, i).x < 0);
        EXPECT_NEAR(result.next.throughput.r, 0.5f, 1e-6f);
    }
}

TEST_F(Textures, TurnNormalsInTheFrameOfTheirAxes) {
    for (int scenes = 0; scenes < 200; ++scenes) {
        const std::array<double, 3> stored = {whole_between(256, 768) / 1024.0,
                                              whole_between(256, 768) / 1024.0, 1};
        Scene scene;
        SurfaceDescription surface = mirror(1);
        surface.textures.normal = use_of(scene, uniform({stored[0], stored[1], stored[2], 1}));
        const double scale = between(0.2, 1.5);
        surface.textures.normal_scale = static_cast<float>(scale);
        Sheet sheet; // its texture turned, stretched and perhaps mirrored
        const double turn = between(0, 6.28), wide_u = between(0.3, 3),
                     side = whole_between(0, 1) == 0 ? 1 : -1;
        const auto at = [&](double x, double y) {
            return TexturePoint{static_cast<float>(wide_u * (std::cos(turn) * x - std::sin(turn) * y)),
                                static_cast<float>(side * (std::sin(turn) * x + std::cos(turn) * y))};
        };
        sheet.at_corner = at(-1, -1);
        sheet.at_along = at(1, -1);
        sheet.at_up = at(-1, 1);
        sheet.add_to(scene, add(scene, surface));
        const PreparedScene prepared = prepare_scene(scene);
        // In x and y: u grows along (cos, -sin), and v along side (sin, cos). Green is against v.
        const Point along_u{std::cos(turn), -std::sin(turn), 0},
            against_v = Point{std::sin(turn), std::cos(turn), 0} * -side;
        const Point leaning =
            normalised(along_u * (scale * (2 * stored[0] - 1)) + against_v * (scale * (2 * stored[1] - 1)) +
                       Point{0, 0, 1} * (2 * stored[2] - 1));
        for (const double front : {1.0, -1.0}) { // from behind, the same surface seen from its other side
            const Point eye{between(-1, 1), between(-1, 1), 5 * front};
            const Frame frame = frame_of(prepared, {eye, {0, 0, 0}, 10}, 4);
            for (std::uint64_t i = 0; i < 16; ++i) {
                const PathVertex vertex = begin_path(frame, i);
                const VertexResult result = trace_vertex(view_of(prepared), frame, vertex);
                const Point direction = wide(vertex.direction), normal = leaning;
                const Point mirrored = direction - normal * (2 * dot(direction, normal));
                if (mirrored.z * front < 1e-3) continue; // below the surface: lifted
                ASSERT_LT(length(wide(result.next.direction) - mirrored), 1e-5);
            }
        }
    }
}

// ---- emission

/// A floor below a lamp with this picture.
struct LampRoom {
    PreparedScene prepared;
    Frame frame;

    LampRoom(const Picture& picture, std::uint32_t seed) {
        Scene scene;
        SurfaceDescription lamp = lambert(0, 4);
        lamp.textures.emission = use_of(scene, picture);
        Sheet sheet;
        sheet.corner = {-0.5, 1, -0.5};
        sheet.along = {1, 0, 0};
        sheet.up = {0, 0, 1};
        sheet.add_to(scene, add(scene, lamp));
        const uint32_t floor = add(scene, lambert(0.8f));
        scene.triangles.push_back({{-2, 0, -2}, {-2, 0, 2}, {2, 0, 2}, floor});
        scene.triangles.push_back({{-2, 0, -2}, {2, 0, 2}, {2, 0, -2}, floor});
        prepared = prepare_scene(scene);
        frame = small_frame(prepared, {{0, 0.6, 3}, {0, 0, 0}, 30}, 16, 16);
        frame.seed_low = seed;
        frame.max_depth = 2;
    }
    [[nodiscard]] Estimate mean(uint32_t shadow_rays, uint32_t samples) {
        frame.shadow_rays = shadow_rays;
        return estimate(prepared, frame, samples);
    }
};

void expect_same(const Estimate& a, const Estimate& b) {
    EXPECT_NEAR(a.mean, b.mean, 4 * std::hypot(a.standard_error, b.standard_error));
    EXPECT_GT(a.mean, 0);
}

TEST_F(Textures, OfLampsAreFoundByShadowRaysAsByChance) {
    Picture half_dark = any_picture(7, 5);
    for (std::size_t i = 0; i < half_dark.colours.size(); i += 2) half_dark.colours[i] = {0, 0, 0, 1};
    LampRoom room(half_dark, static_cast<std::uint32_t>(random()));
    const Estimate by_shadow_rays = room.mean(1, 400), by_chance = room.mean(0, 1600);
    expect_same(by_shadow_rays, by_chance);
    EXPECT_LT(by_shadow_rays.standard_error, by_chance.standard_error);
}

TEST_F(Textures, ThatAreBlackEmitNothingAndCostNoShadowRays) {
    LampRoom room(uniform({0, 0, 0, 1}), static_cast<std::uint32_t>(random()));
    EXPECT_EQ(room.prepared.light_count, 0u);
    EXPECT_EQ(room.mean(1, 10).mean, 0);
}

TEST_F(Textures, OfLampsHaveOneLightForEachTriangleByItsPower) {
    // The upper half of the picture is dark, and so is one of two sheets.
    Scene scene;
    SurfaceDescription lamp = lambert(0, 1);
    lamp.textures.emission = use_of(scene, {1, 2, {{0, 0, 0, 1}, {1, 1, 1, 1}}});
    lamp.textures.emission->is_pixelated = true;
    const uint32_t material = add(scene, lamp);
    Sheet dark, bright;
    dark.at_corner = {0, 0.4f}, dark.at_along = {1, 0.4f}, dark.at_up = {0, 0.1f};
    bright.corner = {5, 0, 0};
    bright.at_corner = {0, 0.9f}, bright.at_along = {1, 0.9f}, bright.at_up = {0, 0.6f};
    dark.add_to(scene, material);
    bright.add_to(scene, material);
    const PreparedScene prepared = prepare_scene(scene);
    double of_dark = 0, of_bright = 0;
    for (const Triangle& triangle : prepared.triangles)
        (triangle.id < 2 ? of_dark : of_bright) += 1 / double{triangle.inverse_density};
    EXPECT_LT(of_dark, 0.1 * of_bright);
    EXPECT_GT(of_dark, 0) << "some place of it may be bright all the same";
}

// ---- what is not opaque

TEST_F(Textures, HolesAreWhereThePictureSays) {
    Picture picture = any_picture(6, 6);
    for (Colour& colour : picture.colours) colour[3] = whole_between(0, 1);
    Scene scene;
    SurfaceDescription surface = lambert(0.5f);
    surface.passing = Passing::all;
    surface.textures.opacity = use_of(scene, picture);
    const Sheet sheet;
    sheet.add_to(scene, add(scene, surface));
    const PreparedScene prepared = prepare_scene(scene);
    const Point eye{0.2, -0.3, 4};
    Frame frame = frame_of(prepared, {eye, {0, 0, 0}, 25});
    for (std::uint64_t i = 0; i < of_picture; ++i) {
        const auto [u, v] = sheet.place_of(met(frame, eye, i));
        const double opacity = picture.bilinear(u, v, WRAP_REPEATS, WRAP_REPEATS)[3];
        if (std::abs(opacity - 0.5) < 1e-3) continue;
        EXPECT_EQ(radiance_of(prepared, frame, i).r, opacity > 0.5 ? 0.5f : 1.0f);
    }
}

TEST_F(Textures, HolesFromAfarCoverWhatTheyCoverNearby) {
    Picture picture = any_picture(64, 64); // three of ten texels are opaque
    double covered = 0;
    for (Colour& colour : picture.colours) {
        colour[3] = whole_between(0, 9) < 3 ? 1 : 0;
        covered += colour[3] / static_cast<double>(picture.colours.size());
    }
    Scene scene;
    SurfaceDescription surface = lambert(0);
    surface.passing = Passing::all;
    surface.textures.opacity = use_of(scene, picture);
    surface.textures.opacity->is_pixelated = true;
    Sheet{}.add_to(scene, add(scene, surface));
    const PreparedScene prepared = prepare_scene(scene);
    Frame frame = frame_of(prepared, {{0, 0, 30}, {0, 0, 0}, 3}, 16);
    frame.spread = 0.05f; // a sample is as wide as many texels
    const Estimate seen = estimate(prepared, frame, 40);
    EXPECT_NEAR(1 - seen.mean, covered, 4 * seen.standard_error);
}

TEST_F(Textures, LightPassesByItsShareThroughEachLayer) {
    const double opacity = whole_between(100, 400) / 1024.0;
    constexpr int layers = 5;
    Scene scene;
    SurfaceDescription black = lambert(0);
    black.passing = Passing::its_share;
    black.opacity = static_cast<float>(opacity);
    const uint32_t material = add(scene, black);
    for (int layer = 0; layer < layers; ++layer) {
        Sheet sheet;
        sheet.corner.z = -0.1 * layer;
        sheet.add_to(scene, material);
    }
    const PreparedScene prepared = prepare_scene(scene);
    Frame frame = frame_of(prepared, {{0, 0, 4}, {0, 0, 0}, 20});
    frame.max_depth = 1; // what a path passes is no hit
    const Estimate seen = estimate(prepared, frame, 40);
    EXPECT_NEAR(seen.mean, std::pow(1 - opacity, layers), 4 * seen.standard_error);
}

TEST_F(Textures, LayersWithinOneAnotherEnd) {
    Scene scene;
    SurfaceDescription clear = lambert(0.5f);
    clear.passing = Passing::its_share;
    clear.opacity = 0;
    const uint32_t material = add(scene, clear);
    for (int layer = 0; layer < 40; ++layer) { // nearly one plane, and twins
        Sheet sheet;
        sheet.corner.x -= 0.01 * std::floor(0.5 * layer);
        sheet.add_to(scene, material);
    }
    const PreparedScene prepared = prepare_scene(scene);
    const Frame frame = frame_of(prepared, {{0.3, 0.2, 4}, {0, 0, 0}, 20});
    for (std::uint64_t i = 0; i < of_picture; ++i) EXPECT_EQ(radiance_of(prepared, frame, i).r, 1.0f);
}

/// A floor and a lamp above it, with a screen between them.
PreparedScene screened(double opacity, bool by_picture) {
    Scene scene;
    SurfaceDescription screen = lambert(0);
    screen.passing = Passing::its_share;
    screen.opacity = by_picture ? 1 : static_cast<float>(opacity);
    if (by_picture) screen.textures.opacity = use_of(scene, uniform({1, 1, 1, opacity}));
    Sheet between_them;
    between_them.corner = {-3, 0.5, -3};
    between_them.along = {6, 0, 0};
    between_them.up = {0, 0, 6};
    between_them.add_to(scene, add(scene, screen));
    Sheet lamp = between_them, floor = between_them;
    lamp.corner = {-0.4, 1, -0.4};
    lamp.along = {0.8, 0, 0};
    lamp.up = {0, 0, 0.8};
    floor.corner.y = 0;
    lamp.add_to(scene, add(scene, lambert(0, 5)));
    floor.add_to(scene, add(scene, lambert(0.7f)));
    return prepare_scene(scene);
}

TEST_F(Textures, ScreensDimLampsByTheirShare) {
    const double opacity = whole_between(200, 900) / 1024.0;
    const auto mean = [&](const PreparedScene& room, uint32_t shadow_rays) {
        Frame frame = small_frame(room, {{0, 0.3, 4}, {0, 0, 0}, 10}, 16, 16);
        frame.max_depth = 2;
        frame.shadow_rays = shadow_rays;
        frame.seed_low = static_cast<std::uint32_t>(random());
        return estimate(room, frame, shadow_rays == 0 ? 2000 : 500);
    };
    const Estimate clear = mean(screened(0, false), 1);
    for (const bool by_picture : {false, true}) {
        const PreparedScene room = screened(opacity, by_picture);
        const Estimate by_shadow_rays = mean(room, 1), by_chance = mean(room, 0);
        expect_same(by_shadow_rays, by_chance);
        expect_same(by_shadow_rays, {clear.mean * (1 - opacity), clear.standard_error});
    }
}

TEST(PathVertex, KeepsItsHitsAndRoughlyItsLength) {
    for (const uint32_t hits : {0u, 1u, 7u, (1u << PATH_TRACER_HITS_BITS) - 1})
        for (const float length : {0.0f, 1e-6f, 0.3f, 1.0f, 5.7f, 1e6f}) {
            PathVertex vertex{};
            vertex.hits_and_length = hits_and_length(hits, length);
            EXPECT_EQ(hits_of(&vertex), hits);
            EXPECT_NEAR(length_of(&vertex), length, length / 16);
        }
}

} // namespace
} // namespace path_tracer::test
