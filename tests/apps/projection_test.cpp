// Cameras with parallel rays and with a lens, against what geometry says.
#include "apps/error_of.hpp"
#include "apps/host_renderer.hpp"
#include "apps/scene_builder.hpp"
#include "apps/seeds.hpp"
#include "vector_math.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace path_tracer::test {
namespace {

using headrace::test::error_of;
using headrace::test::mentions;

class Projections : public Seeded {
protected:
    /// A glowing square around a point, which faces +z.
    static void add_square(SceneBuilder& builder, Point middle, double half) {
        const auto at = [&](double x, double y) { return middle + Point{x * half, y * half, 0}; };
        builder.material(lambert(0, 1));
        builder.triangle(at(-1, -1), at(1, -1), at(1, 1)).triangle(at(-1, -1), at(1, 1), at(-1, 1));
    }
    std::vector<Rgb> shown(const Scene& scene, const CameraPose& pose, uint32_t side, uint32_t samples) {
        const PreparedScene prepared = prepare_scene(scene);
        Frame frame = small_frame(prepared, pose, side, side);
        frame.seed_low = static_cast<std::uint32_t>(random());
        frame.max_depth = 1;
        return sum_with_consumer(prepared, frame, samples);
    }
};

/// Sum, means and variances of what glows, in pixels.
struct Spot {
    double sum = 0, x = 0, y = 0, variance_x = 0, variance_y = 0;

