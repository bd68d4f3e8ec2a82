// tests/domains/estimated_times_test.cpp - what pieces of a stream are estimated to take, by what parts took.
#include <headrace/internal/domains/streams/estimated_times.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace headrace {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

StagePart part(std::size_t device, std::size_t begin, std::size_t end) {
    return {.device = device, .begin = begin, .end = end, .seconds = 0, .transfer_in = 0};
}

TEST(EstimatedTimes, APartThatTakesLongerMakesAllPiecesOfItsDeviceSlower) {
    EstimatedTimes times({{1, 2, 4}, {1, 1, 1}});
    EXPECT_EQ(times.of(part(0, 1, 3)), 6);
    EXPECT_TRUE(times.took(part(0, 1, 3), 9));
    EXPECT_EQ(times.seconds(), (std::vector<std::vector<double>>{{1.5, 3, 6}, {1, 1, 1}}));
    EXPECT_TRUE(times.took(part(0, 0, 1), 0.75)) << "and faster again";
    EXPECT_EQ(times.seconds().front(), (std::vector<double>{0.75, 1.5, 3}));
}

TEST(EstimatedTimes, ALittleMoreOrLessIsNoDrift) {
    EstimatedTimes times({{1, 2}});
    for (const double seconds : {2.7, 3.0, 3.4}) EXPECT_FALSE(times.took(part(0, 0, 2), seconds));
    EXPECT_EQ(times.seconds().front(), (std::vector<double>{1, 2}));
    EstimatedTimes nothing({{0, 0}});
    EXPECT_FALSE(nothing.took(part(0, 0, 2), 1)) << "no factor makes it so much";
}

/// To try it takes `enough_items` that are four times as long: a fiftieth of 50 * 5 * 4.
TEST(EstimatedTimes, WhoLostItsPartIsBelievedToBeFastAgainAfterLong) {
    EstimatedTimes times({{1, 1}, {1, 1}, {1, 1}});
    times.use({part(0, 0, 1), part(1, 1, 2)}, 0);
    ASSERT_TRUE(times.took(part(1, 1, 2), 4));
    EXPECT_FALSE(times.forgets(10'000)) << "it has a part";
    times.use({part(0, 0, 2)}, 10'000);
    EXPECT_FALSE(times.forgets(10'999));
    times.use({part(2, 0, 1), part(0, 1, 2)}, 10'999); // others have other parts
    EXPECT_FALSE(times.forgets(11'000));
    EXPECT_EQ(times.seconds()[1], (std::vector<double>{4, 4}));
    EXPECT_TRUE(times.forgets(11'001));
    EXPECT_EQ(times.seconds()[1], (std::vector<double>{1, 1}));
    EXPECT_FALSE(times.forgets(1'000'000)) << "there is nothing to find out";
}

TEST(EstimatedTimes, ItemsOfAnotherRunAreCountedAnew) {
    EstimatedTimes times({{1, 1}, {1, 1}});
    times.use({part(0, 0, 1), part(1, 1, 2)}, 0);
    ASSERT_TRUE(times.took(part(1, 1, 2), 4));
    times.use({part(0, 0, 2)}, 900);
    times.use({part(0, 0, 2)}, 0);
    EXPECT_FALSE(times.forgets(1000));
    EXPECT_TRUE(times.forgets(1001));
}

TEST(EstimatedTimes, WhoNeverHadAPartIsNotTried) {
    EstimatedTimes times({{1, 1}, {never, 1}, {100, 100}});
    times.use({part(0, 0, 2)}, 0);
    EXPECT_FALSE(times.forgets(1'000'000'000));
    ASSERT_TRUE(times.took(part(2, 0, 1), 50));
    EXPECT_FALSE(times.forgets(1'000'000'000)) << "it is faster than it was measured";
}

} // namespace
} // namespace headrace
