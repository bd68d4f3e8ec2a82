// tests/domains/cluster/node_test.cpp - ranks in threads of one process: exchanges, joins, jobs without a
// runtime, and ranks that fail, leave or are lost.
#include <core/seeds.hpp>
#include <core/test_deadline.hpp>
#include <domains/cluster/made_up_work.hpp>
#include <domains/cluster/nodes.hpp>
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/node.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>
#include <headrace/internal/domains/cluster/simulated_network.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::Answer, cluster::CallNumber, cluster::JoinNumber, cluster::Message, cluster::Node,
    cluster::Reader, cluster::SimulatedNetwork, cluster::Writer;

/// MadeUpWork with a thread as its device. The work of a unit takes no time.
class ThreadedWork final : public cluster::LocalWork {
public:
    /// Called by the device for each task. It may throw: the job then fails on this rank.
    using Do = std::function<void(IndexRange)>;

    ThreadedWork(const Node& node, std::uint64_t work_units, Do task)
        : work_(node.neighbours(), subtree_sizes(node.ranks()), work_units, [] { return Clock::now(); }),
          do_(std::move(task)) {
        work_.start();
        device_ = std::jthread([this] { run(); });
    }

    [[nodiscard]] Supply supply() const override {
        const std::scoped_lock lock(mutex_);
        return work_.supply();
    }
    void extend(IndexRange units) override {
        locked([&] { work_.extend(units); });
    }
    void close() override {
        locked([&] { work_.close(); });
    }
    void stop(ErrorPtr why) override {
        locked([&] { work_.stop(std::move(why)); });
    }
    [[nodiscard]] std::optional<WorkRange> next(int rank, bool lacks_units) override {
        const std::scoped_lock lock(mutex_);
        return work_.next(rank, lacks_units);
    }
    void note_speed(int rank, double units_per_second) override {
        locked([&] { work_.note_speed(rank, units_per_second); });
    }
    void note_takes_units(int rank) override {
        locked([&] { work_.note_takes_units(rank); });
    }
    void receive(std::optional<int> rank, UnitBatch units) override {
        locked([&] { work_.receive(rank, std::move(units)); });
    }
    void note_above(bool wants) override {
        locked([&] { work_.note_above(wants); });
    }
    [[nodiscard]] std::shared_ptr<const UnitBatch> next_for_above() override {
        const std::scoped_lock lock(mutex_);
        return work_.next_for_above();
    }
    void completed(int rank, const std::vector<WorkRange>& works, std::optional<Part> next,
                   Clock::time_point begin, Clock::time_point end) override {
        locked([&] { work_.completed(rank, works, next, begin, end); });
    }
    void abandoned(int rank, const WorkRange& work) override {
        locked([&] { work_.abandoned(rank, work); });
    }

    /// Blocks until the job is over here. Why it has failed; null: it has not.
    ErrorPtr wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return work_.supply().has_ended; });
        EXPECT_FALSE(work_.has_grants());
        return work_.supply().stop_reason;
    }

private:
    template <class Call>
    void locked(const Call& call) {
        const std::scoped_lock lock(mutex_);
        call();
        changed_.notify_all();
    }
    void run() {
        std::unique_lock lock(mutex_);
        while (!work_.supply().has_ended) {
            const auto task = work_.take();
            if (!task) {
                // A refused device asks again, since the policy may want it later.
                changed_.wait_for(lock, 1ms);
                continue;
            }
            lock.unlock();
            const auto begin = Clock::now();
            ErrorPtr error;
            try {
                do_(task->range);
            } catch (...) {
                error = current_error();
            }
            lock.lock();
            if (error) work_.stop(error);
            work_.done(*task, Clock::now() - begin);
            changed_.notify_all();
        }
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    MadeUpWork work_;
    Do do_;
    std::jthread device_; ///< last: it uses the rest
};

void submit(Node& node, const std::shared_ptr<ThreadedWork>& work, cluster::JobMark mark) {
    try {
        node.begin(node.next_job(), work, std::move(mark));
    } catch (...) { // the ranks work together no more
        work->stop(current_error());
    }
}

Message number(int value) { return Writer().put(value).take(); }
int number_in(const Message& message) { return Reader(message).get<int>(); }

/// Number of ranks, and the longest delay of a message.
struct Case {
    int ranks;
    std::chrono::microseconds delay;
};

