// tests/domains/cluster/wire_test.cpp - what ranks send beside their work: figures and traces to rank 0,
// pings, and the numbers of messages.
#include <core/seeds.hpp>
#include <core/test_deadline.hpp>
#include <headrace/core/error.hpp>
#include <headrace/domains/cluster/traffic.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>
#include <headrace/internal/domains/cluster/simulated_network.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::JoinNumber, cluster::Message, cluster::Node, cluster::Reader, cluster::SimulatedNetwork,
    cluster::Writer;

class Wires : public testing::TestWithParam<int> {
protected:
    /// Runs `program` on each rank, in a thread of its own, and leaves. Failures of lost ranks are ignored.
    void run(const std::function<void(Node&)>& program) {
        const TestDeadline deadline("the ranks of a test");
        std::barrier ready(ranks_); // a rank that is lost earlier would end the others
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks_; ++rank)
            threads.emplace_back([&, rank] {
                const auto node = std::make_shared<Node>([&] { return network_.transport(rank); });
                const cluster::NodeOfThisThread mine(node);
                ready.arrive_and_wait();
                program(*node);
                node->leave();
            });
    }
    static Message number(int value) { return Writer().put(value).take(); }

    const int ranks_ = GetParam();
    SimulatedNetwork network_{ranks_, {.seed = fresh_seed(), .most_delay = 200us}};
};
INSTANTIATE_TEST_SUITE_P(Of, Wires, testing::Values(1, 2, 3, 40), testing::PrintToStringParamName());

TEST_P(Wires, BringTheFiguresOfEachRankToRankZero) {
    run([&](Node& node) {
        for (int round = 0; round < 5; ++round) {
            const auto all = node.wire().gather(number(100 * round + node.rank()));
            if (node.rank() != 0) {
                EXPECT_TRUE(all.empty());
                continue; // at once, to the next round or the end
            }
            ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks_));
            for (int rank = 0; rank < ranks_; ++rank)
                EXPECT_EQ(Reader(all[static_cast<std::size_t>(rank)]).get<int>(), 100 * round + rank);
        }
    });
}

TEST_P(Wires, DoNotWaitForARankThatHasLeftOrIsLost) {
    if (ranks_ < 3) GTEST_SKIP() << "too few ranks";
    std::barrier all_continue(ranks_);
    run([&](Node& node) {
        node.continue_after_losses(3s); // instead of 30 s until a loss is noticed
        all_continue.arrive_and_wait(); // a rank that does not yet would end with the one that is lost
        if (node.rank() == 1) return;
        if (node.rank() == 2) return network_.lose(2);
        const auto all = node.wire().gather(number(node.rank()));
        if (node.rank() != 0) return;
        EXPECT_TRUE(all[1].empty());
        EXPECT_TRUE(all[2].empty());
    });
}

// The ranks of this test have one clock.
TEST_P(Wires, CompareClocks) {
    run([&](Node& node) {
        for (int repeat = 0; repeat < 3; ++repeat) {
            node.wire().ping_first();
            const auto reading = node.wire().clock_reading(10s);
            ASSERT_TRUE(reading);
            EXPECT_LE(std::chrono::abs(reading->offset), reading->error) << "rank " << node.rank();
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            EXPECT_LE(now - reading->at, 10s);
        }
        static_cast<void>(node.exchange({})); // rank 0 answers until all have done this
    });
}

TEST_P(Wires, KnowNoClockWithoutPings) {
    run([&](Node& node) { EXPECT_EQ(node.wire().clock_reading(0s).has_value(), node.rank() == 0); });
}

TEST_P(Wires, CountWhatIsSent) {
    constexpr std::size_t part = 3000, result = 50'000, slack = 100;
    run([&](Node& node) {
        const auto before = cluster::collect_traffic();
        const JoinNumber key{};
        if (node.rank() == 0) {
            static_cast<void>(node.collect(key));
            node.publish(key, {{.bytes = Message(result)}});
        } else {
            EXPECT_EQ(node.exchange_with_first(key, Message(part)).at(0).bytes.size(), result);
        }
        const auto after = cluster::collect_traffic();
        if (node.rank() != 0) {
            EXPECT_TRUE(after.empty());
            return;
        }
        ASSERT_EQ(before.size(), static_cast<std::size_t>(ranks_));
        ASSERT_EQ(after.size(), static_cast<std::size_t>(ranks_));
        std::uint64_t bytes = 0, messages = 0;
        for (std::size_t rank = 0; rank < after.size(); ++rank) {
            EXPECT_EQ(after[rank].rank, static_cast<int>(rank));
            EXPECT_EQ(after[rank].host, node.hosts()[rank]);
            EXPECT_EQ(before[rank].results.bytes, 0u);
            EXPECT_EQ(after[rank].work.messages, 0u);
            bytes += after[rank].results.bytes;
            messages += after[rank].results.messages;
        }
        // Each of the others has sent its part, and has got the result once, from rank 0 or down the tree.
        const auto others = static_cast<std::uint64_t>(ranks_ - 1);
        EXPECT_EQ(messages, 2 * others);
        EXPECT_GE(bytes, others * (part + result));
        EXPECT_LE(bytes, others * (part + result + slack));
        if (ranks_ > 1) {
            EXPECT_GT(after[1].exchanges.messages, 0u);
        }
    });
}

TEST_P(Wires, BringNoPartBackToItsRank) {
    constexpr std::size_t part = 3000, slack = 100;
    run([&](Node& node) {
        const JoinNumber key{};
        if (node.rank() == 0) {
            static_cast<void>(node.collect(key));
            std::vector<cluster::Answer> answers;
            for (int rank = 0; rank < ranks_; ++rank) answers.push_back({rank, Message(part)});
            node.publish(key, answers);
        } else {
            static_cast<void>(node.exchange_with_first(key, Message(part)));
        }
        std::uint64_t bytes = 0, messages = 0;
        for (const auto& rank : cluster::collect_traffic()) {
            bytes += rank.results.bytes;
            messages += rank.results.messages;
        }
        if (node.rank() != 0 || ranks_ == 1) return;
        const auto others = static_cast<std::uint64_t>(ranks_ - 1);
        // A rank with ranks below gets its own part too, and forwards it.
        const auto forwarding = static_cast<std::uint64_t>(ranks_ > 33 ? 1 : 0);
        const std::uint64_t parts = others + others * others + forwarding;
        EXPECT_EQ(messages, parts + others - forwarding) << "with those that say that a rank has its part";
        EXPECT_GE(bytes, parts * part);
        EXPECT_LE(bytes, parts * (part + slack));
    });
}

TEST(Wire, OfOneProcessHasNoTraffic) { EXPECT_TRUE(cluster::collect_traffic().empty()); }

} // namespace
} // namespace headrace::test
