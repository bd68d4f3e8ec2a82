// How many units the next epoch has.
#include <headrace/internal/domains/epochs/epoch_length.hpp>

#include <gtest/gtest.h>

namespace headrace::test {
namespace {

using epochs::EpochLength;
constexpr std::uint64_t many = std::uint64_t{1} << 50;

/// The number to which the length settles, for units and commits of such a duration.
std::uint64_t settled(const EpochLength::Wishes& wishes, double unit_seconds, double commit_seconds) {
    EpochLength length(wishes, many);
    std::uint64_t units = 0;
    for (int epoch = 0; epoch < 30; ++epoch) {
        units = length.next(many);
        length.measured(units, static_cast<double>(units) * unit_seconds, commit_seconds);
    }
    return units;
}

TEST(EpochLength, SettlesAtTheWantedTime) {
    EXPECT_NEAR(static_cast<double>(settled({.seconds = 2}, 1e-6, 1e-4)), 2e6, 2);
    EXPECT_NEAR(static_cast<double>(settled({.seconds = 2}, 1e-10, 0)), 2e10, 2);
    EXPECT_EQ(settled({.seconds = 2}, 5, 0), 1); // a unit takes longer
}

TEST(EpochLength, GrowsIfACommitIsExpensive) {
    EXPECT_NEAR(static_cast<double>(settled({.seconds = 2}, 1e-6, 0.1)), 5e6, 5); // 2 % of 5 s
}

TEST(EpochLength, KeepsBelowTheInterval) {
    EXPECT_NEAR(static_cast<double>(settled({.seconds = 2, .most_seconds = 0.5}, 1e-6, 0.1)), 5e5, 2);
}

TEST(EpochLength, BeginsSmallAndGrowsStepByStep) {
    EpochLength length({}, many);
    const std::uint64_t first = length.next(many);
    EXPECT_LE(first, std::uint64_t{1} << 14);
    length.measured(first, 1e-9, 0); // it says nothing of more units
    EXPECT_EQ(length.next(many), 8 * first);
    EXPECT_EQ(EpochLength({}, 10'000).next(10'000), 10);
    EXPECT_EQ(EpochLength({}, 1).next(1), 1);
}

TEST(EpochLength, EndsAtGrainsAndTakesARestAlong) {
    EpochLength length({.grain = 64}, 100'000);
    EXPECT_EQ(length.next(100'000), 128); // a thousandth, rounded up
    EXPECT_EQ(length.next(160), 160);     // hardly more than 128
    EXPECT_EQ(length.next(161), 128);
    EXPECT_EQ(length.next(3), 3);
}

TEST(EpochLength, KeepsBelowTheMostUnits) {
    EpochLength length({.most_units = 1000, .grain = 64}, many);
    for (int epoch = 0; epoch < 10; ++epoch) {
        EXPECT_LE(length.next(many), 1000);
        length.measured(length.next(many), 1e-6, 0);
    }
    EXPECT_EQ(length.next(many), 960); // whole grains
    EXPECT_EQ(length.next(1010), 960); // hardly more is left, and yet too much
    EXPECT_EQ(length.next(1000), 1000);
    EXPECT_EQ(EpochLength({.most_units = 7, .grain = 64}, many).next(many), 64);
}

TEST(EpochLength, FitsIntoTheTimeThatIsLeft) {
    EpochLength length({.seconds = 2}, many);
    EXPECT_LE(length.next(many, 1e-9), std::uint64_t{1} << 14); // nothing was measured yet
    for (int epoch = 0; epoch < 20; ++epoch)
        length.measured(length.next(many), 1e-6 * static_cast<double>(length.next(many)), 0);
    EXPECT_NEAR(static_cast<double>(length.next(many, 0.08)), 8e4, 2);
    EXPECT_NEAR(static_cast<double>(length.next(many, 0.8)), 6e5, 2); // a part: it may be slower
    EXPECT_EQ(length.next(many, 100), length.next(many));
    EXPECT_EQ(length.next(many, 1e-12), 1);
    EXPECT_EQ(length.next(1'000'000, 2), 1'000'000);
    EXPECT_NEAR(static_cast<double>(length.next(1'000'000, 1)), 7.5e5, 2); // there is no time for the rest
    EXPECT_EQ(length.next(10, 0.9), 10);
    EpochLength coarse({.seconds = 2, .grain = 64}, many);
    coarse.measured(1000, 1, 0);
    EXPECT_EQ(coarse.next(100, 0.08), 100); // a grain would be more than there is
}

} // namespace
} // namespace headrace::test
