// tests/domains/cluster/stepped_network_test.cpp - ranks in virtual time on one thread.
#include <domains/cluster/numbered.hpp>
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/stepped_network.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::Message, cluster::SimulatedDelays, cluster::SteppedNetwork;

std::vector<Received> recipients(int ranks) {
    std::vector<Received> all;
    for (int rank = 0; rank < ranks; ++rank) all.emplace_back(rank);
    return all;
}

TEST(SteppedNetwork, DeliversEveryMessageOnceAndInTheOrderOfItsPair) {
    constexpr int ranks = 5, messages = 40;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SteppedNetwork network(ranks, {.seed = seed, .most_delay = seed % 4 == 0 ? 0ms : 10ms});
        for (int number = 0; number < messages; ++number)
            for (int from = 0; from < ranks; ++from)
                for (int to = 0; to < ranks; ++to) network.send(from, to, numbered(from, to, number));
        std::vector<Received> received = recipients(ranks);
        SteppedNetwork::Time last{};
        while (const auto delivery = network.step()) {
            received[static_cast<std::size_t>(delivery->first)].add(delivery->second);
            EXPECT_GE(network.now(), last);
            last = network.now();
        }
        for (const Received& one : received)
            for (int from = 0; from < ranks; ++from)
                EXPECT_EQ(one.messages(from), messages) << "seed " << seed;
        EXPECT_LE(last, 10ms);
        EXPECT_EQ(network.traffic().messages, std::uint64_t{ranks * (ranks - 1) * messages});
    }
}

TEST(SteppedNetwork, LetsMessagesOfOtherPairsOvertake) {
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SteppedNetwork network(4, {.seed = seed, .least_delay = 1us, .most_delay = 1ms});
        for (int from = 0; from < 4; ++from) network.send(from, 0, {});
        std::vector<int> order;
        while (const auto delivery = network.step()) order.push_back(delivery->second.from);
        orders.insert(order);
    }
    EXPECT_EQ(orders.size(), 24u) << "of the 4! orders";
}

TEST(SteppedNetwork, KeepsDelaysWithinTheirBounds) {
    SteppedNetwork network(2, {.seed = 3, .least_delay = 2us, .most_delay = 5us});
    std::set<SteppedNetwork::Time> delays;
    for (int i = 0; i < 100; ++i) {
        const auto begin = network.now();
        network.send(0, 1, {});
        const auto next = network.next();
        ASSERT_TRUE(network.step());
        EXPECT_EQ(next, network.now());
        delays.insert(network.now() - begin);
    }
    EXPECT_GE(*delays.begin(), 2us);
    EXPECT_LE(*delays.rbegin(), 5us);
    EXPECT_GT(delays.size(), 50u);
}

TEST(SteppedNetwork, HasAClockThatCallersAdvance) {
    SteppedNetwork network(2, {.least_delay = 10us, .most_delay = 10us});
    network.advance(3us);
    network.send(0, 1, {});
    EXPECT_EQ(network.next(), 13us);
    network.advance(13us);
    ASSERT_TRUE(network.step());
    EXPECT_EQ(network.now(), 13us);
    EXPECT_FALSE(network.step());
    EXPECT_FALSE(network.next());
}

TEST(SteppedNetwork, CountsBytesBetweenRanks) {
    SteppedNetwork network(2);
    const auto transport = network.transport(1);
    EXPECT_EQ(transport->rank(), 1);
    EXPECT_EQ(transport->ranks(), 2);
    transport->send(0, Message(7));
    transport->send(1, Message(100)); // to itself
    network.send(0, 1, Message(3));
    EXPECT_EQ(network.traffic().messages, 2u);
    EXPECT_EQ(network.traffic().bytes, 10u);
    EXPECT_FALSE(transport->receive(1h));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(network.step());
    EXPECT_FALSE(network.step());
}

TEST(SteppedNetwork, RefusesDelaysThatCannotBe) {
    EXPECT_THROW(SteppedNetwork(1, {.least_delay = 2ns, .most_delay = 1ns}), Error);
    EXPECT_THROW(SteppedNetwork(1, {.least_delay = -1ns, .most_delay = 1ns}), Error);
}

