// tests/domains/earliest_end_test.cpp - who gets the next whole item, by what items take.
#include <core/seeds.hpp>
#include <headrace/internal/domains/streams/earliest_end.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

/// Seconds after the clock's beginning.
EarliestEnd::Clock::time_point at(double time) {
    return EarliestEnd::Clock::time_point() +
           std::chrono::duration_cast<EarliestEnd::Clock::duration>(std::chrono::duration<double>(time));
}

/// A stream in order: so many items under way at most, of which the first must be done before another one
/// begins.
struct Simulated {
    std::vector<double> seconds; ///< an item's, of each controller
    std::size_t places;

    struct Outcome {
        double seconds = 0;
        std::vector<std::size_t> items{}; ///< of each controller
    };
    /// What items will take.
    void tell(EarliestEnd& earliest) const {
        for (std::size_t i = 0; i < seconds.size(); ++i) earliest.expect(i, seconds[i]);
    }
    Outcome run(EarliestEnd& earliest, std::size_t items) const {
        struct Item {
            std::size_t controller;
            double end;
            bool told = false;
        };
        std::vector<double> busy_until(seconds.size());
        std::deque<Item> under_way;
        Outcome outcome{.items = std::vector<std::size_t>(seconds.size())};
        double now = 0;
        earliest.begin(at(now));
        const auto pass = [&](double until) { // in the order of their ends
            while (true) {
                Item* next = nullptr;
                for (Item& item : under_way)
                    if (!item.told && item.end <= until && (!next || item.end < next->end)) next = &item;
                if (!next) break;
                earliest.ended(next->controller, true, at(next->end));
                next->told = true;
            }
            now = until;
        };
        for (std::size_t i = 0; i < items; ++i) {
            if (under_way.size() == places) {
                pass(std::max(now, under_way.front().end));
                under_way.pop_front();
            }
            const std::size_t controller = earliest.next(at(now));
            earliest.given(controller, at(now));
            busy_until[controller] = std::max(busy_until[controller], now) + seconds[controller];
            under_way.push_back({controller, busy_until[controller]});
            ++outcome.items[controller];
        }
        for (const Item& item : under_way) outcome.seconds = std::max(outcome.seconds, item.end);
        pass(outcome.seconds);
        return outcome;
    }
};

TEST(EarliestEnd, EqualControllersHaveAsManyItems) {
    const Simulated stream{.seconds = {1, 1, 1}, .places = 6};
    EarliestEnd earliest(3);
    const auto outcome = stream.run(earliest, 30);
    EXPECT_EQ(outcome.items, (std::vector<std::size_t>{10, 10, 10}));
    EXPECT_DOUBLE_EQ(outcome.seconds, 10);
}

TEST(EarliestEnd, UnequalOnesAreNearlyAsFastAsTheyCanBe) {
    std::mt19937_64 random(fixed_seed());
    std::uniform_real_distribution<double> any(1, 4);
    for (int turn = 0; turn < 200; ++turn) {
        Simulated stream{.seconds = {1}, .places = 0};
        double rate = 1;
        while (stream.seconds.size() < 2 + static_cast<std::size_t>(turn % 3)) {
            stream.seconds.push_back(any(random));
            rate += 1 / stream.seconds.back();
        }
        stream.places = 5 * stream.seconds.size();
        EarliestEnd earliest(stream.seconds.size());
        stream.tell(earliest);
        const auto outcome = stream.run(earliest, 200);
        EXPECT_LT(outcome.seconds, 1.06 * 200 / rate) << turn;
    }
}

TEST(EarliestEnd, AnotherDeviceNeverMakesAStreamSlower) {
    std::mt19937_64 random(fixed_seed());
    std::uniform_real_distribution<double> doublings(0, 7);
    for (int turn = 0; turn < 1000; ++turn) {
        Simulated stream{.seconds = {1}, .places = 1 + random() % 12};
        for (std::size_t others = 1 + random() % 3; others > 0; --others)
            stream.seconds.push_back(std::exp2(doublings(random)));
        const std::size_t items = 1 + random() % 300;
        EarliestEnd earliest(stream.seconds.size());
        stream.tell(earliest);
        const double alone = static_cast<double>(items);
        ASSERT_LT(stream.run(earliest, items).seconds, 1.02 * alone + 1e-6) << "turn " << turn;
    }
}

