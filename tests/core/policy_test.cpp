// tests/core/policy_test.cpp - task sizes.
#include <headrace/core/error.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/core/policy.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace headrace {
namespace {

std::uint64_t ask(Policy& policy, std::size_t device, std::uint64_t total, std::uint64_t remaining,
                  const std::vector<double>& capability) {
    std::vector<DeviceProgress> devices;
    for (const double one : capability) devices.push_back({.capability = one, .measured = true});
    return policy.next(device, {.total = total, .remaining = remaining, .devices = devices});
}

TEST(Demand, TheExampleOfTheSpecification) {
    const auto policy = make_policy("demand");
    EXPECT_EQ(ask(*policy, 0, 1000, 1000, {1.0, 0.3}), 100U);
    EXPECT_EQ(ask(*policy, 1, 1000, 1000, {1.0, 0.3}), 30U);
}

TEST(Demand, OnlyRatiosOfCapabilitiesMatter) {
    const auto policy = make_policy("demand");
    EXPECT_EQ(ask(*policy, 1, 1000, 1000, {60'000, 18'000}), 30U);
}

TEST(Demand, ItsParameterSetsTheDivisions) {
    const auto policy = make_policy("demand:20");
    EXPECT_EQ(ask(*policy, 0, 1000, 1000, {1.0, 0.3}), 50U);
    EXPECT_EQ(ask(*policy, 1, 1000, 1000, {1.0, 0.3}), 15U);
}

TEST(Demand, AtLeastOneAndAtMostWhatRemains) {
    const auto policy = make_policy("demand");
    EXPECT_EQ(ask(*policy, 0, 5, 5, {1.0}), 1U);
    EXPECT_EQ(ask(*policy, 0, 1000, 7, {1.0}), 7U);
    EXPECT_EQ(ask(*policy, 0, 1000, 0, {1.0}), 0U);
    const auto most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(ask(*make_policy("demand:1"), 0, most, most, {1.0}), most);
}

TEST(Demand, ADeviceWithoutCapabilityTakesNoPart) {
    EXPECT_EQ(ask(*make_policy("demand"), 1, 1000, 1000, {1.0, 0.0}), 0U);
}

TEST(Static, OneTaskForEachByCapability) {
    const auto policy = make_policy("static");
    EXPECT_EQ(ask(*policy, 1, 1000, 1000, {3.0, 1.0}), 250U);
    EXPECT_EQ(ask(*policy, 1, 1000, 750, {3.0, 1.0}), 0U) << "it has had its own";
    EXPECT_EQ(ask(*policy, 0, 1000, 750, {3.0, 1.0}), 750U) << "the last one gets the rest";
}

TEST(Static, WhatALostDeviceLeavesGoesToTheOthers) {
    const auto policy = make_policy("static");
    EXPECT_EQ(ask(*policy, 0, 1000, 1000, {1.0, 1.0, 2.0}), 250U);
    EXPECT_EQ(ask(*policy, 1, 1000, 750, {1.0, 1.0, 2.0}), 250U);
    EXPECT_EQ(ask(*policy, 0, 1000, 500, {1.0, 1.0, 2.0}), 0U) << "it may still come";
    EXPECT_EQ(ask(*policy, 0, 1000, 500, {1.0, 1.0, 0.0}), 250U) << "it is gone";
    EXPECT_EQ(ask(*policy, 1, 1000, 250, {1.0, 1.0, 0.0}), 250U);
}

TEST(Dynamic, EqualPackagesAndNoMoreThanThat) {
    const auto policy = make_policy("dynamic:7");
    std::uint64_t remaining = 1000, packages = 0;
    for (; remaining > 0; ++packages) remaining -= ask(*policy, packages % 2, 1000, remaining, {9.0, 1.0});
    EXPECT_EQ(packages, 7U);
}

TEST(Guided, TheFormulaOfThePaper) {
    const auto policy = make_policy("guided:10");
    EXPECT_EQ(ask(*policy, 0, 8000, 8000, {3.0, 1.0}), 1500U) << "8000 x 3 / (2 x 2 x 4)";
    EXPECT_EQ(ask(*policy, 1, 8000, 8000, {3.0, 1.0}), 500U);
    EXPECT_EQ(ask(*policy, 0, 8000, 20, {3.0, 1.0}), 10U) << "its floor";
    EXPECT_EQ(ask(*policy, 1, 8000, 20, {3.0, 1.0}), 3U) << "a third of it, as its capability is";
    EXPECT_EQ(ask(*policy, 0, 8000, 4, {3.0, 1.0}), 4U);
}

TEST(Adaptive, ADeviceAloneGetsHalvesUnlessTransfersAreToOverlap) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> one(1);
    one[0].capability = 5;
    EXPECT_EQ(policy->next(0, {.total = 1000, .remaining = 1000, .devices = one}), 500U);
    EXPECT_EQ(policy->next(0, {.total = 1000, .remaining = 1000, .devices = one, .moves_data = true}), 125U);
    one[0].full = 800;
    EXPECT_EQ(policy->next(0, {.total = 1000, .remaining = 1000, .devices = one}), 800U)
        << "one for each lane";
}

