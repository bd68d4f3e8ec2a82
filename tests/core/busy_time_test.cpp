// Overlapping times count once: against counting covered ticks one by one.
#include <headrace/core/busy_time.hpp>

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace headrace::test {
namespace {

using Clock = std::chrono::steady_clock;

EventTimes between(int begin, int end) {
    return {Clock::time_point{Clock::duration{begin}}, Clock::time_point{Clock::duration{end}}};
}

TEST(BusyTime, TouchingAndOverlappingIntervalsAreOne) {
    BusyTime busy;
    EXPECT_EQ(busy.total().count(), 0);
    busy.add(between(10, 20));
    busy.add(between(30, 40));
    EXPECT_EQ(busy.total().count(), 20);
    busy.add(between(20, 25));
    EXPECT_EQ(busy.total().count(), 25);
    busy.add(between(5, 50));
    EXPECT_EQ(busy.total().count(), 45);
    busy.add(between(60, 60));
    EXPECT_EQ(busy.total().count(), 45);
}

TEST(BusyTime, IsTheNumberOfCoveredTicks) {
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        BusyTime busy;
        std::array<bool, 300> covered{};
        for (int i = 0; i < 40; ++i) {
            const int begin = static_cast<int>(random() % 280), end = begin + static_cast<int>(random() % 20);
            busy.add(between(begin, end));
            std::fill(covered.begin() + begin, covered.begin() + end, true);
            ASSERT_EQ(busy.total().count(), std::count(covered.begin(), covered.end(), true));
        }
    }
}

TEST(BusyTime, StaysRightWhenThereAreManyGaps) {
    BusyTime busy;
    std::int64_t covered = 0;
    for (int i = 0; i < 100'000; ++i) {
        // Two interleaved sequences, one of them always 500 gaps behind.
        busy.add(between(10 * i, 10 * i + 3));
        covered += 3;
        if (i < 500) continue;
        busy.add(between(10 * (i - 500) + 2, 10 * (i - 500) + 6));
        covered += 3;
    }
    EXPECT_EQ(busy.total().count(), covered);
    busy.add(between(7, 8)); // far too late
    EXPECT_EQ(busy.total().count(), covered);
}

} // namespace
} // namespace headrace::test
