// Random numbers, the order of pixels, and the functions that must agree between technologies.
#include "path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace path_tracer {
namespace {

TEST(Philox, GivesTheAuthorsKnownAnswers) { // Random123, kat_vectors, philox4x32 with 7 rounds
    using random_numbers::philox4x32;
    const auto expect = [](random_numbers::Words4 found, std::array<uint32_t, 4> expected) {
        EXPECT_EQ((std::array{found.a, found.b, found.c, found.d}), expected);
    };
    expect(philox4x32(random_numbers::Words4{0, 0, 0, 0}, 0, 0),
           {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
    expect(philox4x32(random_numbers::Words4{~0u, ~0u, ~0u, ~0u}, ~0u, ~0u),
           {0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662});
    expect(philox4x32(random_numbers::Words4{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                      0x299f31d0),
           {0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a});
}

TEST(Philox, BlocksDifferByEverythingTheyAreKeyedBy) {
    Frame frame{};
    const float first = random_block(&frame, 1, 2, 3, 4).x;
    EXPECT_NE(first, random_block(&frame, 2, 2, 3, 4).x);
    EXPECT_NE(first, random_block(&frame, 1, 3, 3, 4).x);
    EXPECT_NE(first, random_block(&frame, 1, 2, 4, 4).x);
    EXPECT_NE(first, random_block(&frame, 1, 2, 3, 5).x);
    frame.seed_high = 1;
    EXPECT_NE(first, random_block(&frame, 1, 2, 3, 4).x);
}

class ImageOrder : public testing::TestWithParam<std::pair<uint32_t, uint32_t>> {};

TEST_P(ImageOrder, VisitsEveryPixelOnce) {
    const auto [width, height] = GetParam();
    std::vector<int> tiled(std::size_t{width} * height), shuffled(tiled.size());
    for (uint32_t i = 0; i < width * height; ++i) {
        const uint32_t pixel = tiled_pixel(i, width, height);
        ASSERT_LT(pixel, tiled.size());
        ++tiled[pixel];
        ++shuffled.at(shuffled_pixel(i, width * height));
    }
    EXPECT_EQ(std::count(tiled.begin(), tiled.end(), 1), static_cast<std::ptrdiff_t>(tiled.size()));
    EXPECT_EQ(std::count(shuffled.begin(), shuffled.end(), 1), static_cast<std::ptrdiff_t>(shuffled.size()));
}
INSTANTIATE_TEST_SUITE_P(Sizes, ImageOrder,
                         testing::Values(std::pair{1u, 1u}, std::pair{2u, 1u}, std::pair{1u, 7u},
                                         std::pair{8u, 4u}, std::pair{13u, 6u}, std::pair{640u, 360u},
                                         std::pair{17u, 1023u}, std::pair{5u, 3u}));

TEST(ImageOrder, LaneGroupsAreTilesOfEightByFour) {
    for (uint32_t i = 0; i < 32; ++i) {
        const uint32_t pixel = tiled_pixel(64 + i, 640, 360);
        EXPECT_EQ(pixel % 640 / 8, 2u);
        EXPECT_LT(pixel / 640, 4u);
    }
}

TEST(ImageOrder, CoherentPathsShareTheirKeyInGroupsOf32AndLieFarApart) {
    Frame frame{};
    frame.width = 256;
    frame.height = 128;
    frame.coherent = 1;
    double distance = 0;
    uint32_t last_pixel = 0, pixel, key, sample;
    for (uint32_t i = 0; i < 256 * 128; ++i) {
        place_path(&frame, headrace::View<const uint32_t>{}, std::uint64_t{3} * 256 * 128 + i, &pixel, &key,
                   &sample);
        ASSERT_EQ(key, i / 32);
        ASSERT_EQ(sample, 3u);
        if (i > 0)
            distance += std::hypot(static_cast<int>(pixel % 256) - static_cast<int>(last_pixel % 256),
                                   static_cast<int>(pixel / 256) - static_cast<int>(last_pixel / 256));
        last_pixel = pixel;
    }
    EXPECT_GT(distance / (256 * 128),
              80); // two random points of this picture are 104 pixels apart on average
}

TEST(ImageOrder, IndicesBeyond32BitsAreSamples) {
    Frame frame{};
    frame.width = 3;
    frame.height = 5;
    uint32_t pixel, key, sample;
    place_path(&frame, headrace::View<const uint32_t>{}, std::uint64_t{15} * 4'000'000'000u + 7, &pixel, &key,
               &sample);
    EXPECT_EQ(sample, 4'000'000'000u);
    EXPECT_EQ(pixel, tiled_pixel(7, 3, 5));
}

TEST(VectorMath, SineAndCosineOfTurns) {
    for (int i = 0; i < 1 << 20; ++i) {
        const float turns = static_cast<float>(i) / (1 << 20);
        float sine, cosine;
        sin_cos_of_turns(turns, &sine, &cosine);
        ASSERT_NEAR(sine, std::sin(2 * std::numbers::pi * double{turns}), 2e-7);
        ASSERT_NEAR(cosine, std::cos(2 * std::numbers::pi * double{turns}), 2e-7);
    }
}

TEST(VectorMath, FramesAreOrthonormalAndRightHanded) {
    for (int i = 0; i < 10000; ++i) {
        const float z = -1 + 2 * static_cast<float>(i) / 9999, r = std::sqrt(std::max(0.0f, 1 - z * z));
        const float angle = static_cast<float>(i) * 2.4f;
        const Float3 n{r * std::cos(angle), r * std::sin(angle), z};
        Float3 t, b;
        make_frame(n, &t, &b);
        for (const float product : {dot(n, t), dot(n, b), dot(t, b)}) ASSERT_NEAR(product, 0, 1e-6);
        ASSERT_NEAR(length(t), 1, 1e-6);
        ASSERT_NEAR(dot(cross(t, b), n), 1, 1e-6);
    }
}

TEST(Fresnel, KnownReflectances) {
    float cosine_in_far = 0;
    EXPECT_NEAR(fresnel(1, 1.5f, &cosine_in_far), 0.04, 1e-7);     // straight on: ((n - 1) / (n + 1))^2
    EXPECT_NEAR(fresnel(1, 1 / 1.5f, &cosine_in_far), 0.04, 1e-7); // the same from within
    EXPECT_NEAR(fresnel(1e-6f, 1.5f, &cosine_in_far), 1, 1e-4);    // grazing
    EXPECT_EQ(fresnel(0.5f, 1 / 1.5f, &cosine_in_far), 1);         // total internal reflection
    // At Brewster's angle half of the light, the part polarised along the plane, is not reflected.
    const float brewster = std::cos(std::atan(1.5f));
    const double sine = std::sin(std::atan(1.5)), refracted = std::asin(sine / 1.5),
                 s = std::sin(std::atan(1.5) - refracted);
    EXPECT_NEAR(fresnel(brewster, 1.5f, &cosine_in_far), s * s / 2, 1e-6);
    EXPECT_EQ(fresnel(0.7f, 1, &cosine_in_far), 0); // no boundary at all
}

} // namespace
} // namespace path_tracer