    Spot(const std::vector<Rgb>& pixels, std::size_t side) {
        const auto for_each = [&](const auto& visit) {
            for (std::size_t i = 0; i < pixels.size(); ++i) {
                const std::size_t row = i / side, column = i % side;
                visit(static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5, double{pixels[i].r});
            }
        };
        for_each([&](double column, double row, double light) {
            sum += light;
            x += light * column;
            y += light * row;
        });
        x /= sum;
        y /= sum;
        for_each([&](double column, double row, double light) {
            variance_x += light * (column - x) * (column - x) / sum;
            variance_y += light * (row - y) * (row - y) / sum;
        });
    }
};

TEST_F(Projections, ParallelRaysShowSizesAndPlacesWhateverTheDistance) {
    const Point middle{between(-0.5, 0.5), between(-0.5, 0.5), between(-50, 5)};
    const double half = between(0.5, 1);
    SceneBuilder builder;
    add_square(builder, middle, half);
    builder.material(lambert(0)).triangle({-1, -1, -60}, {1, -1, -60}, {0, 1, -60}); // dark
    CameraPose pose{{0, 0, 20}, {0, 0, 0}, 45};
    pose.orthographic_height = 4;
    constexpr std::size_t side = 40;
    constexpr double pixel = 4.0 / side, samples = 64;
    const Spot spot(shown(builder.scene(), pose, side, static_cast<uint32_t>(samples)), side);
    EXPECT_NEAR(spot.sum / samples * pixel * pixel, 4 * half * half, 0.01 * 4 * half * half);
    EXPECT_NEAR((spot.x - 0.5 * side) * pixel, middle.x, 0.01);
    EXPECT_NEAR((0.5 * side - spot.y) * pixel, middle.y, 0.01); // rows count from the top
    EXPECT_NEAR(spot.variance_x * pixel * pixel, half * half / 3, 0.02);
}

TEST_F(Projections, ParallelRaysAreParallel) {
    SceneBuilder builder;
    add_square(builder, {0, 0, 0}, 1);
    const PreparedScene prepared = prepare_scene(builder.scene());
    CameraPose pose{{3, 4, 5}, {0, 0, 0}, 45, std::nullopt, 30};
    pose.orthographic_height = 2;
    const Frame frame = small_frame(prepared, pose, 8, 8);
    const Point forward = normalised(Point{-3, -4, -5});
    for (std::uint64_t i = 0; i < 64; ++i)
        EXPECT_LT(length(wide(begin_path(frame, i).direction) - forward), 1e-6);
}

TEST_F(Projections, ParallelRaysAreAsFineFromFarAway) {
    SceneBuilder builder;
    add_square(builder, {0, 0, 0}, 1);
    const PreparedScene prepared = prepare_scene(builder.scene());
    const Point way = normalised(Point{between(-1, 1), between(-1, 1), 1});
    CameraPose near_by{way * 5, {0, 0, 0}, 45}, far_away{way * 1e5, {0, 0, 0}, 45};
    near_by.orthographic_height = far_away.orthographic_height = 0.01;
    const Frame here = small_frame(prepared, near_by, 8, 8), there = small_frame(prepared, far_away, 8, 8);
    for (std::uint64_t i = 0; i < 64; ++i) {
        const PathVertex a = begin_path(here, i), b = begin_path(there, i);
        const Point from_a = wide(camera_origin(&here.camera, a.u, a.v)),
                    from_b = wide(camera_origin(&there.camera, b.u, b.v));
        EXPECT_LT(length(cross(from_a - from_b, way)), 1e-6);
    }
}

TEST_F(Projections, ALensShowsItsFocusSharpAndAllElseAsDisks) {
    // A small lamp at a distance d from a lens of radius r that is focussed at f: its rays meet the plane in
    // focus in a disk with the radius r |1 - f / d|, whose variance along an axis is a quarter of its square.
    const double r = between(0.1, 0.3), f = between(4, 8);
    for (const double d : {f, f * between(0.4, 0.8), f * between(1.2, 3)}) {
        SceneBuilder builder;
        const double half = 0.01 * d;
        add_square(builder, {0, 0, -d}, half);
        builder.material(lambert(0)).triangle({-9, -9, -40}, {9, -9, -40}, {0, 9, -40}); // dark
        CameraPose pose{{0, 0, 0}, {0, 0, -1}, 40};
        pose.lens_radius = r;
        pose.focus = f;
        constexpr std::size_t side = 60;
        const double pixel = 2 * std::tan(20 * 3.141592653589793 / 180) * f / side; // in the plane in focus
        const Spot spot(shown(builder.scene(), pose, side, 3000), side);
        const double radius = r * std::abs(1 - f / d), half_there = half * f / d;
        const double expected = radius * radius / 4 + half_there * half_there / 3 + pixel * pixel / 12;
        EXPECT_NEAR(spot.variance_x * pixel * pixel, expected, 0.05 * expected + 0.1 * pixel * pixel)
            << "f " << f << " d " << d;
        EXPECT_NEAR(spot.variance_y * pixel * pixel, expected, 0.05 * expected + 0.1 * pixel * pixel)
            << "f " << f << " d " << d;
    }
}

TEST_F(Projections, ScaleWithTheScene) {
    for (const double scale : {1e-6, 1e6}) {
        const auto of = [&](double size) {
            SceneBuilder builder;
            add_square(builder, Point{0.2, 0.1, -1} * size, 0.5 * size);
            CameraPose pose{Point{0, 0, 3} * size, {0, 0, 0}, 40};
            pose.lens_radius = 0.1 * size;
            pose.focus = 2 * size;
            random.seed(7);
            return Spot(shown(builder.scene(), pose, 32, 64), 32);
        };
        const Spot here = of(1), there = of(scale);
        EXPECT_NEAR(here.sum, there.sum, 0.01 * here.sum);
        EXPECT_NEAR(here.x, there.x, 0.1);
        EXPECT_NEAR(here.variance_x, there.variance_x, 0.05 * here.variance_x);
    }
}

TEST(Camera, BeyondWhatFloatsComputeWithIsRefused) {
    SceneBuilder builder;
    builder.material(lambert(0.5f)).triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
    const Placement placement = prepare_scene(builder.scene()).placement;
    const auto refusal = [&](double height, double radius, double focus) {
        CameraPose pose{{0, 0, 3}, {0, 0, 0}, 40};
        pose.orthographic_height = height;
        pose.lens_radius = radius;
        pose.focus = focus;
        return error_of([&] { static_cast<void>(make_camera(pose, placement, 8, 8)); });
    };
    EXPECT_TRUE(mentions(refusal(1e9, 0, 0), "orthographic"));
    EXPECT_TRUE(mentions(refusal(1e-9, 0, 0), "orthographic"));
    EXPECT_TRUE(mentions(refusal(0, 1e9, 1), "lens"));
    EXPECT_TRUE(mentions(refusal(0, 0.1, 1e-9), "focus"));
    EXPECT_TRUE(mentions(refusal(0, 0.1, 1e9), "focus"));
}

} // namespace
} // namespace path_tracer::test
