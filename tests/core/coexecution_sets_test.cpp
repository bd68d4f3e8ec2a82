// tests/core/coexecution_sets_test.cpp - who has a job to themselves.
#include <core/seeds.hpp>
#include <headrace/internal/core/coexecution_sets.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace headrace {
namespace {

Estimate at(double units_per_second) { return {.peak = 1, .units_per_second = units_per_second}; }

/// Of 1000 units.
CoexecutionSet choose(const std::vector<Estimate>& devices,
                      const std::map<CoexecutionSet, WholeJobs>& known) {
    return choose_coexecution_set(devices, 1000, [&](const CoexecutionSet& set) -> std::optional<WholeJobs> {
        const auto found = known.find(set);
        return found == known.end() ? std::nullopt : std::optional(found->second);
    });
}

const CoexecutionSet both{0, 1};

TEST(CoexecutionSets, AllDevicesUntilSeveralOfTheirJobsAreKnown) {
    const std::vector<Estimate> devices{at(10), at(1000)};
    EXPECT_EQ(choose(devices, {}), both);
    EXPECT_EQ(choose(devices, {{both, {9, 2}}}), both) << "two are not several";
    EXPECT_EQ(choose(devices, {{both, {9, 0}}, {{1}, {1, 9}}}), both) << "they are old";
    EXPECT_EQ(choose({at(10), {}}, {{both, {9, 3}}, {{1}, {1, 9}}}), both) << "one was never measured";
    EXPECT_EQ(choose({at(10)}, {}), CoexecutionSet{0});
}

TEST(CoexecutionSets, TwiceAsManyWhereRatesPromiseMuchMore) {
    const std::vector<Estimate> devices{at(1000), at(1000)}; // half a second together
    EXPECT_EQ(choose(devices, {{both, {1.1, 3}}}), both);
    EXPECT_EQ(choose(devices, {{both, {1.1, 5}}}), both);
    EXPECT_EQ(choose(devices, {{both, {1.1, 6}}}), CoexecutionSet{0});
    EXPECT_EQ(choose(devices, {{both, {1.1, 3}}, {{0}, {1, 2}}}), both);
    EXPECT_EQ(choose(devices, {{both, {1.1, 3}}, {{0}, {1, 3}}}), CoexecutionSet{0})
        << "one alone has proven better";
    EXPECT_EQ(choose(devices, {{both, {0.61, 3}}}), both) << "one alone would take much longer";
    EXPECT_EQ(choose({at(1800), at(200)}, {{both, {0.6, 3}}}), CoexecutionSet{0})
        << "they promise not so much more";
}

TEST(CoexecutionSets, TheFastestAloneIsTriedIfItsRatePromisesMore) {
    EXPECT_EQ(choose({at(10), at(1000)}, {{both, {1.2, 3}}}), CoexecutionSet{1});
    EXPECT_EQ(choose({at(10), at(1000)}, {{both, {0.95, 3}}}), CoexecutionSet{1}) << "alone it may be faster";
    EXPECT_EQ(choose({at(10), at(1000)}, {{both, {0.7, 3}}}), both) << "it needs a second";
}

TEST(CoexecutionSets, OneJobThatIsSomewhatLongerIsAffordable) {
    const auto alone = [](double together) { return choose({at(1000), at(1000)}, {{both, {together, 6}}}); };
    EXPECT_EQ(alone(0.81), CoexecutionSet{0}) << "a quarter longer";
    EXPECT_EQ(alone(0.79), both) << "more than a quarter, and a fifth of a second";
    const auto quick = [](double together) { return choose({at(20e3), at(20e3)}, {{both, {together, 6}}}); };
    EXPECT_EQ(quick(0.026), CoexecutionSet{0}) << "twice 26 ms, not even a tenth of a second longer";
    EXPECT_EQ(quick(0.024), both) << "more than twice";
    // One is enough if it was not worth it.
    const WholeJobs slow{0.05, 1};
    EXPECT_EQ(choose({at(20e3), at(20e3)}, {{both, {0.026, 3}}, {{0}, slow}, {{1}, slow}}), both);
    EXPECT_EQ(choose({at(20e3), at(20e3)}, {{both, {0.026, 3}}, {{0}, {0.028, 1}}, {{1}, slow}}),
              CoexecutionSet{0});
}

/// Fewer bodies than the GPU has lanes: any part of them takes it as long as all. With another device it did
/// five sixths of the job in two tasks, one after the other, and its rate seems to be half of what it is.
TEST(CoexecutionSets, ADeviceThatAJobDoesNotFillIsFasterAloneThanItsRate) {
    const std::vector<Estimate> devices{at(3e3), at(15e3)};
    EXPECT_EQ(choose(devices, {{both, {0.058, 3}}}), CoexecutionSet{1});
    EXPECT_EQ(choose(devices, {{both, {0.058, 3}}, {{1}, {0.030, 1}}}), CoexecutionSet{1});
    EXPECT_EQ(choose(devices, {{both, {0.058, 3}}, {{1}, {0.030, 3}}}), CoexecutionSet{1});
}

/// The slower it seemed, the less it was given: now it seems to be the slower one.
TEST(CoexecutionSets, TheSecondAloneHasAJobIfJobsAreShort) {
    const std::vector<Estimate> devices{at(5e3), at(1e3)};
    const std::map<CoexecutionSet, WholeJobs> first{{both, {0.19, 3}}, {{0}, {0.185, 3}}};
    const auto after = [&](WholeJobs second) {
        auto known = first;
        known[{1}] = second;
        return choose(devices, known);
    };
    EXPECT_EQ(choose(devices, first), CoexecutionSet{1});
    EXPECT_EQ(after({0.143, 1}), CoexecutionSet{1});
    EXPECT_EQ(after({0.3, 1}), CoexecutionSet{0}) << "one was enough";
    EXPECT_EQ(choose({at(5e3), at(600)}, first), CoexecutionSet{0}) << "more than eight times slower";
    EXPECT_EQ(choose(devices, {{both, {0.3, 6}}, {{0}, {0.29, 3}}}), CoexecutionSet{0}) << "no short job";
    const std::map<CoexecutionSet, WholeJobs> at_once{{both, {2e-4, 6}}, {{0}, {1e-4, 3}}};
    EXPECT_EQ(choose({at(1e7), at(11e4)}, at_once), CoexecutionSet{1}) << "9.1 ms, once, instead of 0.1";
    EXPECT_EQ(choose({at(1e7), at(9e4)}, at_once), CoexecutionSet{0}) << "more than a hundredth of a second";
    const std::map<CoexecutionSet, WholeJobs> disturbed{
        {both, {2e-4, 6}}, {{0}, {1e-4, 3}}, {{1}, {9e-3, 2}}};
    EXPECT_EQ(choose({at(1e7), at(11e4)}, disturbed), CoexecutionSet{1}) << "a third one settles it";
}

TEST(CoexecutionSets, WhoeverTookLeastHasTheNextJob) {
    const std::vector<Estimate> devices{at(10), at(1000)};
    EXPECT_EQ(choose(devices, {{both, {1.2, 3}}, {{1}, {1.3, 2}}}), CoexecutionSet{1}) << "not settled";
    EXPECT_EQ(choose(devices, {{both, {1.2, 3}}, {{1}, {1.3, 3}}}), both);
    EXPECT_EQ(choose(devices, {{both, {1.2, 3}}, {{1}, {1.1, 3}}}), CoexecutionSet{1});
}

TEST(CoexecutionSets, AllHaveAnotherChanceWhenTheirLastJobIsLongAgo) {
    const std::vector<Estimate> devices{at(1e3), at(1e3)}; // half a second together
    const auto after = [&](WholeJobs together) { return choose(devices, {{both, together}, {{0}, {1, 3}}}); };
    EXPECT_EQ(after({1.1, 6, 1.1, 109}), CoexecutionSet{0});
    EXPECT_EQ(after({1.1, 6, 1.1, 111}), both);
    EXPECT_EQ(after({1.1, 7, 0.9, 0}), both) << "it was better than one alone";
    EXPECT_EQ(after({1.1, 7, 1.05, 0}), CoexecutionSet{0});
    EXPECT_EQ(after({1.1, 8, 1.1, 1e6}), both);
    EXPECT_EQ(after({1.1, 9, 1.1, 1e6}), CoexecutionSet{0}) << "three chances are enough";
    const std::vector<Estimate> unequal{at(1e3), at(200)};
    EXPECT_EQ(choose(unequal, {{both, {1.1, 6, 1.1, 1000}}, {{0}, {1, 3}}}), CoexecutionSet{0})
        << "no great loss";
}

/// Of devices whose first jobs together were disturbed, and of such as really are faster alone. Jobs as
/// Calibrations keeps them.
TEST(CoexecutionSets, WhatDisturbedTheFirstJobsDoesNotLast) {
    for (const double together : {0.013, 0.040}) {
        const std::vector<Estimate> devices{at(40e3), at(40e3)}; // 25 ms alone
        std::map<CoexecutionSet, std::vector<double>> took;
        std::map<CoexecutionSet, double> when;
        double now = 0, late = 0; // seconds
        int jobs = 0;
        while (now < 60) {
            std::map<CoexecutionSet, WholeJobs> known;
            for (const auto& [set, all] : took) {
                std::vector<double> sorted = all;
                std::ranges::sort(sorted);
                known[set] = {sorted[sorted.size() / 2], all.size(), all.back(), now - when[set]};
            }
            const CoexecutionSet set = choose(devices, known);
            const double seconds = set != both ? 0.025 : now < 0.2 ? 0.050 : together;
            now += seconds;
            when[set] = now;
            auto& all = took[set];
            all.push_back(seconds);
            if (all.size() > 9) all.erase(all.begin());
            if (now > 30) {
                ++jobs;
                late += seconds;
            }
        }
        EXPECT_LT(late / jobs, 1.01 * std::min(together, 0.025));
    }
}

TEST(CoexecutionSets, OfSeveralDevicesTheFastestOnes) {
    const std::vector<Estimate> devices{at(10), at(1000), at(990)};
    const CoexecutionSet all{0, 1, 2}, gpus{1, 2};
    EXPECT_EQ(choose(devices, {{all, {0.6, 3}}}), gpus);
    EXPECT_EQ(choose(devices, {{all, {0.6, 3}}, {gpus, {0.55, 3}}}), gpus);
    EXPECT_EQ(choose(devices, {{all, {0.6, 3}}, {gpus, {0.65, 3}}}), all);
    EXPECT_EQ(choose(devices, {{all, {0.4, 3}}}), all);
    EXPECT_EQ(choose(devices, {{all, {2, 6}}, {gpus, {1.5, 3}}, {{1}, {1.1, 3}}}), CoexecutionSet{1});
}

/// Whatever being together costs, of jobs that take from 3 ms to seconds; and it takes no more jobs than
/// three of each co-execution set that may be tried, and six of all.
TEST(CoexecutionSets, TheBestIsFoundAndKept) {
    std::mt19937 random(test::fresh_seed());
    std::uniform_real_distribution<double> overhead(1, 1.5), rate(1, 1000), scale(0, 2);
    for (int round = 0; round < 1000; ++round) {
        std::vector<Estimate> devices; // the fastest first
        const double faster = std::pow(10, scale(random));
        for (std::size_t i = 0, n = 2 + random() % 3; i < n; ++i)
            devices.push_back(at(faster * rate(random)));
        std::ranges::sort(devices, std::ranges::greater{},
                          [](const Estimate& one) { return *one.units_per_second; });
        std::map<CoexecutionSet, double> takes; // seconds
        double sum = 0, best = 1e9;
        CoexecutionSet set;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            set.push_back(i);
            sum += *devices[i].units_per_second;
            takes[set] = 1000 / sum * (i == 0 ? 1 : overhead(random));
            best = std::min(best, takes[set]);
        }
        takes[{1}] = 1000 / *devices[1].units_per_second;
        std::map<CoexecutionSet, WholeJobs> known;
        std::vector<CoexecutionSet> chosen;
        for (int job = 0; job < 20; ++job) {
            chosen.push_back(choose(devices, known));
            ASSERT_TRUE(takes.contains(chosen.back()));
            WholeJobs& jobs = known[chosen.back()];
            jobs = {takes[chosen.back()], jobs.jobs + 1};
        }
        ASSERT_EQ(takes[chosen.back()], best);
        for (std::size_t job = 3 * devices.size() + 6; job < chosen.size(); ++job)
            ASSERT_EQ(chosen[job], chosen.back());
    }
}

} // namespace
} // namespace headrace