class Nodes : public testing::TestWithParam<Case> {
protected:
    std::vector<ErrorPtr> run(const std::function<void(const std::shared_ptr<Node>&)>& program) {
        return on_nodes(network_, ranks_, program);
    }
    void expect_no_errors(const std::vector<ErrorPtr>& errors) const {
        for (const ErrorPtr& error : errors) EXPECT_FALSE(error) << error->what();
    }
    /// All but rank 1, which may end in any way.
    void expect_errors(const std::vector<ErrorPtr>& errors, const std::string& text) const {
        for (std::size_t rank = 0; rank < errors.size(); ++rank) {
            if (rank == 1) continue;
            ASSERT_TRUE(errors[rank]) << "rank " << rank;
            EXPECT_NE(std::string(errors[rank]->what()).find(text), std::string::npos)
                << "rank " << rank << ": " << errors[rank]->what();
        }
    }

    const int ranks_ = GetParam().ranks;
    SimulatedNetwork network_{ranks_, {.seed = fresh_seed(), .most_delay = GetParam().delay}};
};
INSTANTIATE_TEST_SUITE_P(On, Nodes,
                         testing::Values(Case{1, 0us}, Case{2, 0us}, Case{2, 2000us}, Case{3, 300us},
                                         Case{7, 0us}, Case{40, 0us}),
                         [](const auto& one) {
                             return std::to_string(one.param.ranks) + "ranks" +
                                    std::to_string(one.param.delay.count()) + "us";
                         });

TEST_P(Nodes, ExchangeWhatEachRankSays) {
    expect_no_errors(run([&](const std::shared_ptr<Node>& node) {
        for (int round = 0; round < 20; ++round) {
            const auto all = node->exchange(number(round * 1000 + node->rank()));
            ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks_));
            for (int rank = 0; rank < ranks_; ++rank)
                EXPECT_EQ(number_in(all[static_cast<std::size_t>(rank)]), round * 1000 + rank);
        }
    }));
}

TEST_P(Nodes, JoinWhatEachRankHas) {
    expect_no_errors(run([&](const std::shared_ptr<Node>& node) {
        for (std::uint64_t join = 0; join < 20; ++join) {
            const JoinNumber key{{.ordinal = 7}, join};
            int sum = 0;
            if (node->rank() == 0) {
                const auto parts = node->collect(key);
                for (int rank = 1; rank < ranks_; ++rank)
                    sum += number_in(parts[static_cast<std::size_t>(rank)]);
                node->publish(key, {{.bytes = number(sum)}});
            } else {
                sum = number_in(node->exchange_with_first(key, number(node->rank())).at(0).bytes);
            }
            EXPECT_EQ(sum, ranks_ * (ranks_ - 1) / 2);
        }
    }));
}

TEST_P(Nodes, GetThePartsOfTheOthers) {
    expect_no_errors(run([&](const std::shared_ptr<Node>& node) {
        for (std::uint64_t join = 0; join < 20; ++join) {
            const JoinNumber key{{.ordinal = 7}, join};
            const auto part_of = [=](int rank) { return static_cast<int>(join) * 100 + rank; };
            std::vector<Answer> answers;
            if (node->rank() == 0) {
                const std::vector<Message> parts = node->collect(key);
                for (int rank = 1; rank < ranks_; ++rank)
                    answers.push_back({rank, parts[static_cast<std::size_t>(rank)]});
                answers.push_back({-1, number(part_of(0))});
                node->publish(key, answers);
            } else {
                answers = node->exchange_with_first(key, number(part_of(node->rank())));
            }
            ASSERT_EQ(answers.size(), static_cast<std::size_t>(ranks_));
            for (int place = 0; place < ranks_; ++place) { // they come in this order
                const Answer& answer = answers[static_cast<std::size_t>(place)];
                EXPECT_EQ(answer.of, place + 1 < ranks_ ? place + 1 : -1);
                if (answer.of == node->rank() && answer.bytes.empty()) continue; // it has them
                EXPECT_EQ(number_in(answer.bytes), part_of(std::max(answer.of, 0)));
            }
        }
    }));
}

TEST_P(Nodes, DoEachUnitOfTheirJobsOnce) {
    constexpr std::uint64_t jobs = 10, units = 3000;
    std::vector<std::vector<std::atomic<int>>> times(jobs);
    for (auto& job : times) job = std::vector<std::atomic<int>>(units);
    expect_no_errors(run([&](const std::shared_ptr<Node>& node) {
        std::vector<std::shared_ptr<ThreadedWork>> works;
        for (std::uint64_t job = 0; job < jobs; ++job) {
            const std::uint64_t here = job % 3 == 2 ? 3 : units; // fewer than ranks
            works.push_back(std::make_shared<ThreadedWork>(*node, here, [&times, job](IndexRange task) {
                for (std::uint64_t unit = task.begin; unit < task.end; ++unit)
                    times[job][unit].fetch_add(1, std::memory_order_relaxed); // joins order the checks after
            }));
            submit(*node, works.back(), {"job " + std::to_string(job), here});
            if (job % 2 == 0) { // else the next one runs beside it
                EXPECT_FALSE(works.back()->wait());
            }
        }
        for (const auto& work : works) EXPECT_FALSE(work->wait());
    }));
    for (std::uint64_t job = 0; job < jobs; ++job)
        for (std::uint64_t unit = 0; unit < units; ++unit)
            ASSERT_EQ(times[job][unit], job % 3 < 2 || unit < 3 ? 1 : 0) << "unit " << unit;
}

