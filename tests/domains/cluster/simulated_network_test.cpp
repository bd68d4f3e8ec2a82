// tests/domains/cluster/simulated_network_test.cpp - ranks with threads in one process.
#include <domains/cluster/numbered.hpp>
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/simulated_network.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::Message, cluster::SimulatedNetwork;
using Clock = std::chrono::steady_clock;

constexpr auto forever = 100s; // ends what hangs

/// Runs `body(transport)` for each rank, on its own thread.
template <class Body>
void run_ranks(SimulatedNetwork& network, int ranks, Body body) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&network, rank, body] {
            const auto transport = network.transport(rank);
            body(*transport);
        });
}

TEST(SimulatedNetwork, DeliversEveryMessageOnceAndInTheOrderOfItsPair) {
    constexpr int ranks = 6, messages = 100;
    for (const auto most_delay : {0us, 500us}) {
        SimulatedNetwork network(ranks, {.seed = 5, .most_delay = most_delay});
        run_ranks(network, ranks, [&](cluster::Transport& transport) {
            EXPECT_EQ(transport.ranks(), ranks);
            Received received(transport.rank());
            int left = ranks * messages;
            for (int number = 0; number < messages; ++number) {
                for (int to = 0; to < ranks; ++to) transport.send(to, numbered(transport.rank(), to, number));
                if (const auto early = transport.receive(0ns)) {
                    received.add(*early);
                    --left;
                }
            }
            for (; left > 0; --left) {
                const auto next = transport.receive(forever);
                ASSERT_TRUE(next);
                received.add(*next);
            }
            EXPECT_FALSE(transport.receive(1ms));
            for (int from = 0; from < ranks; ++from) EXPECT_EQ(received.messages(from), messages);
        });
        std::uint64_t bytes = 0;
        for (int from = 0; from < ranks; ++from)
            for (int to = 0; to < ranks; ++to)
                for (int number = 0; number < messages && from != to; ++number)
                    bytes += numbered(from, to, number).size();
        EXPECT_EQ(network.traffic().messages, std::uint64_t{ranks * (ranks - 1) * messages});
        EXPECT_EQ(network.traffic().bytes, bytes);
    }
}

TEST(SimulatedNetwork, DelaysMessages) {
    SimulatedNetwork network(1, {.least_delay = 20ms, .most_delay = 20ms});
    const auto transport = network.transport(0);
    const auto begin = Clock::now();
    transport->send(0, Message(3));
    const auto received = transport->receive(forever);
    ASSERT_TRUE(received);
    EXPECT_EQ(received->from, 0);
    EXPECT_EQ(received->bytes.size(), 3u);
    EXPECT_GE(Clock::now() - begin, 20ms);
}

TEST(SimulatedNetwork, WaitsNoLongerThanItMay) {
    SimulatedNetwork network(1, {.least_delay = 1h, .most_delay = 1h});
    const auto transport = network.transport(0);
    transport->send(0, {});
    const auto begin = Clock::now();
    EXPECT_FALSE(transport->receive(5ms));
    EXPECT_GE(Clock::now() - begin, 5ms);
}

TEST(SimulatedNetwork, IsWokenOncePerWake) {
    SimulatedNetwork network(1);
    const auto transport = network.transport(0);
    transport->wake();
    transport->wake();
    EXPECT_FALSE(transport->receive(std::chrono::nanoseconds::max()));
    const auto begin = Clock::now();
    EXPECT_FALSE(transport->receive(5ms));
    EXPECT_GE(Clock::now() - begin, 5ms) << "nothing has woken this one";
    const std::jthread waker([&] { transport->wake(); });
    EXPECT_FALSE(transport->receive(std::chrono::nanoseconds::max()));
}

TEST(SimulatedNetwork, WakesWithoutLosingAMessage) {
    SimulatedNetwork network(1);
    const auto transport = network.transport(0);
    transport->send(0, Message(1));
    transport->wake();
    EXPECT_TRUE(transport->receive(forever));
}

/// All ranks send for as long as they hear of no loss; rank 0 is lost meanwhile.
TEST(SimulatedNetwork, ReportsALossOnceToEachAndNothingAfterIt) {
    constexpr int ranks = 5;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SimulatedNetwork network(ranks, {.seed = seed, .most_delay = seed % 2 == 0 ? 0us : 200us});
        run_ranks(network, ranks, [&](cluster::Transport& transport) {
            Received received(transport.rank());
            try {
                for (int number = 0; !received.is_lost(0); ++number) {
                    for (int to = 0; to < ranks; ++to)
                        transport.send(to, numbered(transport.rank(), to, number));
                    if (transport.rank() == 1 && number == 20) network.lose(0);
                    for (int i = 0; i < ranks; ++i)
                        if (const auto next = transport.receive(100us)) received.add(*next);
                }
                EXPECT_NE(transport.rank(), 0);
                transport.send(0, Message(1)); // which is dropped
                while (const auto next = transport.receive(2ms)) received.add(*next);
            } catch (const Error& error) {
                EXPECT_EQ(transport.rank(), 0) << error.what();
                EXPECT_EQ(error.kind(), ErrorKind::device);
                transport.send(1, Message(1)); // which is dropped too
            }
        });
    }
}

TEST(SimulatedNetwork, EndsTheWaitOfALostRank) {
    SimulatedNetwork network(2);
    const auto transport = network.transport(1);
    const std::jthread killer([&] { network.lose(1); });
    EXPECT_THROW(static_cast<void>(transport->receive(std::chrono::nanoseconds::max())), Error);
}

TEST(SimulatedNetwork, KeepsMessagesOfARankThatHasEnded) {
    SimulatedNetwork network(2, {.least_delay = 1ms, .most_delay = 1ms});
    network.transport(0)->send(1, Message(9));
    const auto received = network.transport(1)->receive(forever);
    ASSERT_TRUE(received);
    EXPECT_EQ(received->bytes.size(), 9u);
}

} // namespace
} // namespace headrace::test
