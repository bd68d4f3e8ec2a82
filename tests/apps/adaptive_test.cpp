// Adaptive sampling, with made-up samples of known noise.
#include "adaptive.hpp"
#include "apps/seeds.hpp"
#include "image_order.h"
#include "passes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace path_tracer::test {
namespace {

class Adaptive : public Seeded {
protected:
    /// Adds samples with this mean and deviation, which may depend on the pixel, until all is done.
    template <class Noise>
    AdaptiveSampling run(uint32_t width, uint32_t height, double error, uint32_t most, const Noise& noise) {
        AdaptiveSampling sampling(width, height, error, most);
        sums.assign(std::size_t{width} * height, {});
        while (!sampling.pixels().empty()) {
            EXPECT_GT(sampling.next_samples(), 0u);
            add(sampling, std::uint64_t{sampling.next_samples()} * sampling.pixels().size(), noise);
        }
        return sampling;
    }
    template <class Noise>
    void add(AdaptiveSampling& sampling, std::uint64_t paths, const Noise& noise) {
        const auto pixels = sampling.pixels();
        for (std::uint64_t path = 0; path < paths; ++path) {
            const uint32_t pixel = pixels[path % pixels.size()];
            const double value = noise(pixel);
            for (double* part : {&sums[pixel].r, &sums[pixel].g, &sums[pixel].b}) *part += value;
        }
        sampling.add_round(sums, paths);
    }
    /// One sample of something that is mostly 0 and now and then bright.
    double sparks(double mean, double chance) { return between(0, 1) < chance ? mean / chance : 0; }