TEST(SteppedNetwork, ReportsALossOnceToEachAndNothingAfterIt) {
    constexpr int ranks = 6, messages = 20, lost = 2;
    std::set<int> arrived;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        SteppedNetwork network(ranks, {.seed = seed, .most_delay = 1ms});
        std::vector<Received> received = recipients(ranks);
        for (int number = 0; number < messages; ++number)
            for (int from = 0; from < ranks; ++from)
                for (int to = 0; to < ranks; ++to) network.send(from, to, numbered(from, to, number));
        for (int i = 0; i < 100; ++i) {
            const auto delivery = network.step();
            ASSERT_TRUE(delivery);
            received[static_cast<std::size_t>(delivery->first)].add(delivery->second);
        }
        network.lose(lost);
        network.lose(lost);
        network.send(lost, 0, Message(1));
        network.send(0, lost, Message(1));
        while (const auto delivery = network.step()) {
            ASSERT_NE(delivery->first, lost);
            received[static_cast<std::size_t>(delivery->first)].add(delivery->second);
        }
        for (int rank = 0; rank < ranks; ++rank) {
            if (rank == lost) continue;
            const Received& one = received[static_cast<std::size_t>(rank)];
            for (int from = 0; from < ranks; ++from) {
                EXPECT_EQ(one.is_lost(from), from == lost) << "seed " << seed;
                if (from == lost)
                    arrived.insert(one.messages(from));
                else
                    EXPECT_EQ(one.messages(from), messages) << "seed " << seed;
            }
        }
    }
    EXPECT_EQ(*arrived.rbegin(), messages) << "sometimes none is lost";
    EXPECT_GT(arrived.size(), 10u) << "any number may be lost";
}

TEST(SteppedNetwork, TellsNoLostRankOfAnotherLoss) {
    SteppedNetwork network(3, {.most_delay = 1ms});
    network.lose(0);
    network.lose(1);
    std::vector<std::pair<int, int>> told;
    while (const auto delivery = network.step()) told.emplace_back(delivery->first, delivery->second.from);
    std::ranges::sort(told);
    EXPECT_EQ(told, (std::vector<std::pair<int, int>>{{2, 0}, {2, 1}}));
}

/// What arrives where and when.
std::vector<std::string> history(std::uint64_t seed) {
    SteppedNetwork network(5, {.seed = seed, .most_delay = 1ms});
    std::vector<std::string> lines;
    for (int rank = 0; rank < 5; ++rank)
        for (int to = 0; to < 5; ++to) network.send(rank, to, Message(static_cast<std::size_t>(rank)));
    for (int steps = 0; steps < 200; ++steps) {
        if (steps == 12) network.lose(3);
        const auto delivery = network.step();
        if (!delivery) break;
        const auto& [to, received] = *delivery;
        lines.push_back(std::to_string(network.now().count()) + ' ' + std::to_string(received.from) + ' ' +
                        std::to_string(to) + (received.is_loss ? " lost" : ""));
        if (!received.is_loss) network.send(to, (to + received.from) % 5, received.bytes);
    }
    return lines;
}

TEST(SteppedNetwork, DoesTheSameForTheSameSeed) {
    EXPECT_EQ(history(7), history(7));
    EXPECT_NE(history(7), history(8));
}

/// A word goes down a tree of ten thousand ranks, and sums come back.
TEST(SteppedNetwork, HasTenThousandRanks) {
    constexpr int ranks = 10'000, fan_out = 32;
    SteppedNetwork network(ranks, {.seed = 1, .least_delay = 2us, .most_delay = 500us});
    const auto children = [&](int rank) {
        return std::pair{std::min(rank * fan_out + 1, ranks), std::min(rank * fan_out + 1 + fan_out, ranks)};
    };
    const auto word = [](std::uint32_t value) {
        Message bytes(sizeof value);
        std::memcpy(bytes.data(), &value, sizeof value);
        return bytes;
    };
    std::vector<std::uint32_t> sums(ranks, 1);
    std::vector<int> missing(ranks);
    for (int rank = 0; rank < ranks; ++rank)
        missing[static_cast<std::size_t>(rank)] = children(rank).second - children(rank).first;
    const auto up = [&](int rank) {
        if (rank > 0) network.send(rank, (rank - 1) / fan_out, word(sums[static_cast<std::size_t>(rank)]));
    };
    network.send(0, 0, {});
    while (const auto delivery = network.step()) {
        const auto& [rank, received] = *delivery;
        const auto index = static_cast<std::size_t>(rank);
        if (received.bytes.empty()) {
            for (auto [child, end] = children(rank); child < end; ++child) network.send(rank, child, {});
            if (missing[index] == 0) up(rank);
        } else {
            std::uint32_t value = 0;
            std::memcpy(&value, received.bytes.data(), sizeof value);
            sums[index] += value;
            if (--missing[index] == 0) up(rank);
        }
    }
    EXPECT_EQ(sums[0], std::uint32_t{ranks});
    EXPECT_EQ(network.traffic().messages, std::uint64_t{2 * (ranks - 1)});

    network.lose(17);
    network.lose(9'999);
    std::size_t losses = 0;
    while (const auto delivery = network.step()) losses += delivery->second.is_loss;
    EXPECT_EQ(losses, std::size_t{2 * (ranks - 2)});
}

} // namespace
} // namespace headrace::test
