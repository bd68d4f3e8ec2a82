// tests/core/policy_test.cpp - task sizes, and whole jobs simulated with made-up devices.
#include <headrace/core/error.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/core/policy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace headrace {
namespace {

std::uint64_t ask(Policy& policy, std::size_t device, std::uint64_t total, std::uint64_t remaining,
                  const std::vector<double>& capability) {
    return policy.next(device, {.total = total, .remaining = remaining, .capability = capability});
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

TEST(Demand, NamesThatAreNoneAreRefusedInWords) {
    const auto refusal = [](std::string_view name) -> Error {
        try {
            static_cast<void>(make_policy(name));
        } catch (const Error& error) {
            return error;
        }
        return Error{ErrorKind::internal, "accepted"};
    };
    EXPECT_EQ(refusal("fastest").kind(), ErrorKind::not_found);
    EXPECT_NE(refusal("fastest").message().find("demand"), std::string::npos) << "lists what there is";
    EXPECT_EQ(refusal("").kind(), ErrorKind::not_found);
    for (const auto* name : {"demand:0", "demand:x", "demand:1x", "demand:-1", "demand:99999999999999999999"})
        EXPECT_EQ(refusal(name).kind(), ErrorKind::invalid_argument) << name;
}

/// Runs a job on devices that take 1 / capability per unit; a device asks whenever it is idle.
struct Simulation {
    double end = 0;
    std::vector<std::uint64_t> units;

    Simulation(Policy& policy, std::uint64_t total, const std::vector<double>& capability)
        : units(capability.size(), 0) {
        using Idle = std::pair<double, std::size_t>; // when, who
        std::priority_queue<Idle, std::vector<Idle>, std::greater<>> idle;
        for (std::size_t device = 0; device < capability.size(); ++device) idle.emplace(0.0, device);
        std::uint64_t remaining = total;
        while (remaining > 0 && !idle.empty()) {
            const auto [now, device] = idle.top();
            idle.pop();
            const std::uint64_t size = ask(policy, device, total, remaining, capability);
            EXPECT_LE(size, remaining);
            if (size == 0) continue; // never asks again: what is refused once is refused with less left
            remaining -= size;
            units[device] += size;
            const double done = now + static_cast<double>(size) / capability[device];
            end = std::max(end, done);
            idle.emplace(done, device);
        }
        EXPECT_EQ(remaining, 0U) << "work was left over";
    }
};

TEST(Demand, SharesFollowCapabilities) {
    const auto policy = make_policy("demand:100");
    const Simulation job(*policy, 1'000'000, {4.0, 2.0, 1.0});
    EXPECT_NEAR(static_cast<double>(job.units[0]), 4e6 / 7, 1e6 / 50);
    EXPECT_NEAR(static_cast<double>(job.units[1]), 2e6 / 7, 1e6 / 50);
    EXPECT_NEAR(static_cast<double>(job.units[2]), 1e6 / 7, 1e6 / 50);
}

TEST(Demand, ADeviceNeverMakesAJobLaterThanLeavingItOut) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 2000; ++round) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
        const std::uint64_t total = 1 + random() % 5000;
        const double slow = std::pow(10.0, -5.0 * std::generate_canonical<double, 32>(random));
        const auto policy = make_policy("demand:" + std::to_string(2 + random() % 30));
        const double alone = Simulation(*policy, total, {1.0}).end;
        EXPECT_LE(Simulation(*policy, total, {1.0, slow}).end, alone * (1 + 1e-9))
            << total << " units, second device " << slow;
    }
}

TEST(Demand, EveryJobEndsWhateverTheDevices) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 2000; ++round) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
        std::vector<double> capability(1 + random() % 9);
        for (double& value : capability)
            value = std::pow(10.0, -6.0 * std::generate_canonical<double, 32>(random));
        const auto policy = make_policy("demand");
        static_cast<void>(Simulation(*policy, 1 + random() % 50, capability));
    }
}

TEST(PeakModel, ComparesByPeakAndNeverGivesZero) {
    const PeakModel model;
    DeviceInfo fast, slow, silent;
    fast.peak_gflops = 60'000;
    slow.peak_gflops = 600;
    silent.compute_units = 8;
    EXPECT_DOUBLE_EQ(model.capability(fast, "any") / model.capability(slow, "any"), 100);
    EXPECT_GT(model.capability(silent, "any"), 0);
}

} // namespace
} // namespace headrace