    std::vector<RgbSum> sums;
};

TEST_F(Adaptive, ReachesTheErrorThatItSays) {
    const double deviation = std::sqrt(1 / 0.3 - 1); // of sparks of mean 1 and chance 0.3
    for (const double wanted : {0.2, 0.05}) {
        const AdaptiveSampling sampling =
            run(50, 37, wanted, 1u << 20, [&](uint32_t) { return sparks(1, 0.3); });
        const auto reached = sampling.reached();
        EXPECT_EQ(reached.tiles, 12u);
        EXPECT_EQ(reached.good_tiles, reached.tiles);
        EXPECT_LE(reached.worst_error.value(), wanted);
        // Rounds are at most half of all before, and estimates are off by some percent.
        const double needed = std::pow(deviation / wanted, 2);
        const auto counts = sampling.counts();
        const double mean_samples =
            std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
        EXPECT_GT(mean_samples, 0.6 * needed);
        EXPECT_LT(mean_samples, 2.2 * needed);
        double squares = 0; // of the true errors
        for (std::size_t i = 0; i < sums.size(); ++i)
            squares += std::pow(sums[i].r / sampling.counts()[i] - 1, 2);
        EXPECT_LT(std::sqrt(squares / static_cast<double>(sums.size())), 1.1 * wanted);
    }
}

TEST_F(Adaptive, SamplesWhereTheNoiseIs) {
    const auto is_noisy = [](uint32_t pixel) { return pixel % 64 >= 48 && pixel / 64 < 16; }; // one tile
    const AdaptiveSampling sampling =
        run(64, 48, 0.05, 1u << 20, [&](uint32_t pixel) { return is_noisy(pixel) ? sparks(2, 0.2) : 0.5; });
    for (uint32_t pixel = 0; pixel < 64 * 48; ++pixel) {
        if (is_noisy(pixel))
            EXPECT_GT(sampling.counts()[pixel], 800u);
        else
            EXPECT_LE(sampling.counts()[pixel], 64u); // some rounds, to know
    }
    EXPECT_EQ(sampling.reached().good_tiles, 12u);
}

TEST_F(Adaptive, EndsAtTheMostSamples) {
    for (const uint32_t most : {1u, 2u, 8u, 100u, 333u}) {
        const AdaptiveSampling sampling = run(5, 3, 1e-6, most, [&](uint32_t) { return sparks(1, 0.5); });
        for (const uint32_t count : sampling.counts()) EXPECT_EQ(count, most);
        EXPECT_EQ(sampling.reached().good_tiles, 0u);
        if (most <= 8)
            EXPECT_FALSE(sampling.reached().worst_error); // one round tells nothing
        else
            EXPECT_GT(sampling.reached().worst_error.value(), 1e-6);
    }
}

TEST_F(Adaptive, BlackTilesAreGoodAndRareSparksAreLookedFor) {
    const AdaptiveSampling black = run(16, 16, 0.01, 1u << 20, [](uint32_t) { return 0.0; });
    EXPECT_EQ(black.reached().good_tiles, 1u);
    EXPECT_EQ(black.reached().worst_error.value(), 0);
    EXPECT_GE(black.samples(), 16u);
    const AdaptiveSampling rare = run(16, 16, 0.5, 1u << 20, [&](uint32_t) { return sparks(1, 0.01); });
    EXPECT_GT(rare.samples(), 200u); // 400 are needed
}

TEST_F(Adaptive, ARoundThatWasCutShortIsTheLast) {
    AdaptiveSampling sampling(20, 20, 1e-3, 1000);
    sums.assign(400, {});
    add(sampling, 3200, [&](uint32_t) { return sparks(1, 0.5); });
    ASSERT_EQ(sampling.pixels().size(), 400u);
    const std::vector<uint32_t> order(sampling.pixels().begin(), sampling.pixels().end());
    add(sampling, 1350, [&](uint32_t) { return sparks(1, 0.5); });
    EXPECT_TRUE(sampling.pixels().empty());
    for (std::size_t i = 0; i < order.size(); ++i)
        EXPECT_EQ(sampling.counts()[order[i]], i < 150 ? 12u : 11u) << i;
    EXPECT_GT(sampling.reached().worst_error.value(), 0.1);
}

TEST_F(Adaptive, TilesThatGotNothingOfAShortRoundAreNotBetterForIt) {
    AdaptiveSampling sampling(32, 16, 0.01, 1000); // two tiles
    sums.assign(512, {});
    add(sampling, 4096, [&](uint32_t) { return sparks(1, 0.5); });
    EXPECT_EQ(sampling.counts_with(100)[sampling.pixels()[99]], 9u);
    EXPECT_EQ(sampling.counts_with(100)[sampling.pixels()[100]], 8u);
    add(sampling, 100, [&](uint32_t) { return sparks(1, 0.5); });
    EXPECT_EQ(sampling.reached().good_tiles, 0u);
    EXPECT_FALSE(sampling.reached().worst_error);
}

TEST_F(Adaptive, SmallTilesAreNotGoodByChance) {
    double squares = 0;
    constexpr int pictures = 300;
    for (int picture = 0; picture < pictures; ++picture) {
        const AdaptiveSampling sampled = run(1, 1, 0.1, 1u << 20, [&](uint32_t) { return sparks(1, 0.3); });
        const double mean = sums[0].r / sampled.counts()[0];
        EXPECT_GT(mean, 0);
        squares += (mean - 1) * (mean - 1);
    }
    EXPECT_LT(std::sqrt(squares / pictures), 0.15);
}

TEST_F(Adaptive, PixelsAreAllThereOnce) {
    for (const auto& [width, height] : {std::pair{1u, 1u}, {16u, 16u}, {17u, 16u}, {33u, 50u}}) {
        const AdaptiveSampling sampling(width, height, 0.1, 10);
        std::vector<int> seen(std::size_t{width} * height);
        for (const uint32_t pixel : sampling.pixels()) ++seen.at(pixel);
        for (const int times : seen) EXPECT_EQ(times, 1);
    }
}

TEST_F(Adaptive, PathsOfAPictureAreCountedWhereverItEnds) {
    for (const uint32_t coherent : {0u, 1u}) {
        Frame frame{};
        frame.width = 37;
        frame.height = 11;
        frame.coherent = coherent;
        const auto paths = static_cast<std::uint64_t>(whole_between(0, 5 * 37 * 11));
        std::vector<uint32_t> counts(std::size_t{37} * 11);
        for (std::uint64_t index = 0; index < paths; ++index) {
            uint32_t pixel, key, sample;
            place_path(&frame, headrace::View<const uint32_t>{}, index, &pixel, &key, &sample);
            ++counts.at(pixel);
        }
        EXPECT_EQ(counts_after(frame, paths), counts);
    }
}

} // namespace
} // namespace path_tracer::test
