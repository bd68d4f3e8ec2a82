// tests/domains/epochs/epoch_losses_test.cpp - runs in epochs on ranks of which one or two are lost, at any
// point of the run: the others have the result of all units.
#include "numbered.hpp"
#include <core/scratch_folder.hpp>
#include <core/seeds.hpp>
#include <core/test_deadline.hpp>
#include <domains/cluster/ranks.hpp>
#include <headrace/domains/epochs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

using cluster::SimulatedNetwork;
using namespace std::chrono_literals;

constexpr std::uint64_t units_of_run = 30'000, units_of_epoch = 3000;

/// Where a rank is lost.
enum class Point { decides, commits, computes, first_decides, first_commits, resumes };
constexpr std::array point_names{"decides",       "commits",       "computes",
                                 "first_decides", "first_commits", "resumes"};

struct Case {
    int ranks;
    Point point;
    bool is_told; ///< the transport tells the others
};

class EpochLosses : public testing::TestWithParam<Case> {
protected:
    /// A run of one process that has stopped in the middle.
    void write_checkpoint() const {
        Runtime runtime({.devices = device_list(two_private_cpus), .policy = "adaptive"});
        EpochOptions options;
        options.checkpoint = file_;
        options.cut = [](std::uint64_t) { return units_of_epoch; };
        int asked = 0;
        options.stops = [&asked] { return ++asked > 3; };
        const NumberedJob job{50};
        EXPECT_THROW(static_cast<void>(run_in_epochs(runtime, job.job(units_of_run), options)), Error);
        ASSERT_TRUE(std::filesystem::exists(file_));
    }

    const Case case_ = GetParam();
    const ScratchFolder folder_;
    const std::filesystem::path file_ = folder_.path() / "c";
};
INSTANTIATE_TEST_SUITE_P(On, EpochLosses, testing::ValuesIn([] {
                             std::vector<Case> all;
                             for (const int ranks : {2, 3, 5})
                                 for (std::size_t point = 0; point < point_names.size(); ++point)
                                     all.push_back({ranks, static_cast<Point>(point), true});
                             for (const Point point : {Point::decides, Point::commits, Point::computes})
                                 all.push_back({4, point, false});
                             all.push_back({40, Point::computes, true});
                             return all;
                         }()),
                         [](const auto& one) {
                             return std::to_string(one.param.ranks) + "_" +
                                    point_names[static_cast<std::size_t>(one.param.point)] +
                                    (one.param.is_told ? "" : "_silently");
                         });

TEST_P(EpochLosses, LeaveTheResultOfAllUnits) {
    const TestDeadline deadline("ranks that are lost");
    if (case_.point == Point::resumes) write_checkpoint();
    std::mt19937_64 random(fresh_seed());
    SimulatedNetwork network(case_.ranks, {.seed = random(), .most_delay = 200us});
    // Up to two of them, each at its own epoch of one of two runs.
    std::map<int, std::uint64_t> losses; // by rank: epochs before it, counted over both runs
    for (int number = 0; number < 2; ++number)
        losses[std::uniform_int_distribution(1, case_.ranks - 1)(random)] =
            std::uniform_int_distribution<std::uint64_t>(0, 2 * units_of_run / units_of_epoch - 1)(random);
    if (case_.point == Point::resumes)
        for (auto& [rank, epoch] : losses) epoch = 0;
    const auto lose = [&](int rank) { network.lose(rank, case_.is_told); };
    std::atomic<int> ended = 0;
    const auto outcomes = on_ranks(case_.ranks, network, [&](int rank, Runtime& runtime) {
        for (std::uint64_t run = 0; run < 2; ++run) {
            const std::uint64_t before = run * (units_of_run / units_of_epoch);
            const auto lose_at = [&](Point point, std::uint64_t done, bool is_first) {
                if (point != case_.point) return;
                for (const auto& [one, epoch] : losses)
                    if (before + done / units_of_epoch >= epoch && (is_first || one == rank)) lose(one);
            };
            std::uint64_t done = 0;
            EpochOptions options;
            if (case_.point == Point::resumes && run == 0) options.resume = file_;
            options.lost_after = case_.is_told ? 5s : 700ms;
            options.cut = [&](std::uint64_t now) {
                lose_at(Point::first_decides, now, true);
                return units_of_epoch;
            };
            options.stops = [&] {
                lose_at(Point::decides, done, false);
                return false;
            };
            options.on_progress = [&](std::uint64_t now) {
                done = now;
                lose_at(Point::commits, now, false);
                lose_at(Point::resumes, now, false);
                if (rank == 0) lose_at(Point::first_commits, now, true);
            };
            const NumberedJob numbered{50};
            Job job = numbered.job(units_of_run);
            job.on_tasks([&](const TaskStatistics&) { lose_at(Point::computes, done, false); }, {});
            static_cast<void>(run_in_epochs(runtime, job, options));
            ASSERT_EQ(numbered.result(), numbered.expected({0, units_of_run}))
                << "rank " << rank << ", run " << run;
        }
        ++ended;
    });
    for (int rank = 0; rank < case_.ranks; ++rank)
        if (const ErrorPtr& error = outcomes[static_cast<std::size_t>(rank)].error) {
            EXPECT_TRUE(losses.contains(rank)) << "rank " << rank << ": " << error->what();
        }
    EXPECT_GE(ended, case_.ranks - static_cast<int>(losses.size()));
}

} // namespace
} // namespace headrace::test
