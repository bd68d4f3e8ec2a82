// tests/domains/cluster/job_share_test.cpp - a shared job on 1 to 10^4 made-up ranks, in any order of
// messages: each unit is done once, all credit comes back, and failures reach all.
#include <core/seeds.hpp>
#include <domains/cluster/made_up_cluster.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::JobMark;
using Time = MadeUpOptions::Time;

/// How often each unit of a job is done.
class Ledger {
public:
    explicit Ledger(MadeUpCluster& cluster, std::uint64_t units) : times_(units) {
        cluster.on_done = [this](int, IndexRange task) {
            for (std::uint64_t unit = task.begin; unit < task.end; ++unit) ++times_.at(unit);
        };
    }
    [[nodiscard]] bool is_each_once() const {
        return std::ranges::all_of(times_, [](unsigned times) { return times == 1; });
    }
    [[nodiscard]] bool is_none_twice() const {
        return std::ranges::all_of(times_, [](unsigned times) { return times <= 1; });
    }

private:
    std::vector<unsigned> times_;
};

void expect_success(MadeUpCluster& cluster, const Ledger& ledger, std::uint64_t units,
                    const std::string& what) {
    EXPECT_TRUE(ledger.is_each_once()) << what;
    for (const MadeUpCluster::Rank& one : cluster.ranks()) {
        ASSERT_TRUE(one.share->is_over()) << what << ", rank " << one.neighbours.rank;
        ASSERT_FALSE(one.share->failure()) << what << ", rank " << one.neighbours.rank;
        ASSERT_FALSE(one.work->has_grants()) << what << ", rank " << one.neighbours.rank;
        std::uint64_t returned = 0; // the credit of the ranks below is in what this rank has completed
        for (const int below : one.neighbours.below) returned += cluster.rank(below).told;
        ASSERT_LE(returned, one.work->supply().completed) << what << ", rank " << one.neighbours.rank;
        const std::uint64_t expected = one.neighbours.rank == 0 ? 0 : one.work->supply().completed;
        ASSERT_EQ(one.told, expected) << what << ", rank " << one.neighbours.rank;
    }
    EXPECT_EQ(cluster.rank(0).work->supply().completed, units) << what;
}

void expect_failure(MadeUpCluster& cluster, const Ledger& ledger, const std::string& text,
                    const std::string& what) {
    EXPECT_TRUE(ledger.is_none_twice()) << what;
    for (const MadeUpCluster::Rank& one : cluster.ranks()) {
        ASSERT_TRUE(one.share->is_over()) << what << ", rank " << one.neighbours.rank;
        ASSERT_TRUE(one.share->failure()) << what << ", rank " << one.neighbours.rank;
        EXPECT_NE(std::string(one.share->failure()->what()).find(text), std::string::npos)
            << what << ", rank " << one.neighbours.rank << ": " << one.share->failure()->what();
        EXPECT_TRUE(one.work->supply().stop_reason) << what << ", rank " << one.neighbours.rank;
        ASSERT_FALSE(one.work->has_grants()) << what << ", rank " << one.neighbours.rank;
    }
}

std::uint64_t rounds_for(int ranks) { return ranks <= 100 ? 40 : ranks <= 1000 ? 3 : 1; }

/// Random delays, times of begin, and stragglers. One delay in three is longer than the job.
MadeUpOptions adverse(int ranks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto any_of = [&](std::vector<Time> times) { return times[random() % times.size()]; };
    return {.ranks = ranks,
            .work_units = 1 + random() % ((ranks > 1000 ? 3 : 10) * static_cast<std::uint64_t>(ranks)),
            .units_per_second = 1e3,
            .stragglers = random() % 2 == 0 ? 0.01 : 0.3,
            .seed = seed,
            .most_delay = any_of({0us, 100us, 2ms, 100ms}),
            .latest_begin = any_of({0us, 1ms, 200ms}),
            .latest_start = any_of({0us, 0us, 50ms}),
            .message_cost = any_of({0us, 0us, 5us})};
}

/// Work units that keep all ranks busy for longer than what begins late or is delayed.
std::uint64_t long_enough(int ranks) { return 1000 * static_cast<std::uint64_t>(ranks); }

std::string told(const MadeUpOptions& options) {
    return std::to_string(options.ranks) + " ranks, " + std::to_string(options.work_units) +
           " units, delays up to " + std::to_string(options.most_delay.count()) + " ns, seed " +
           std::to_string(options.seed);
}

