// tests/domains/cluster/submitting_threads_test.cpp - several threads of each rank submit jobs, and come in
// another order on each rank.
#include "ranks.hpp"

#include <core/seeds.hpp>
#include <domains/job.kernels.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::SimulatedNetwork, cluster::ThreadNumber;

constexpr std::uint64_t units = 5'003;

class SubmittingThreads : public testing::TestWithParam<int> {
protected:
    [[nodiscard]] std::vector<RankOutcome>
    outcomes(const std::function<void(int rank, Runtime& runtime)>& program) {
        SimulatedNetwork network(GetParam(), {.seed = seed_, .most_delay = 500us});
        return on_ranks(GetParam(), network, program);
    }
    void run(const std::function<void(int rank, Runtime& runtime)>& program) {
        for (const RankOutcome& outcome : outcomes(program))
            EXPECT_FALSE(outcome.error) << outcome.error->what() << ", seed " << seed_;
    }

    void expect_all_refused(const std::function<void(int rank, Runtime& runtime)>& program) {
        for (const RankOutcome& outcome : outcomes(program)) {
            ASSERT_TRUE(outcome.error);
            EXPECT_EQ(outcome.error->kind(), ErrorKind::invalid_argument);
            EXPECT_NE(std::string(outcome.error->what()).find("ThreadNumber"), std::string::npos)
                << outcome.error->what();
        }
    }

private:
    const std::uint32_t seed_ = fresh_seed();
};
INSTANTIATE_TEST_SUITE_P(On, SubmittingThreads, testing::Values(2, 3, 7),
                         [](const auto& one) { return std::to_string(one.param) + "ranks"; });

/// All have one name and as many work units, so the ranks cannot know them apart by that.
JobHandle submit(Runtime& runtime, const Domain<std::uint64_t>& bins) {
    return runtime.submit(Job("histogram", units).accumulates(bins).kernel([=](Task& task) {
        return Histogram{task.sum(bins)};
    }));
}

void expect_sums(const Domain<std::uint64_t>& bins, std::uint64_t jobs) {
    const auto sums = bins.gather();
    const std::uint64_t cells = bins.size();
    for (std::uint64_t cell = 0; cell < cells; ++cell)
        EXPECT_EQ(sums[cell], jobs * (units / cells + (cell < units % cells ? 1 : 0)));
}

/// Of two threads of a rank, the second one submits after the first. Whatever throws, nothing waits for ever.
class Turn {
public:
    Turn(std::latch& first_has_submitted, bool is_first)
        : first_has_submitted_(first_has_submitted), is_first_(is_first) {
        if (!is_first) first_has_submitted.wait();
    }
    ~Turn() {
        if (is_first_) first_has_submitted_.count_down();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    std::latch& first_has_submitted_;
    const bool is_first_;
};

TEST_P(SubmittingThreads, SubmitInAnyOrder) {
    constexpr std::uint64_t jobs = 5;
    run([&](int rank, Runtime& runtime) {
        const auto node = cluster::current_node();
        std::latch has_submitted(1);
        const auto thread = [&, node](std::uint32_t number, std::uint64_t cells) {
            const cluster::NodeOfThisThread mine(node);
            const ThreadNumber here(number);
            const Domain<std::uint64_t> bins("bins", {cells});
            {
                const Turn turn(has_submitted, (rank + static_cast<int>(number)) % 2 == 0);
                for (std::uint64_t job = 0; job < jobs; ++job) submit(runtime, bins);
            }
            expect_sums(bins, jobs);
        };
        auto one = std::async(std::launch::async, thread, 1, 7);
        auto other = std::async(std::launch::async, thread, 2, 11);
        const Domain<std::uint64_t> bins("bins", {13}); // this thread needs no number
        submit(runtime, bins);
        expect_sums(bins, 1);
        one.get();
        other.get();
    });
}

TEST_P(SubmittingThreads, FunctionsThatRunAfterJobsSubmitInAnyOrder) {
    run([&](int rank, Runtime& runtime) {
        const Domain<std::uint64_t> before("before", {3}), first("first", {7}), second("second", {11}),
            third("third", {13});
        const JobHandle job = submit(runtime, before);
        std::latch has_submitted(1);
        const bool is_even = rank % 2 == 0; // which function is the first to submit
        const auto submit_in_turn = [&](bool is_first, const Domain<std::uint64_t>& bins) {
            const Turn turn(has_submitted, is_first);
            return submit(runtime, bins);
        };
        const JobHandle one = then(job, [&](JobStatus) {
            const JobHandle mine = submit_in_turn(is_even, first);
            then(mine, [&](JobStatus) { submit(runtime, third).wait(); }).wait(); // its own calls count too
        });
        const JobHandle other = then(job, [&](JobStatus) { submit_in_turn(!is_even, second).wait(); });
        one.wait();
        other.wait();
        expect_sums(first, 1);
        expect_sums(second, 1);
        expect_sums(third, 1);
    });
}

TEST_P(SubmittingThreads, WithoutANumberASecondOneIsRefused) {
    expect_all_refused([&](int, Runtime& runtime) {
        const Domain<std::uint64_t> bins("bins", {7});
        submit(runtime, bins).wait();
        const auto node = cluster::current_node();
        std::async(std::launch::async, [&] {
            const cluster::NodeOfThisThread mine(node);
            submit(runtime, bins);
        }).get();
    });
}

TEST_P(SubmittingThreads, AFunctionOfAThreadWithoutANumberIsRefused) {
    expect_all_refused([&](int, Runtime& runtime) {
        const Domain<std::uint64_t> bins("bins", {7});
        const JobHandle job = submit(runtime, bins);
        const auto node = cluster::current_node();
        std::async(std::launch::async, [&] {
            const cluster::NodeOfThisThread mine(node);
            then(job, [&](JobStatus) { submit(runtime, bins); }).wait();
        }).get();
    });
}

TEST_P(SubmittingThreads, ATaskIsRefused) {
    expect_all_refused([&](int, Runtime& runtime) {
        const ThreadNumber here(1); // so there is no thread without a number yet
        const Domain<std::uint64_t> bins("bins", {7}), own("own", {7});
        Job job("of this rank", units); // each rank does all of it
        job.accumulates(own).only_on({"cpu"}).kernel([=, &runtime](Task& task) {
            submit(runtime, bins);
            return Histogram{task.sum(own)};
        });
        runtime.submit(job).wait();
    });
}

TEST(ThreadNumbers, DoNothingWithoutRanks) {
    const ThreadNumber one(1);
    const ThreadNumber again(1);
    Runtime runtime({.devices = "cpu"});
    const Domain<std::uint64_t> bins("bins", {7});
    submit(runtime, bins);
    expect_sums(bins, 1);
}

} // namespace
} // namespace headrace::test