TEST(Adaptive, WhoSavesLessThanItCostsIsRefused) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> two(2);
    two[0] = {.capability = 1e6, .measured = true, .certain = true};
    two[1] = {.capability = 5e4, .measured = true, .certain = true};
    // 2 ms with both are 0.1 ms more without the second.
    const Progress progress{.total = 2'000, .remaining = 2'000, .devices = two, .task_seconds = 60e-6};
    EXPECT_EQ(policy->next(1, progress), 0U);
    EXPECT_GT(policy->next(0, progress), 0U);
    const Progress longer{.total = 4'000, .remaining = 4'000, .devices = two, .task_seconds = 60e-6};
    EXPECT_GT(policy->next(1, longer), 0U);
    two[1].finished = 1;
    EXPECT_GT(policy->next(1, progress), 0U) << "it has begun";
    two[1].finished = 0;
    two[1].certain = false;
    EXPECT_GT(policy->next(1, progress), 0U) << "it may be faster";
    two[1].certain = true;
    two[0].certain = false;
    EXPECT_GT(policy->next(1, progress), 0U) << "the other one may be slower";
}

TEST(Adaptive, WhoGivesBackWhatWasTooMuchGetsNearlyItsShareAtOnce) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> two(2, {.capability = 1e6, .measured = true, .certain = true});
    const Progress progress{.total = 1'000'000, .remaining = 1'000'000, .devices = two};
    EXPECT_EQ(policy->next(0, progress), 250'000U);
    for (DeviceProgress& one : two) one.gives_back = true;
    const std::uint64_t first = policy->next(0, progress);
    EXPECT_GT(first, 400'000U);
    EXPECT_LT(first, 500'000U) << "a second task's groups take the place of those that leave";
    two[0].certain = false;
    EXPECT_LT(policy->next(0, progress), 250'000U) << "its share may be another one";
}

TEST(Adaptive, WhoIsRefusedForThatCountsForNobodyAndTakesOverWhatIsNotBegunInTheEnd) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> two(2, {.capability = 1e6, .measured = true, .certain = true});
    two[1].capability = 5e4;
    const Progress begin{.total = 2'000, .remaining = 2'000, .devices = two, .task_seconds = 60e-6};
    EXPECT_EQ(policy->next(0, begin), 1'000U) << "half of it, as if it were alone";
    EXPECT_FALSE(policy->takes_over(1, begin));
    const Progress end{.total = 2'000, .remaining = 0, .devices = two, .task_seconds = 60e-6};
    EXPECT_TRUE(policy->takes_over(1, end));
}

TEST(Adaptive, WhoIsInReserveCountsForNobody) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> two(2, {.capability = 1e6, .measured = true});
    two[1].on_standby = true;
    const Progress progress{.total = 2'000, .remaining = 2'000, .devices = two};
    EXPECT_EQ(policy->next(0, progress), 1'000U);
    EXPECT_EQ(policy->next(1, progress), 0U);
    EXPECT_FALSE(policy->takes_over(1, progress));
}

TEST(Adaptive, WhoDoesHardlyAnythingIsLeftOutIfThatIsCertain) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> devices{{.capability = 1000, .measured = true, .certain = true},
                                        {.capability = 20, .measured = true, .certain = true}};
    const Progress progress{.total = 1'000'000, .remaining = 1'000'000, .devices = devices};
    EXPECT_EQ(policy->next(1, progress), 0U);
    EXPECT_FALSE(policy->takes_over(1, progress));
    EXPECT_TRUE(policy->takes_over(0, progress));
    devices[1].certain = false;
    EXPECT_GT(policy->next(1, progress), 0U);
    EXPECT_TRUE(policy->takes_over(1, progress));
    devices.resize(3, {.capability = 20, .measured = true, .certain = true});
    devices[1].certain = true;
    const Progress three{.total = 1'000'000, .remaining = 1'000'000, .devices = devices};
    EXPECT_GT(policy->next(1, three), 0U) << "two of them do 4 %";
}

TEST(Adaptive, WhoIsGuessedAtBeginsWithLittle) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> two(2);
    two[0].capability = two[1].capability = 1;
    const std::uint64_t n = 1 << 24;
    EXPECT_EQ(policy->next(0, {.total = n, .remaining = n, .devices = two}), n / 4096);
    two[0].measured = true;
    EXPECT_EQ(policy->next(0, {.total = n, .remaining = n, .devices = two}), n / 2 / 4) << "of its half";
    two[0].finished = 10'000;
    EXPECT_EQ(policy->next(0, {.total = n, .remaining = n, .devices = two}), 40'000U);
}

TEST(Adaptive, WhoWouldDelayTheEndIsRefusedAndTheLastOneIsNot) {
    const auto policy = make_policy("adaptive");
    EXPECT_EQ(ask(*policy, 1, 1000, 99, {100.0, 1.0}), 0U) << "one unit takes it longer than 99 the other";
    EXPECT_GT(ask(*policy, 1, 1000, 200, {100.0, 1.0}), 0U);
    EXPECT_GT(ask(*policy, 1, 1000, 99, {0.0, 1.0}), 0U);
}

TEST(Adaptive, FewUnitsGoToAsManyDevices) {
    const auto policy = make_policy("adaptive");
    std::vector<DeviceProgress> devices(8, {.capability = 1, .measured = true});
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(policy->next(i, {.total = 3, .remaining = 3 - i, .devices = devices}), 1U) << i;
        devices[i].in_flight = 1;
    }
    // One that is four times slower gets the last unit if the others are busy for longer.
    devices.resize(4);
    devices[3].capability = 0.25;
    const Progress last{.total = 4, .remaining = 1, .devices = devices};
    EXPECT_EQ(policy->next(3, last), 0U) << "one of the others ends it at 2, this one at 4";
    for (DeviceProgress& one : devices) one.in_flight *= 4;
    EXPECT_EQ(policy->next(3, last), 1U) << "the others end it at 5";
}

TEST(Policies, NamesThatAreNoneAreRefusedInWords) {
    const auto refusal = [](std::string_view name) -> Error {
        try {
            static_cast<void>(make_policy(name));
        } catch (const Error& error) {
            return error;
        }
        return Error{ErrorKind::internal, "accepted"};
    };
    EXPECT_EQ(refusal("fastest").kind(), ErrorKind::not_found);
    for (const auto* known : {"adaptive", "demand", "guided", "dynamic", "static"})
        EXPECT_NE(refusal("fastest").message().find(known), std::string::npos) << "lists what there is";
    EXPECT_EQ(refusal("").kind(), ErrorKind::not_found);
    for (const auto* name :
         {"demand:0", "demand:x", "demand:1x", "demand:-1", "demand:99999999999999999999", "dynamic:0",
          "static:2", "adaptive:3", "guided:x", "adaptive:", "demand:", "dynamic:"})
        EXPECT_EQ(refusal(name).kind(), ErrorKind::invalid_argument) << name;
}

TEST(Peak, ComparesAndIsNeverZero) {
    DeviceInfo fast, slow, silent;
    fast.peak_gflops = 60'000;
    slow.peak_gflops = 600;
    silent.compute_units = 8;
    EXPECT_DOUBLE_EQ(PerformanceModel::peak(fast) / PerformanceModel::peak(slow), 100);
    EXPECT_GT(PerformanceModel::peak(silent), 0);
}

} // namespace
} // namespace headrace
