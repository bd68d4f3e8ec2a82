// tests/domains/cluster/clock_offset_test.cpp - clocks that are compared by messages: made-up delays and
// drift.
#include <core/seeds.hpp>
#include <headrace/internal/domains/cluster/clock_offset.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::ClockOffset, cluster::ClockReading, cluster::Ping, cluster::reading_of;
using std::chrono::nanoseconds;

/// The clock of rank 0, by that of another rank.
struct FirstClock {
    nanoseconds ahead;
    double drift = 0; ///< seconds a second

    [[nodiscard]] nanoseconds offset(nanoseconds time) const {
        return ahead + nanoseconds(std::llround(drift * static_cast<double>(time.count())));
    }
    [[nodiscard]] Ping ping(nanoseconds sent, nanoseconds there, nanoseconds back) const {
        return {
            .sent = sent, .returned = sent + there + back, .answered = sent + there + offset(sent + there)};
    }
};

TEST(ClockOffset, OfNoPingsIsNotKnown) { EXPECT_FALSE(reading_of({})); }

TEST(ClockOffset, IsExactIfBothWaysTakeTheSameTime) {
    const std::vector pings{FirstClock{-7s}.ping(100s, 30us, 30us)};
    const auto reading = reading_of(pings);
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->offset, -7s);
    EXPECT_EQ(reading->at, 100s + 30us);
    EXPECT_EQ(reading->error, 30us);
}

TEST(ClockOffset, IsThatOfTheShortestRoundTrip) {
    const FirstClock clock{3s};
    const std::vector pings{clock.ping(1s, 900us, 10us), clock.ping(2s, 4us, 8us),
                            clock.ping(3s, 5us, 500us)};
    const auto reading = reading_of(pings);
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->error, 6us);
    EXPECT_EQ(reading->offset, 3s - 2us);
}

TEST(ClockOffset, IsWithinItsErrorWhateverTheDelays) {
    std::mt19937_64 random(fresh_seed());
    std::exponential_distribution<double> delay(1 / 50e3);
    const auto take = [&] { return nanoseconds(std::llround(delay(random))); };
    for (int trial = 0; trial < 1000; ++trial) {
        const FirstClock clock{nanoseconds(static_cast<std::int64_t>(random() % 1'000'000'000'000)) - 500s,
                               std::uniform_real_distribution(-1e-4, 1e-4)(random)};
        const auto read_at = [&](nanoseconds time) {
            std::vector<Ping> pings;
            for (int i = 0; i < 8; ++i) pings.push_back(clock.ping(time + i * 1ms, take(), take()));
            return *reading_of(pings);
        };
        const ClockReading begin = read_at(1s), end = read_at(601s);
        const nanoseconds rounding = 100ns; // and the drift within one round trip
        for (const ClockReading& reading : {begin, end})
            EXPECT_LE(std::chrono::abs(reading.offset - clock.offset(reading.at)), reading.error + rounding);
        // Up to 60 ms of drift between the readings.
        const ClockOffset offset(begin, end);
        for (const nanoseconds time : {begin.at, nanoseconds(60s), nanoseconds(300s), end.at})
            EXPECT_LE(std::chrono::abs(offset.at(time) - clock.offset(time)),
                      std::abs(clock.drift) > 1e-6 ? offset.error() + rounding
                                                   : 3 * (begin.error + end.error))
                << clock.drift;
    }
}

TEST(ClockOffset, ChangesInProportionToTheTime) {
    const ClockOffset offset({10s, 1000us, 1us}, {20s, 2000us, 2us});
    EXPECT_EQ(offset.at(10s), 1000us);
    EXPECT_EQ(offset.at(15s), 1500us);
    EXPECT_EQ(offset.at(20s), 2000us);
    EXPECT_EQ(offset.at(5s), 1000us) << "before the first reading";
    EXPECT_EQ(offset.at(25s), 2000us) << "after the last reading";
    EXPECT_EQ(offset.error(), 2us);
}

// Else the times of a short run would be stretched by what the pings do not know.
TEST(ClockOffset, DoesNotChangeByLessThanTheErrors) {
    const ClockReading coarse{10s, 1000us, 300us}, fine{10s + 1ms, 1200us, 10us};
    const ClockOffset offset(coarse, fine);
    for (const nanoseconds time :
         {nanoseconds(9s), nanoseconds(10s), nanoseconds(10s + 500us), nanoseconds(11s)})
        EXPECT_EQ(offset.at(time), 1200us);
    EXPECT_EQ(offset.error(), 10us);
    EXPECT_EQ(ClockOffset(coarse, coarse).at(10s), 1000us);
}

} // namespace
} // namespace headrace::test