TEST(EarliestEnd, ADeviceThatWouldKeepTheStreamWaitingHasNothing) {
    const Simulated stream{.seconds = {1, 100}, .places = 4};
    EarliestEnd earliest(2);
    stream.tell(earliest);
    EXPECT_EQ(stream.run(earliest, 500).items, (std::vector<std::size_t>{500, 0}));
    // Where nobody knows, it is tried, and the first item says nothing.
    EarliestEnd unknowing(2);
    const auto outcome = stream.run(unknowing, 500);
    EXPECT_EQ(outcome.items[1], 2u);
    EXPECT_LT(outcome.seconds, 500 + 2 * 100);
    EXPECT_EQ(stream.run(unknowing, 500).items[1], 0u);
}

TEST(EarliestEnd, OneThatWasSlowIsTriedAgain) {
    Simulated stream{.seconds = {1, 10}, .places = 4};
    EarliestEnd earliest(2);
    stream.tell(earliest);
    const auto slow = stream.run(earliest, 5000);
    EXPECT_GE(slow.items[1], 5u);
    EXPECT_LT(slow.seconds, 1.02 * 5000);
    stream.seconds[1] = 1;
    const auto mended = stream.run(earliest, 5000);
    EXPECT_GT(mended.items[1], 1200u);
}

TEST(EarliestEnd, HoweverManyAreSlowTryingThemCostsLittle) {
    const Simulated stream{.seconds = {1, 1, 1, 1, 10, 10, 10, 10}, .places = 16};
    EarliestEnd earliest(8);
    stream.tell(earliest);
    const auto outcome = stream.run(earliest, 40000);
    EXPECT_GE(outcome.items[7], 4u);
    EXPECT_LT(outcome.seconds, 1.02 * 10000);
}

TEST(EarliestEnd, AFailedItemSaysNothing) {
    EarliestEnd earliest(2);
    earliest.expect(0, 1);
    earliest.expect(1, 2);
    for (int i = 0; i < 5; ++i) {
        earliest.given(1, at(i));
        earliest.ended(1, false, at(i)); // at once
    }
    EXPECT_EQ(earliest.next(at(5)), 0u);
}

TEST(EarliestEnd, WhatWasSaidIsNotMeasured) {
    EarliestEnd earliest(1);
    earliest.expect(0, 1);
    earliest.begin(at(0));
    double now = 0;
    const auto do_one = [&](double seconds) {
        earliest.given(0, at(now));
        earliest.ended(0, true, at(now += seconds));
    };
    do_one(9); // a device that makes ready
    EXPECT_FALSE(earliest.measured_seconds(0));
    do_one(3);
    EXPECT_DOUBLE_EQ(earliest.measured_seconds(0).value(), 3);
    EXPECT_DOUBLE_EQ(earliest.seconds(0).value(), 1) << "one is less than what was said";
    for (int i = 0; i < 9; ++i) do_one(2);
    EXPECT_DOUBLE_EQ(earliest.measured_seconds(0).value(), 2);
    earliest.expect(0, 1);
    EXPECT_FALSE(earliest.measured_seconds(0));
}

TEST(EarliestEnd, OneThatIsOverdueHasNoMore) {
    EarliestEnd earliest(2);
    earliest.expect(0, 1);
    earliest.expect(1, 1);
    earliest.begin(at(0));
    earliest.given(1, at(0));
    for (int second = 10; second < 30; ++second) { // it hangs
        EXPECT_EQ(earliest.next(at(second)), 0u);
        earliest.given(0, at(second));
        if (second % 2 == 1) earliest.ended(0, true, at(second));
    }
}

TEST(EarliestEnd, OneThatBecomesSlowHasLess) {
    Simulated stream{.seconds = {1, 1}, .places = 8};
    EarliestEnd earliest(2);
    stream.run(earliest, 100);
    stream.seconds[1] = 3;
    const auto outcome = stream.run(earliest, 200);
    EXPECT_NEAR(static_cast<double>(outcome.items[1]), 50, 6);
}

} // namespace
} // namespace headrace::test
