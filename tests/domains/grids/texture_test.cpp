// tests/domains/grids/texture_test.cpp - pictures sampled on every device, against arithmetic in double
// precision.
#include "texture.kernels.hpp"

#include <devices/devices_fixture.hpp>
#include <headrace/domains/grids/launch.hpp>
#include <headrace/domains/grids/texture.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace headrace::test {
namespace {

/// Pixel `i` of a row or column of `size`, which goes on beyond its ends.
int pixel(long i, int size, Addressing addressing) {
    if (addressing == Addressing::clamp) return static_cast<int>(std::clamp<long>(i, 0, size - 1));
    const long period = 2L * size, within = (i % period + period) % period;
    return static_cast<int>(within < size ? within : period - 1 - within);
}

struct Picture {
    int rows, columns;
    std::vector<float> pixels;

    [[nodiscard]] double at(long row, long column, Addressing addressing) const {
        return pixels[static_cast<std::size_t>(pixel(row, rows, addressing)) * columns +
                      pixel(column, columns, addressing)];
    }
    /// As one would on paper: the four pixels around the point, wherever those are.
    [[nodiscard]] double sample(double x, double y, Addressing addressing) const {
        const double left = std::floor(x), top = std::floor(y), a = x - left, b = y - top;
        const auto column = static_cast<long>(left), row = static_cast<long>(top);
        return (1 - b) * ((1 - a) * at(row, column, addressing) + a * at(row, column + 1, addressing)) +
               b * ((1 - a) * at(row + 1, column, addressing) + a * at(row + 1, column + 1, addressing));
    }
};

/// Between 0 and 1. `contrast`: how far neighbours may differ, in either direction.
Picture picture(int rows, int columns, double contrast, unsigned seed) {
    std::minstd_rand random(seed);
    std::uniform_real_distribution<double> anything;
    Picture made{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i)
        made.pixels.push_back(static_cast<float>(0.5 + contrast * (anything(random) - 0.5)));
    return made;
}

/// Inside, on pixels, on both sides of every edge, and up to five pictures away.
std::vector<float> points_for(const Picture& picture, unsigned seed) {
    std::minstd_rand random(seed);
    const auto width = static_cast<float>(picture.columns), height = static_cast<float>(picture.rows);
    std::vector<float> points;
    const auto add = [&](float x, float y) { points.insert(points.end(), {x, y}); };
    for (const float x :
         {0.0f, 0.5f, -0.5f, -0.25f, -1.0f, -1.5f, width - 1, width - 0.5f, width - 0.75f, width,
          width + 0.5f, 2 * width - 1, 2 * width, -width, -2 * width, 3 * width + 0.25f})
        for (const float y :
             {0.0f, -0.5f, 0.5f, height - 1, height - 0.5f, height, -height - 0.25f, 2 * height})
            add(x, y);
    std::uniform_real_distribution<float> near(-0.75f, 0.75f), far(-5, 5);
    for (int i = 0; i < 2000; ++i) add((0.5f + near(random)) * width, (0.5f + near(random)) * height);
    for (int i = 0; i < 500; ++i) add(far(random) * width, far(random) * height);
    for (int i = 0; i < 100; ++i)
        add(static_cast<float>(random() % picture.columns), static_cast<float>(random() % picture.rows));
    return points;
}

constexpr std::pair<int, int> sizes[] = {{1, 1},  {1, 7},   {7, 1},    {2, 2},   {3, 5},
                                         {33, 8}, {64, 64}, {61, 131}, {200, 96}};

class Textures : public OnDevices {
protected:
    struct Samples {
        std::vector<float> filtered, exact;
    };

    Samples sample(const Picture& from, const std::vector<float>& points, Addressing addressing,
                   Filter filter = Filter::hardware) {
        Controller controller(device());
        Array<float> pixels("pixels", {from.rows, from.columns});
        std::ranges::copy(from.pixels, pixels.fill().begin());
        const auto count = static_cast<std::int64_t>(points.size() / 2);
        Array<float> at("points", {2 * count}), filtered("filtered", {count}), exact("exact", {count});
        std::ranges::copy(points, at.fill().begin());
        const Texture image(pixels, addressing, filter);
        launch<SampleAt>(controller, grid(count), image, at, filtered, exact, static_cast<int>(addressing));
        const auto a = filtered.gather(), b = exact.gather();
        return {{a.begin(), a.end()}, {b.begin(), b.end()}};
    }