TEST_P(Nodes, AllGetToKnowThatAJobFails) {
    constexpr std::uint64_t units = 1'000'000;
    const auto errors = run([&](const std::shared_ptr<Node>& node) {
        const auto task = [rank = node->rank()](IndexRange range) {
            if (range.begin <= units / 2 && units / 2 < range.end)
                throw Error{ErrorKind::kernel, "unit in the middle, on rank " + std::to_string(rank)};
        };
        const auto work = std::make_shared<ThreadedWork>(*node, units, task);
        submit(*node, work, {"thrower", units});
        const ErrorPtr error = work->wait();
        ASSERT_TRUE(error);
        EXPECT_EQ(error->kind(), ErrorKind::kernel) << error->what();
        // The ranks go on.
        const auto next = std::make_shared<ThreadedWork>(*node, 10, [](IndexRange) {});
        submit(*node, next, {"next", 10});
        EXPECT_FALSE(next->wait());
    });
    expect_no_errors(errors);
}

TEST_P(Nodes, ARankThatLeavesEndsWhatWaitsForIt) {
    if (ranks_ == 1) GTEST_SKIP() << "no other rank";
    const auto errors = run([&](const std::shared_ptr<Node>& node) {
        static_cast<void>(node->exchange({}));
        if (node->rank() == 1) return;
        if (node->rank() == 0) static_cast<void>(node->collect(JoinNumber{}));
        static_cast<void>(node->exchange_with_first(JoinNumber{}, {}));
    });
    EXPECT_FALSE(errors[1]);
    ASSERT_TRUE(errors[0]);
    EXPECT_NE(std::string(errors[0]->what()).find("rank 1 on "), std::string::npos) << errors[0]->what();
    for (std::size_t rank = 2; rank < errors.size(); ++rank) {
        ASSERT_TRUE(errors[rank]);
        EXPECT_NE(std::string(errors[rank]->what()).find("rank 0 on "), std::string::npos)
            << errors[rank]->what();
    }
}

TEST_P(Nodes, ALostRankEndsExchangesInWords) {
    if (ranks_ == 1) GTEST_SKIP() << "no other rank";
    const auto errors = run([&](const std::shared_ptr<Node>& node) {
        static_cast<void>(node->exchange({}));
        if (node->rank() == 1) network_.lose(1);
        for (;;) static_cast<void>(node->exchange({}));
    });
    expect_errors(errors, "rank 1");
}

TEST_P(Nodes, ALostRankEndsJobsInWords) {
    if (ranks_ == 1) GTEST_SKIP() << "no other rank";
    constexpr std::uint64_t units = 1'000'000;
    const auto errors = run([&](const std::shared_ptr<Node>& node) {
        for (;;) {
            const auto work = std::make_shared<ThreadedWork>(*node, units, [&](IndexRange task) {
                if (task.begin <= units / 2 && units / 2 < task.end) network_.lose(1);
            });
            submit(*node, work, {"job", units});
            if (const ErrorPtr error = work->wait()) throw Error{*error};
        }
    });
    expect_errors(errors, "rank 1");
}

/// A sum over units in epochs: rank 0 keeps what is committed, and the others begin an epoch again after a
/// loss. `at`: called with the epoch by devices, for their units, and by the program when it has submitted
/// the job, for none. Returns the sum, on rank 0.
std::uint64_t sum_in_epochs(Node& node, int epochs, std::uint64_t units,
                            const std::function<void(int epoch, IndexRange units)>& at) {
    int committed = 0;
    std::uint64_t sum = 0;
    for (;;) {
        try {
            const int epoch = number_in(node.exchange(number(committed)).front());
            if (epoch == epochs) return sum;
            std::atomic<std::uint64_t> part = 0;
            const auto work = std::make_shared<ThreadedWork>(node, units, [&](IndexRange task) {
                at(epoch, task);
                for (std::uint64_t unit = task.begin; unit < task.end; ++unit)
                    part += unit * static_cast<std::uint64_t>(epoch + 1);
            });
            CallNumber job;
            try {
                job = node.next_job();
                node.begin(job, work, {"epoch", units});
            } catch (...) { // a loss
                work->stop(current_error());
            }
            at(epoch, {});
            if (const ErrorPtr error = work->wait()) throw Error{*error};
            const JoinNumber key{job, 0};
            const Message mine = Writer().put(part.load()).take();
            if (node.rank() != 0) {
                static_cast<void>(node.exchange_with_first(key, mine));
                continue;
            }
            std::uint64_t all = part;
            for (const Message& other : node.collect(key))
                if (!other.empty()) all += Reader(other).get<std::uint64_t>();
            sum += all;
            ++committed;
            node.publish(key, {Answer()});
        } catch (const Error&) {
            if (!node.recover()) throw;
        }
    }
}

