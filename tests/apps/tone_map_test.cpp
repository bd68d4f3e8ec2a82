// Radiance without an upper bound becomes what a screen shows: grey stays grey, and brighter stays brighter.
#include "tone_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace path_tracer::test {
namespace {

class ToneMaps : public testing::TestWithParam<ToneMap> {
protected:
    static Rgb mapped(Rgb colour) {
        std::array pixels = {colour};
        map_tones(GetParam(), pixels);
        return pixels[0];
    }
};

TEST_P(ToneMaps, KeepGreyAndOrderAndEndAtWhite) {
    float before = -1;
    for (float stops = -20; stops < 30; stops += 0.125f) {
        const float value = std::exp2(stops);
        const Rgb grey = mapped({value, value, value});
        EXPECT_NEAR(grey.r, grey.g, 2e-3) << stops;
        EXPECT_NEAR(grey.b, grey.g, 2e-3) << stops;
        EXPECT_GE(grey.g, before - 1e-4f) << stops; // the fits of AgX bend a little at their ends
        EXPECT_LE(grey.g, 1);
        before = grey.g;
    }
    EXPECT_GT(before, 0.95f);
    EXPECT_LT(mapped({0, 0, 0}).g, 1e-3f);
}

TEST_P(ToneMaps, AreDefinedForAnyRadiance) {
    constexpr float infinity = std::numeric_limits<float>::infinity(),
                    none = std::numeric_limits<float>::quiet_NaN();
    for (const float strange : {-1.0f, -1e30f, 1e30f, infinity, none})
        for (const Rgb colour : {Rgb{strange, 0, 0}, Rgb{0.5f, strange, 1}, Rgb{strange, strange, strange}}) {
            const Rgb shown = mapped(colour);
            for (const float part : {shown.r, shown.g, shown.b})
                EXPECT_TRUE(part >= 0 && part <= 1) << strange;
        }
}

INSTANTIATE_TEST_SUITE_P(Of, ToneMaps, testing::Values(ToneMap::aces, ToneMap::agx),
                         [](const auto& map) { return map.param == ToneMap::aces ? "aces" : "agx"; });

TEST(ToneMapping, ShowsMiddleGreyAsItsAuthorsSay) {
    std::array pixels = {Rgb{0.18f, 0.18f, 0.18f}};
    map_tones(ToneMap::none, pixels);
    EXPECT_EQ(pixels[0].g, 0.18f);
    map_tones(ToneMap::aces, pixels);
    EXPECT_NEAR(pixels[0].g, 0.1056, 2e-4); // the rational function at 0.18
    pixels[0] = {0.18f, 0.18f, 0.18f};
    map_tones(ToneMap::agx, pixels);
    EXPECT_NEAR(std::pow(pixels[0].g, 1 / 2.2), 0.5, 0.01); // half of what a screen takes
}

} // namespace
} // namespace path_tracer::test
