// tests/core/teams_test.cpp - who has a job to themselves.
#include <headrace/core/teams.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace headrace {
namespace {

Estimate at(double units_per_second) { return {.peak = 1, .units_per_second = units_per_second}; }

/// Of 1000 units.
Team choose(const std::vector<Estimate>& devices, const std::map<Team, WholeJobs>& known) {
    return choose_team(devices, 1000, [&](const Team& team) -> std::optional<WholeJobs> {
        const auto found = known.find(team);
        return found == known.end() ? std::nullopt : std::optional(found->second);
    });
}

const Team both{0, 1};

TEST(Teams, AllDevicesUntilSeveralOfTheirJobsAreKnown) {
    const std::vector<Estimate> devices{at(10), at(1000)};
    EXPECT_EQ(choose(devices, {}), both);
    EXPECT_EQ(choose(devices, {{both, {9, 2}}}), both) << "two are not several";
    EXPECT_EQ(choose(devices, {{both, {9, 0}}, {{1}, {1, 9}}}), both) << "they are old";
    EXPECT_EQ(choose({at(10), {}}, {{both, {9, 3}}, {{1}, {1, 9}}}), both) << "one was never measured";
    EXPECT_EQ(choose({at(10)}, {}), Team{0});
}

TEST(Teams, TheFastestAloneIsTriedIfItsRatePromisesMore) {
    EXPECT_EQ(choose({at(10), at(1000)}, {{both, {1.2, 3}}}), Team{1});
    EXPECT_EQ(choose({at(10), at(1000)}, {{both, {0.95, 3}}}), Team{1}) << "alone it may be faster";
    EXPECT_EQ(choose({at(10), at(1000)}, {{both, {0.9, 3}}}), both) << "it needs a second";
}

TEST(Teams, WhoeverTookLeastHasTheNextJob) {
    const std::vector<Estimate> devices{at(10), at(1000)};
    EXPECT_EQ(choose(devices, {{both, {1.2, 3}}, {{1}, {1.3, 2}}}), Team{1}) << "not settled";
    EXPECT_EQ(choose(devices, {{both, {1.2, 3}}, {{1}, {1.3, 3}}}), both);
    EXPECT_EQ(choose(devices, {{both, {1.2, 3}}, {{1}, {1.1, 3}}}), Team{1});
}

TEST(Teams, OfSeveralDevicesTheFastestOnes) {
    const std::vector<Estimate> devices{at(10), at(1000), at(990)};
    const Team all{0, 1, 2}, gpus{1, 2};
    EXPECT_EQ(choose(devices, {{all, {0.6, 3}}}), gpus);
    EXPECT_EQ(choose(devices, {{all, {0.6, 3}}, {gpus, {0.55, 3}}}), gpus);
    EXPECT_EQ(choose(devices, {{all, {0.6, 3}}, {gpus, {0.65, 3}}}), all);
    EXPECT_EQ(choose(devices, {{all, {0.4, 3}}}), all);
    EXPECT_EQ(choose(devices, {{all, {2, 3}}, {gpus, {1.5, 3}}, {{1}, {1.1, 3}}}), Team{1});
}

/// Nobody is asked more often than it takes to find out, and the best is found whatever overheads there are.
TEST(Teams, TheBestIsFoundAndKept) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> overhead(0, 0.2), rate(1, 1000);
    for (int round = 0; round < 1000; ++round) {
        std::vector<Estimate> devices;
        for (std::size_t i = 0; i < 2 + random() % 3; ++i) devices.push_back(at(rate(random)));
        std::map<Team, double> truth; // what it takes beyond what rates say
        std::map<Team, WholeJobs> known;
        std::vector<Team> chosen;
        for (int job = 0; job < 20; ++job) {
            const Team team = choose(devices, known);
            double sum = 0;
            for (const std::size_t i : team) sum += *devices[i].units_per_second;
            truth.try_emplace(team, 1000 / sum * (1 + overhead(random)));
            WholeJobs& jobs = known[team];
            jobs = {truth[team], jobs.jobs + 1};
            chosen.push_back(team);
        }
        for (const auto& [team, seconds] : truth) ASSERT_LE(truth[chosen.back()], seconds);
        for (std::size_t job = 13; job < 20; ++job) // three times each of at most four
            ASSERT_EQ(chosen[job], chosen.back());
    }
}

} // namespace
} // namespace headrace