class RanksOfAJob : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(On, RanksOfAJob, testing::Values(1, 2, 3, 33, 34, 1000, 10'000),
                         testing::PrintToStringParamName());

TEST_P(RanksOfAJob, DoEachUnitOnceAndReturnAllCredit) {
    const std::uint64_t first = first_seed();
    for (std::uint64_t seed = first; seed < first + rounds_for(GetParam()); ++seed) {
        const MadeUpOptions options = adverse(GetParam(), seed);
        MadeUpCluster cluster(options);
        const Ledger ledger(cluster, options.work_units);
        cluster.run();
        expect_success(cluster, ledger, options.work_units, told(options));
    }
}

TEST_P(RanksOfAJob, DoFewUnitsOnce) {
    const std::uint64_t seed = first_seed();
    for (const std::uint64_t units : {2u, 1u, 5u}) {
        MadeUpOptions options = adverse(GetParam(), seed + units);
        options.work_units = units;
        MadeUpCluster cluster(options);
        const Ledger ledger(cluster, units);
        cluster.run();
        expect_success(cluster, ledger, units, told(options));
    }
}

TEST_P(RanksOfAJob, AllGetToKnowAFailure) {
    const std::uint64_t first = first_seed();
    for (std::uint64_t seed = first; seed < first + rounds_for(GetParam()); ++seed) {
        MadeUpOptions options = adverse(GetParam(), seed);
        options.work_units += long_enough(options.ranks);
        MadeUpCluster cluster(options);
        const Ledger ledger(cluster, options.work_units);
        std::mt19937_64 random(seed);
        const int failing = static_cast<int>(random() % static_cast<std::uint64_t>(options.ranks));
        cluster.fail(failing, Time(random() % 300'000),
                     std::make_shared<const Error>(ErrorKind::kernel, "the kernel threw"));
        cluster.run();
        expect_failure(cluster, ledger, "the kernel threw",
                       told(options) + ", failure on rank " + std::to_string(failing));
    }
}

TEST_P(RanksOfAJob, AreRefusedIfOneHasSubmittedAnotherJob) {
    if (GetParam() == 1) GTEST_SKIP() << "one rank agrees with itself";
    const std::uint64_t first = first_seed();
    for (std::uint64_t seed = first; seed < first + rounds_for(GetParam()); ++seed) {
        MadeUpOptions options = adverse(GetParam(), seed);
        const bool is_long = seed % 3 > 0;
        if (is_long) options.work_units += long_enough(options.ranks);
        MadeUpCluster cluster(options);
        const Ledger ledger(cluster, options.work_units);
        const int other =
            1 + static_cast<int>(std::mt19937_64(seed)() % static_cast<std::uint64_t>(options.ranks - 1));
        JobMark& mark = cluster.rank(other).mark;
        if (seed % 2 == 0)
            mark.name = "another";
        else
            ++mark.work_units;
        cluster.run();
        const std::string what = told(options) + ", rank " + std::to_string(other);
        const std::string text = "all ranks must run the same program with the same input";
        if (is_long) {
            expect_failure(cluster, ledger, text, what);
        } else { // the others may have completed it before that rank submitted its job
            const MadeUpCluster::Rank& one = cluster.rank(other);
            ASSERT_TRUE(one.share->is_over() && one.share->failure()) << what;
            EXPECT_NE(std::string(one.share->failure()->what()).find(text), std::string::npos) << what;
        }
    }
}

/// The bounds: 200 messages a rank on average, and 100 between rank 0 and each rank below.
TEST_P(RanksOfAJob, ExchangeFewMessages) {
    const int ranks = GetParam();
    const std::uint64_t units_per_rank = ranks > 1000 ? 5 : 1000;
    MadeUpCluster cluster({.ranks = ranks,
                           .work_units = units_per_rank * static_cast<std::uint64_t>(ranks),
                           .units_per_second = 1e4, // so the job takes 0.5 or 100 ms
                           .stragglers = 0.01,
                           .seed = first_seed(),
                           .least_delay = 2us,
                           .most_delay = 20us,
                           .look_interval = 200us});
    cluster.run();
    const auto messages = static_cast<double>(cluster.traffic().messages);
    EXPECT_LE(messages, 200. * ranks);
    const MadeUpCluster::Rank& first = cluster.rank(0);
    const auto at_first = static_cast<double>(first.handled + first.sent);
    EXPECT_LE(at_first, 100. * static_cast<double>(first.neighbours.below.size()));
    std::cout << messages / ranks << " messages a rank, " << at_first << " at rank 0\n";
}

/// Each rank knows at any time how fast the ranks below it are, and how much they have left.
TEST_P(RanksOfAJob, EndALongJobTogether) {
    if (GetParam() > 1000) GTEST_SKIP() << "bench/cluster_simulation does it";
    const std::uint64_t first = first_seed();
    for (std::uint64_t seed = first; seed < first + 3; ++seed) {
        const MadeUpOptions options = {.ranks = GetParam(),
                                       .work_units = 100'000 * static_cast<std::uint64_t>(GetParam()),
                                       .units_per_second = 1e4, // so the job takes 10 s
                                       .seed = seed,
                                       .least_delay = 2us,
                                       .most_delay = 20us,
                                       .look_interval = 200us};
        MadeUpCluster cluster(options);
        cluster.run();
        const double efficiency = 10 / std::chrono::duration<double>(cluster.time()).count();
        EXPECT_GT(efficiency, GetParam() <= 34 ? 0.98 : 0.97) << told(options);
        EXPECT_LT(efficiency, 1.0001) << told(options);
    }
}

/// How often each unit that springs from a job's units is done.
class UnitLedger {
public:
    UnitLedger(MadeUpCluster& cluster, const MadeUpOptions& options) : ranks_(cluster.ranks().size()) {
        std::vector<MadeUpUnit> left;
        for (std::uint64_t seed = 0; seed < options.work_units; ++seed)
            left.push_back(MadeUpTree::root(seed));
        while (!left.empty()) {
            const MadeUpUnit unit = left.back();
            left.pop_back();
            ++expected_[unit.key];
            ++units_;
            options.tree.spawn(unit, [&](const MadeUpUnit& child) { left.push_back(child); });
        }
        cluster.on_unit = [this](int rank, const MadeUpUnit& unit) {
            ++times_[unit.key];
            ++ranks_.at(static_cast<std::size_t>(rank));
        };
    }
    [[nodiscard]] bool is_each_once() const { return times_ == expected_; }
    [[nodiscard]] bool is_none_twice() const {
        return std::ranges::all_of(times_, [&](const auto& one) {
            const auto expected = expected_.find(one.first);
            return expected != expected_.end() && one.second <= expected->second;
        });
    }
    [[nodiscard]] std::uint64_t units() const { return units_; }
    /// That have done some.
    [[nodiscard]] std::ptrdiff_t ranks() const {
        return std::ranges::count_if(ranks_, [](std::uint64_t units) { return units > 0; });
    }

private:
    std::unordered_map<std::uint64_t, unsigned> expected_, times_; ///< by key
    std::uint64_t units_ = 0;
    std::vector<std::uint64_t> ranks_; ///< units
};

constexpr std::uint64_t most_events = 20'000'000; // of a job that does not end

/// As `adverse`, with few seeds, and units that spawn others.
MadeUpOptions adverse_tree(int ranks, std::uint64_t seed) {
    MadeUpOptions options = adverse(ranks, seed);
    std::mt19937_64 random(~seed);
    options.work_units = 1 + random() % 3;
    options.tree = {.of_root = static_cast<unsigned>(1 + random() % 100)};
    const std::vector<Time> times = {100us, 5ms, 30ms};
    options.launch_time = times[random() % times.size()];
    return options;
}

TEST_P(RanksOfAJob, DoEachUnitThatSpawnsOnce) {
    if (GetParam() > 1000) GTEST_SKIP() << "1000 ranks have three levels too";
    const std::uint64_t first = first_seed();
    std::uint64_t batches = 0;
    for (std::uint64_t seed = first; seed < first + 2 * rounds_for(GetParam()); ++seed) {
        const MadeUpOptions options = adverse_tree(GetParam(), seed);
        MadeUpCluster cluster(options);
        const Ledger seeds(cluster, options.work_units);
        const UnitLedger ledger(cluster, options);
        cluster.run(most_events);
        EXPECT_TRUE(ledger.is_each_once()) << told(options);
        for (const MadeUpCluster::Rank& one : cluster.ranks()) {
            ASSERT_TRUE(one.share->is_over()) << told(options) << ", rank " << one.neighbours.rank;
            ASSERT_FALSE(one.share->failure()) << told(options);
            ASSERT_TRUE(one.work->supply().is_quiet) << told(options);
        }
        batches += cluster.batches();
    }
    EXPECT_TRUE(batches > 0 || GetParam() == 1);
}

TEST_P(RanksOfAJob, AllGetToKnowAFailureAmongUnitsThatSpawn) {
    if (GetParam() > 1000) GTEST_SKIP() << "1000 ranks have three levels too";
    const std::uint64_t first = first_seed();
    for (std::uint64_t seed = first; seed < first + rounds_for(GetParam()); ++seed) {
        MadeUpOptions options = adverse_tree(GetParam(), seed);
        options.tree.of_root += 2000; // so that it takes longer than until the failure
        MadeUpCluster cluster(options);
        const Ledger seeds(cluster, options.work_units);
        const UnitLedger ledger(cluster, options);
        const int failing = static_cast<int>(seed % static_cast<std::uint64_t>(options.ranks));
        cluster.fail(failing, Time((seed * 7919) % 30'000'000),
                     std::make_shared<const Error>(ErrorKind::kernel, "the kernel threw"));
        cluster.run(most_events);
        EXPECT_TRUE(ledger.is_none_twice()) << told(options);
        expect_failure(cluster, seeds, "the kernel threw", told(options));
    }
}

/// One seed, whose units take 20 s on one rank.
TEST_P(RanksOfAJob, ShareTheTreeOfOneSeed) {
    if (GetParam() > 100) GTEST_SKIP() << "the tree is too small for them";
    const std::uint64_t seed = first_seed();
    MadeUpOptions options = {.ranks = GetParam(),
                             .work_units = 1,
                             .units_per_second = 5e3,
                             .tree = {.of_root = 4000},
                             .seed = seed,
                             .least_delay = 2us,
                             .most_delay = 20us,
                             .look_interval = 200us};
    MadeUpCluster cluster(options);
    const UnitLedger ledger(cluster, options);
    cluster.run(most_events);
    EXPECT_TRUE(ledger.is_each_once()) << told(options);
    EXPECT_EQ(ledger.ranks(), GetParam());
    const double seconds = std::chrono::duration<double>(cluster.time()).count();
    const double best = static_cast<double>(ledger.units()) / cluster.units_per_second();
    EXPECT_GT(best / seconds, 0.8) << told(options);
    std::cout << ledger.units() << " units, efficiency " << best / seconds << ", " << cluster.batches()
              << " batches, " << cluster.traffic().messages << " messages\n";
}

/// 40 ranks, of which rank 35 is on the third level. The job takes 2 s on one rank.
class LateRanks : public testing::Test {
protected:
    static constexpr std::uint64_t units = 2000;
    static constexpr int ranks = 40, late = 35;

    /// The others begin at once.
    void run(std::vector<int> late_ranks, Time begin, Time start) {
        for (int number = 0; number < ranks; ++number) {
            const bool is_late = std::ranges::count(late_ranks, number) > 0;
            cluster_.begin(number, is_late ? begin : 0s, is_late ? start : 0s);
        }
        cluster_.run();
    }

    MadeUpCluster cluster_{{.ranks = ranks, .work_units = units, .units_per_second = 1e3, .most_delay = 1ms}};
    Ledger ledger_{cluster_, units};
};

TEST_F(LateRanks, TakePartWhenTheySubmitIt) {
    run({late}, 10s, 11s);
    expect_success(cluster_, ledger_, units, "submitted late");
}

TEST_F(LateRanks, FindTheWishesOfThoseBelow) {
    run({0, 1, 2}, 1s, 1s);
    expect_success(cluster_, ledger_, units, "wanted before it was submitted");
    EXPECT_GT(cluster_.rank(late).tasks, 0u);
}

TEST_F(LateRanks, GrantNothingBeforeTheirJobRuns) {
    run({1}, 0s, 10s);
    expect_success(cluster_, ledger_, units, "submitted long before it ran");
    EXPECT_EQ(cluster_.rank(late).tasks, 0u) << "rank 1 is above it";
}

TEST_F(LateRanks, StopWhatFailedBeforeTheySubmittedIt) {
    cluster_.fail(3, 10ms, std::make_shared<const Error>(ErrorKind::kernel, "the kernel threw"));
    run({0, late}, 1s, 2s);
    expect_failure(cluster_, ledger_, "the kernel threw", "failed before it was submitted");
}

TEST_F(LateRanks, ThatBeginAfterTheirOwnWorkFailedTellTheOthers) {
    cluster_.fail(late, 5ms, std::make_shared<const Error>(ErrorKind::cancelled, "cancelled"));
    run({late}, 10ms, 10ms);
    expect_failure(cluster_, ledger_, "cancelled", "cancelled before it was submitted");
}

} // namespace
} // namespace headrace::test