std::uint64_t sum_of_epochs(int epochs, std::uint64_t units) {
    return units * (units - 1) / 2 * static_cast<std::uint64_t>(epochs * (epochs + 1) / 2);
}

/// Neighbours miss a rank after this time. The ranks are threads that share few cores with other tests: the
/// more ranks, the longer a sign of life may take.
auto patience_among(int ranks) { return 600ms + ranks * 60ms; }

TEST_P(Nodes, GoOnWithoutRanksThatAreLost) {
    if (ranks_ == 1) GTEST_SKIP() << "no other rank";
    constexpr int epochs = 12;
    constexpr std::uint64_t units = 5000;
    std::mt19937_64 random(fresh_seed());
    struct Loss {
        int epoch;
        bool is_told;      ///< by the transport
        bool is_in_a_task; ///< else when it has submitted the job
    };
    std::map<int, Loss> losses; // by rank
    for (int number = 0; number < 3; ++number)
        losses[std::uniform_int_distribution(1, ranks_ - 1)(random)] = {
            std::uniform_int_distribution(1, epochs - 2)(random), number == 0, random() % 2 == 0};
    std::uint64_t sum = 0;
    const auto errors = run([&](const std::shared_ptr<Node>& node) {
        node->continue_after_losses(patience_among(ranks_));
        const auto mine = losses.find(node->rank());
        const std::uint64_t found = sum_in_epochs(*node, epochs, units, [&](int epoch, IndexRange task) {
            if (mine == losses.end() || epoch < mine->second.epoch) return;
            if (mine->second.is_in_a_task == task.empty() && epoch < epochs - 2) return;
            network_.lose(node->rank(), mine->second.is_told);
        });
        if (node->rank() == 0) sum = found;
    });
    EXPECT_EQ(sum, sum_of_epochs(epochs, units));
    for (int rank = 0; rank < ranks_; ++rank)
        if (const ErrorPtr& error = errors[static_cast<std::size_t>(rank)]) {
            EXPECT_TRUE(losses.contains(rank)) << "rank " << rank << ": " << error->what();
        } else {
            EXPECT_FALSE(losses.contains(rank)) << "rank " << rank << " was lost";
        }
}

TEST_P(Nodes, GoOnWithoutARankThatCannotBeReached) {
    if (ranks_ == 1) GTEST_SKIP() << "no other rank";
    constexpr int epochs = 6;
    constexpr std::uint64_t units = 5000;
    std::uint64_t sum = 0;
    const auto errors = run([&](const std::shared_ptr<Node>& node) {
        node->continue_after_losses(patience_among(ranks_));
        const std::uint64_t found = sum_in_epochs(*node, epochs, units, [&](int epoch, IndexRange) {
            if (epoch != 2 || node->rank() != 1) return;
            for (int other = 0; other < ranks_; ++other)
                if (other != 1) network_.cut(1, other);
        });
        if (node->rank() == 0) sum = found;
    });
    EXPECT_EQ(sum, sum_of_epochs(epochs, units));
    ASSERT_TRUE(errors[1]); // it misses rank 0
    EXPECT_NE(std::string(errors[1]->what()).find("rank 0"), std::string::npos) << errors[1]->what();
    for (std::size_t rank = 0; rank < errors.size(); ++rank)
        if (rank != 1) {
            EXPECT_FALSE(errors[rank]) << errors[rank]->what();
        }
}

TEST_P(Nodes, AllEndInWordsWithoutRankZero) {
    if (ranks_ == 1) GTEST_SKIP() << "no other rank";
    const auto errors = run([&](const std::shared_ptr<Node>& node) {
        node->continue_after_losses(patience_among(ranks_));
        static_cast<void>(sum_in_epochs(*node, 6, 5000, [&](int epoch, IndexRange) {
            if (epoch == 2 && node->rank() == 0) network_.lose(0, false);
        }));
    });
    for (std::size_t rank = 1; rank < errors.size(); ++rank) {
        ASSERT_TRUE(errors[rank]) << "rank " << rank;
        EXPECT_NE(std::string(errors[rank]->what()).find("rank 0"), std::string::npos)
            << errors[rank]->what();
    }
}

} // namespace
} // namespace headrace::test