    /// What single precision may be off by: roundings of the sum, and those of coordinates on their way
    /// through the mirrors, as large as they are there, each times the slope of the picture.
    static double rounding(const Picture& from, float x, float y, double contrast) {
        const double largest = std::abs(x) + std::abs(y) + 2.0 * (from.rows + from.columns);
        return 1e-6 + contrast * std::ldexp(largest, -23);
    }
};
INSTANTIATE_TEST_SUITE_P(Every, Textures, every_device(), test_name);
INSTANTIATE_TEST_SUITE_P(OnCopies, Textures, ::testing::Values(two_private_cpus), test_name);

TEST_P(Textures, SamplesAreWhatArithmeticSays) {
    unsigned seed = 0;
    // Weights of 8 bits are off by 1/512 at most, in each of two directions, and the sum is rounded to some
    // 12 bits (an H200 was off by 1.14e-3 where neighbours differ by a quarter): with a sixth, that is below
    // a thousandth of the range.
    constexpr double contrast = 1.0 / 6, hardware = 1e-3;
    for (const auto& [rows, columns] : sizes)
        for (const Addressing addressing : {Addressing::clamp, Addressing::mirror}) {
            const Picture from = picture(rows, columns, contrast, ++seed);
            const auto points = points_for(from, seed);
            const Samples samples = sample(from, points, addressing);
            for (std::size_t i = 0; i < samples.exact.size(); ++i) {
                const float x = points[2 * i], y = points[2 * i + 1];
                const double right = from.sample(x, y, addressing);
                ASSERT_NEAR(samples.filtered[i], right, hardware + rounding(from, x, y, contrast))
                    << "at " << x << ", " << y << " of " << columns << " x " << rows << ", seed " << seed;
                ASSERT_NEAR(samples.exact[i], right, rounding(from, x, y, contrast))
                    << "at " << x << ", " << y << " of " << columns << " x " << rows << ", seed " << seed;
            }
        }
}

TEST_P(Textures, NoiseIsOffByNoMoreThanTheWeights) {
    const Picture from = picture(61, 131, 1, 5);
    const auto points = points_for(from, 6);
    const Samples samples = sample(from, points, Addressing::mirror);
    for (std::size_t i = 0; i < samples.filtered.size(); ++i) {
        const float x = points[2 * i], y = points[2 * i + 1];
        ASSERT_NEAR(samples.filtered[i], from.sample(x, y, Addressing::mirror),
                    2.0 / 512 + rounding(from, x, y, 1));
    }
}

TEST_P(Textures, OnPixelsBothFiltersGiveThePixelItself) {
    const Picture from = picture(37, 51, 1, 9);
    std::vector<float> points;
    for (int y = 0; y < from.rows; ++y)
        for (int x = 0; x < from.columns; ++x)
            points.insert(points.end(), {static_cast<float>(x), static_cast<float>(y)});
    const Samples samples = sample(from, points, Addressing::clamp);
    EXPECT_EQ(samples.exact, from.pixels);
    for (std::size_t i = 0; i < samples.filtered.size(); ++i)
        ASSERT_NEAR(samples.filtered[i], from.pixels[i], 1e-6) << i;
}

TEST_P(Textures, TheExactFilterCanBeChosenOnTheHost) {
    if (device().info().technology == "opencl") GTEST_SKIP() << "there the function called says it";
    const Picture from = picture(64, 64, 1, 3);
    const auto points = points_for(from, 4);
    const Samples samples = sample(from, points, Addressing::mirror, Filter::exact);
    EXPECT_EQ(samples.filtered, samples.exact);
}

TEST_P(Textures, ShowAlignedRowsInPlace) {
    if (device().info().technology != "cuda") GTEST_SKIP() << "others need a copy, or none at all";
    const auto memory = device().allocate(1 << 20);
    const auto in_place = [&](Bytes offset, int columns) {
        return device().make_texture(*memory, offset, 5, columns)->shows_memory();
    };
    EXPECT_TRUE(in_place(0, 64));
    EXPECT_TRUE(in_place(1024, 8));
    EXPECT_FALSE(in_place(0, 7)); // rows that do not begin at 32 bytes
    EXPECT_FALSE(in_place(4, 64));
    EXPECT_THROW(static_cast<void>(device().make_texture(*memory, 0, 5000, 64)), Error); // beyond the memory
}

TEST_P(Textures, AnArrayCanBeSampledWithoutOne) {
    const Picture from = picture(61, 131, 1, 11);
    const auto points = points_for(from, 12);
    const auto count = static_cast<std::int64_t>(points.size() / 2);
    Controller controller(device());
    Array<float> pixels("pixels", {from.rows, from.columns}), at("points", {2 * count}),
        exact("exact", {count});
    std::ranges::copy(from.pixels, pixels.fill().begin());
    std::ranges::copy(points, at.fill().begin());
    for (const Addressing addressing : {Addressing::clamp, Addressing::mirror}) {
        launch<SampleArray>(controller, grid(count), pixels, from.rows, from.columns, at, exact,
                            static_cast<int>(addressing));
        const auto got = exact.gather();
        for (std::int64_t i = 0; i < count; ++i) {
            const float x = points[2 * i], y = points[2 * i + 1];
            ASSERT_NEAR(got[i], from.sample(x, y, addressing), rounding(from, x, y, 1)) << x << ", " << y;
        }
    }
}

TEST_P(Textures, WhatIsNoNumberSamplesAnEdge) {
    const float none = std::numeric_limits<float>::quiet_NaN(), far = std::numeric_limits<float>::infinity();
    const Picture from = picture(4, 8, 1, 3);
    for (const Addressing addressing : {Addressing::clamp, Addressing::mirror})
        for (const float value :
             sample(from, {none, 1, 1, none, far, -far, -far, far, 1e30f, -1e30f}, addressing).exact) {
            EXPECT_GE(value, 0);
            EXPECT_LE(value, 1);
        }
}

TEST_P(Textures, ShowWhatTheProgramWroteLastWhoeverDid) {
    Controller controller(device());
    const auto plane = grid(19, 24);
    Array<float> pixels("pixels", plane), out("out", plane);
    const Texture image(pixels);
    for (float& pixel : pixels.fill()) pixel = 1;
    launch<Shift>(controller, plane, image, out, 0.5f, 0.0f);
    EXPECT_EQ(out.gather()[100], 1);
    launch<Fill>(controller, plane, pixels, 2.0f); // a kernel, and nobody waits
    launch<Shift>(controller, plane, image, out, 0.5f, 0.5f);
    launch<Fill>(controller, plane, pixels, 3.0f); // later: not seen
    EXPECT_EQ(out.gather()[100], 2);
    host_task(
        controller,
        [](Write<float> all) {
            for (float& x : std::span(all.data(), 19 * 24)) x = 4;
        },
        pixels);
    launch<Shift>(controller, plane, image, out, 0.25f, 0.0f);
    EXPECT_EQ(out.gather()[100], 4);
}

TEST_P(Textures, FollowAnArrayThatAControllerLetGo) {
    Controller controller(device());
    const auto plane = grid(8, 16);
    Array<float> pixels("pixels", plane), out("out", plane);
    const Texture image(pixels);
    for (float& pixel : pixels.fill()) pixel = 1;
    launch<Shift>(controller, plane, image, out, 0.5f, 0.0f);
    EXPECT_EQ(out.gather()[0], 1);
    for (float& pixel : pixels.fill()) pixel = 2;
    controller.release(pixels.storage());
    launch<Shift>(controller, plane, image, out, 0.5f, 0.0f);
    EXPECT_EQ(out.gather()[0], 2);
}

TEST_P(Textures, AFailedPictureFailsTheSample) {
    Controller controller(device());
    const auto plane = grid(8, 16);
    Array<float> pixels("pixels", plane), out("out", plane);
    host_task(
        controller,
        [](Write<float>) {
            throw Error{ErrorKind::kernel, "no film"};
        },
        pixels);
    const Texture image(pixels);
    const Event event = launch<Shift>(controller, plane, image, out, 0.5f, 0.0f);
    ASSERT_TRUE(event.outcome());
    EXPECT_EQ(event.outcome()->message(), "no film");
}

TEST(Texture, IsMadeOfTwoDimensions) {
    const Array<float> line("line", {7}), volume("volume", {2, 3, 4});
    EXPECT_THROW(Texture{volume}, Error);
    EXPECT_THROW(Texture{line}, Error);
}

TEST(TextureView, CanBeHadOfPlainMemory) {
    const Picture from = picture(3, 5, 1, 1);
    const TextureView view = texture_view(from.pixels.data(), 3, 5, Addressing::mirror);
    EXPECT_NEAR(view.sample(-1.25f, 3.5f), from.sample(-1.25, 3.5, Addressing::mirror), 1e-6);
}

} // namespace
} // namespace headrace::test
