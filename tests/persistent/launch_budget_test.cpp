// tests/persistent/launch_budget_test.cpp - the rounds of a launch, by made-up times of launches.
#include <headrace/persistent/detail/launch_budget.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

TEST(LaunchBudget, GrowsUntilLaunchesTakeTheirTime) {
    LaunchBudget budget(0, 100ms);
    EXPECT_EQ(budget.rounds(), 4u);
    for (std::uint64_t launches = 1; launches < 20; ++launches)
        budget.adapt(std::chrono::microseconds(10) * budget.rounds(), true, launches);
    EXPECT_NEAR(budget.rounds(), 10'000, 10);
}

TEST(LaunchBudget, ALaunchThatEndedEarlyTellsNothing) {
    LaunchBudget budget(7, 100ms);
    budget.adapt(1ms, false, 1);
    EXPECT_EQ(budget.rounds(), 7u);
}

TEST(LaunchBudget, FallsIfLaunchesTakeTooLong) {
    LaunchBudget budget(1000, 10ms);
    budget.adapt(1s, true, 1);
    EXPECT_EQ(budget.rounds(), 10u);
    budget.adapt(1h, true, 2);
    EXPECT_EQ(budget.rounds(), 1u) << "a launch has one round at least";
}

TEST(LaunchBudget, TheFirstGuessDoesNotShrinkWithTheTime) {
    LaunchBudget budget(1000, 100ms);
    budget.aim_at(10ms);
    EXPECT_EQ(budget.rounds(), 1000u) << "it is a guess without a measurement";
    budget.adapt(10ms, true, 1);
    budget.aim_at(1ms);
    EXPECT_EQ(budget.rounds(), 100u);
    budget.aim_at(100ms);
    EXPECT_EQ(budget.rounds(), 100u) << "a longer time is approached as usual";
    budget.start_again();
    EXPECT_EQ(budget.rounds(), 1000u);
    EXPECT_EQ(budget.launch_time(), 100ms);
}

} // namespace
} // namespace headrace::test
