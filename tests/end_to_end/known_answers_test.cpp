// Scenes whose radiance has a closed form, and the law by which noise falls, on every device with both
// kernels.
#include "end_to_end/path_tracer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace headrace::end_to_end {
namespace {

/// Device, kernel.
class KnownAnswers : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(std::get<0>(GetParam())); }
    [[nodiscard]] static Options chosen() {
        return {"--devices", std::get<0>(GetParam()), "--kernel", std::get<1>(GetParam())};
    }
};

TEST_P(KnownAnswers, ConvexLambertBodyUnderUniformSkyShowsItsAlbedo) {
    const Scratch folder;
    constexpr double albedo = 0.65;
    const Image image =
        render(folder, convex_body(folder, albedo) + chosen() +
                           Options{"--width", "48", "--height", "32", "--spp", "16", "--max-depth", "4",
                                   "--no-direct-light", "--roulette-from", "0"});
    // Cosine sampling makes every single sample the albedo, so the tolerance is that of rounding, not of
    // noise.
    constexpr double rounding = 1e-5;
    const float* middle = image.pixel(24, 16);
    const float* corner = image.pixel(0, 0);
    for (int channel = 0; channel < 3; ++channel) {
        EXPECT_NEAR(middle[channel], albedo, rounding);
        EXPECT_NEAR(corner[channel], 1.0, rounding);
    }
    std::size_t body = 0, sky = 0;
    for (const float value : image.values) {
        EXPECT_GE(value, albedo - rounding);
        EXPECT_LE(value, 1.0 + rounding);
        body += std::abs(value - albedo) <= rounding;
        sky += std::abs(value - 1.0) <= rounding;
    }
    EXPECT_GT(body, image.values.size() / 10); // both are to be seen, and only the outline is neither
    EXPECT_GT(sky, image.values.size() / 10);
    EXPECT_GT(body + sky, image.values.size() * 3 / 4);
}

TEST_P(KnownAnswers, GlowingRoomSumsTheGeometricSeries) {
    const Scratch folder;
    for (const int depth : {1, 2, 5, 16}) {
        constexpr double albedo = 0.8;
        const Image image =
            render(folder, glowing_room(folder, albedo) + chosen() +
                               Options{"--width", "24", "--height", "16", "--spp", "8", "--no-direct-light",
                                       "--max-depth", std::to_string(depth)});
        const double radiance = (1 - std::pow(albedo, depth)) / (1 - albedo);
        for (const float value : image.values) // zero variance: any pixel that differs lost or leaked a path
            ASSERT_NEAR(value, radiance, 1e-5 * radiance) << "at depth " << depth;
    }
}

TEST_P(KnownAnswers, NoiseFallsWithTheSquareRootOfTheSamples) {
    const Scratch folder;
    const Options scene = matt_room(folder) + chosen() + Options{"--width", "48", "--height", "27"};
    // The difference of two independent renderings has the noise of one, times sqrt(2), and needs no
    // reference.
    const auto noise = [&](int spp) {
        const Options options = scene + Options{"--spp", std::to_string(spp)};
        return rms_difference(render(folder, options + Options{"--seed", "1"}),
                              render(folder, options + Options{"--seed", "2"}));
    };
    // Least squares of log(noise) over log(spp), equally spaced.
    const std::vector<int> samples{4, 16, 64, 256};
    double slope = 0, spread = 0;
    const double middle = (std::log(4.0) + std::log(256.0)) / 2;
    for (const int spp : samples) {
        const double x = std::log(spp) - middle;
        slope += x * std::log(noise(spp));
        spread += x * x;
    }
    EXPECT_NEAR(slope / spread, -0.5, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Devices, KnownAnswers,
                         testing::Combine(testing::ValuesIn(every_device),
                                          testing::Values("consumer", "producer")),
                         [](const auto& chosen) {
                             return test_name(std::get<0>(chosen.param)) + "_" + std::get<1>(chosen.param);
                         });

} // namespace
} // namespace headrace::end_to_end
