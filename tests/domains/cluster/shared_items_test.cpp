// tests/domains/cluster/shared_items_test.cpp - items of a stream that several ranks process: each once, and
// rank 0 takes their results in order.
#include <core/seeds.hpp>
#include <domains/cluster/nodes.hpp>
#include <headrace/domains/cluster/shared_items.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/item_rounds.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using cluster::SharedItems, cluster::ItemPace, cluster::items_of_round, cluster::SimulatedNetwork;
using Result = SharedItems::Result;

/// Bytes that follow from the item. Some items have none.
Result result_of(std::uint64_t item) {
    Result bytes(item % 3 == 0 ? 0 : 8 + item % 100);
    if (!bytes.empty()) std::memcpy(bytes.data(), &item, sizeof item);
    return bytes;
}

/// A stream of so many items, and what becomes of it.
struct Stream {
    std::uint64_t items = 0;
    bool is_known = true;                          ///< the number of items
    std::optional<std::uint64_t> broken = {};      ///< an item
    std::optional<std::uint64_t> not_written = {}; ///< an item
    std::function<void(int rank)> work{};          ///< for each item; may be empty
    std::vector<std::uint64_t> of_rank{};          ///< items that a rank has processed
    std::uint64_t taken = 0;
    std::vector<std::uint64_t> counted{}; ///< what `finish` says, by rank

    void process(int rank, SharedItems& shared) {
        while (const auto block = shared.next()) {
            std::vector<Result> results;
            ErrorPtr why;
            for (std::uint64_t item = block->begin; item < block->end && item < items && !why; ++item) {
                if (item == broken)
                    why = std::make_shared<const Error>(ErrorKind::io,
                                                        "item " + std::to_string(item) + " is broken");
                else
                    results.push_back(result_of(item));
                ++of_rank[static_cast<std::size_t>(rank)];
                if (work) work(rank);
            }
            shared.hand_over(std::move(results), why);
        }
        counted[static_cast<std::size_t>(rank)] = shared.finish();
    }

    void take(std::uint64_t item, std::span<const std::byte> result) {
        if (item == not_written) throw Error{ErrorKind::io, "the disk is full"};
        EXPECT_EQ(item, taken++);
        const Result expected = result_of(item);
        EXPECT_TRUE(std::ranges::equal(result, expected)) << "of item " << item;
    }

    std::vector<ErrorPtr> run(int ranks, SimulatedNetwork& network, std::uint64_t at_once = 4) {
        of_rank.assign(static_cast<std::size_t>(ranks), 0);
        counted.assign(static_cast<std::size_t>(ranks), 0);
        return on_nodes(network, ranks, [&](const std::shared_ptr<cluster::Node>& node) {
            const cluster::NodeOfThisThread mine(node);
            SharedItems shared(
                {.at_once = at_once + static_cast<std::uint64_t>(node->rank() % 2),
                 .items = is_known ? std::optional(items) : std::nullopt},
                [this](std::uint64_t item, std::span<const std::byte> result) { take(item, result); });
            process(node->rank(), shared);
        });
    }
};

class SharedStreams : public testing::TestWithParam<int> {
protected:
    const int ranks_ = GetParam();
    SimulatedNetwork network_{ranks_, {.seed = fresh_seed(), .most_delay = 300us}};
};
INSTANTIATE_TEST_SUITE_P(On, SharedStreams, testing::Values(1, 2, 3, 7), testing::PrintToStringParamName());

TEST_P(SharedStreams, HaveEachItemOnceAndInOrder) {
    for (const std::uint64_t items : {0, 1, 2, 9, 10, 57, 1000})
        for (const bool is_known : {true, false}) {
            SimulatedNetwork network(ranks_, {.seed = fresh_seed(), .most_delay = 300us});
            Stream stream{.items = items, .is_known = is_known};
            for (const ErrorPtr& error : stream.run(ranks_, network)) EXPECT_FALSE(error) << error->what();
            EXPECT_EQ(stream.taken, items);
            EXPECT_EQ(std::accumulate(stream.of_rank.begin(), stream.of_rank.end(), std::uint64_t{0}), items);
            EXPECT_EQ(stream.counted, std::vector<std::uint64_t>(static_cast<std::size_t>(ranks_), items));
        }
}

TEST_P(SharedStreams, TakeWhatCameBeforeABrokenItem) {
    for (const std::uint64_t broken : {0, 5, 23, 99}) {
        SimulatedNetwork network(ranks_, {.seed = fresh_seed(), .most_delay = 300us});
        Stream stream{.items = 100, .broken = broken};
        const auto errors = stream.run(ranks_, network);
        ASSERT_TRUE(errors.front());
        EXPECT_EQ(errors.front()->message(), "item " + std::to_string(broken) + " is broken");
        for (const ErrorPtr& error : errors)
            EXPECT_TRUE(error) << "a rank waits for more, or believes that all is well";
        for (const ErrorPtr& error : errors)
            EXPECT_TRUE(error && error->message() == errors.front()->message());
        EXPECT_EQ(stream.taken, broken);
    }
}

// Also the last one.
TEST_P(SharedStreams, FailOnAllRanksWhenAResultCannotBeTaken) {
    for (const std::uint64_t not_written : {0, 40, 199}) {
        SimulatedNetwork network(ranks_, {.seed = fresh_seed(), .most_delay = 300us});
        Stream stream{.items = 200, .not_written = not_written};
        for (const ErrorPtr& error : stream.run(ranks_, network)) {
            ASSERT_TRUE(error);
            EXPECT_EQ(error->message(), "the disk is full");
        }
        EXPECT_EQ(stream.taken, not_written);
    }
}

TEST_P(SharedStreams, CanFollowOneThatHasFailed) {
    const auto errors = on_nodes(network_, ranks_, [&](const std::shared_ptr<cluster::Node>& node) {
        const cluster::NodeOfThisThread mine(node);
        const auto pass = [&](const SharedItems::Take& take) {
            SharedItems shared({.at_once = 2, .items = 30}, take);
            while (const auto block = shared.next()) shared.hand_over(std::vector<Result>(block->size()));
            return shared.finish();
        };
        EXPECT_THROW(pass([](std::uint64_t item, std::span<const std::byte>) {
                         if (item == 9) throw Error{ErrorKind::io, "the disk is full"};
                     }),
                     Error);
        std::uint64_t taken = 0;
        EXPECT_EQ(pass([&](std::uint64_t, std::span<const std::byte>) { ++taken; }), 30u);
        EXPECT_EQ(taken, node->rank() == 0 ? 30u : 0u);
    });
    for (const ErrorPtr& error : errors) EXPECT_FALSE(error) << error->what();
}

TEST_P(SharedStreams, AreRefusedIfRanksFindDifferentOnes) {
    if (ranks_ == 1) GTEST_SKIP() << "one rank has one stream";
    const auto errors = on_nodes(network_, ranks_, [&](const std::shared_ptr<cluster::Node>& node) {
        const cluster::NodeOfThisThread mine(node);
        SharedItems shared({.items = node->rank() == 1 ? 12 : 10},
                           [](std::uint64_t, std::span<const std::byte>) {});
    });
    for (const ErrorPtr& error : errors) {
        ASSERT_TRUE(error);
        EXPECT_NE(error->message().find("rank 1 finds 12 items, and rank 0 finds 10"), std::string::npos)
            << error->what();
    }
}

TEST(SharedStream, OfOneProcessNeedsNoRanks) {
    std::vector<std::uint64_t> taken;
    SharedItems shared({.at_once = 3, .items = 8},
                       [&](std::uint64_t item, std::span<const std::byte>) { taken.push_back(item); });
    while (const auto block = shared.next()) shared.hand_over(std::vector<Result>(block->size()));
    EXPECT_EQ(shared.finish(), 8u);
    EXPECT_EQ(taken, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(SharedStream, RefusesCallsInAnotherOrder) {
    const auto nothing = [](std::uint64_t, std::span<const std::byte>) {};
    EXPECT_THROW(SharedItems({.at_once = 0}, nothing), Error);
    EXPECT_THROW(SharedItems({.at_once = 3, .most = 2}, nothing), Error);
    SharedItems shared({.at_once = 3, .items = 8}, nothing);
    EXPECT_THROW(shared.hand_over({}), Error);
    EXPECT_THROW(shared.finish(), Error);
    const auto block = shared.next();
    ASSERT_TRUE(block);
    EXPECT_THROW(static_cast<void>(shared.next()), Error);
    EXPECT_THROW(shared.finish(), Error);
    EXPECT_THROW(shared.hand_over(std::vector<Result>(4)), Error);
    shared.hand_over(std::vector<Result>(block->size()));
    while (const auto more = shared.next()) shared.hand_over(std::vector<Result>(more->size()));
    EXPECT_EQ(shared.finish(), 8u);
}

// The end that an earlier block finds is the end, whatever later ones find.
TEST(SharedStream, EndsAtTheFirstEnd) {
    SimulatedNetwork network(3);
    std::uint64_t taken = 0;
    const auto errors = on_nodes(network, 3, [&](const std::shared_ptr<cluster::Node>& node) {
        const cluster::NodeOfThisThread mine(node);
        SharedItems shared({.at_once = 4},
                           [&](std::uint64_t item, std::span<const std::byte>) { EXPECT_EQ(item, taken++); });
        while (const auto block = shared.next()) {
            const bool is_later = node->rank() == 2; // it sees more of a file that grows, and fails there
            shared.hand_over(std::vector<Result>(is_later            ? 2
                                                 : block->begin >= 6 ? 0
                                                                     : std::min<std::uint64_t>(
                                                                           6 - block->begin, block->size())),
                             is_later ? std::make_shared<const Error>(ErrorKind::io, "broken") : nullptr);
        }
        EXPECT_EQ(shared.finish(), 6u);
    });
    for (const ErrorPtr& error : errors) EXPECT_FALSE(error) << error->what();
    EXPECT_EQ(taken, 6u);
}

TEST(SharedStream, GivesAFasterRankMore) {
    using Clock = std::chrono::steady_clock;
    SimulatedNetwork network(2);
    Stream stream{.items = 400, .work = [](int rank) {
                      const auto end = Clock::now() + (rank == 0 ? 2000us : 200us);
                      while (Clock::now() < end) continue;
                  }};
    for (const ErrorPtr& error : stream.run(2, network)) EXPECT_FALSE(error) << error->what();
    EXPECT_GT(stream.of_rank[1], 2 * stream.of_rank[0]);
}

TEST(SharedStream, EndsWhenARankIsLost) {
    SimulatedNetwork network(3);
    Stream stream{.items = 1'000'000};
    stream.work = [&](int rank) {
        if (rank == 1 && stream.of_rank[1] == 50) network.lose(1);
    };
    for (const ErrorPtr& error : stream.run(3, network)) EXPECT_TRUE(error);
}

TEST(ItemsOfARound, AreDividedBySpeed) {
    using Items = std::vector<std::uint64_t>;
    const std::vector<ItemPace> unknown{{.at_once = 4}, {.at_once = 8}};
    EXPECT_EQ(items_of_round(unknown, {}), (Items{4, 8}));
    EXPECT_EQ(items_of_round(unknown, 3), (Items{1, 2}));
    EXPECT_EQ(items_of_round(unknown, 0), (Items{0, 0}));
    const std::vector<ItemPace> known{{.at_once = 6, .items_per_second = 10},
                                      {.at_once = 6, .items_per_second = 50}};
    EXPECT_EQ(items_of_round(known, {}), (Items{2, 10}));
    const std::vector<ItemPace> partly{{.at_once = 5, .items_per_second = 30}, {.at_once = 10}};
    EXPECT_EQ(items_of_round(partly, {}), (Items{5, 10}));
}

TEST(ItemsOfARound, AreNotMoreThanARankCanHold) {
    const std::vector<ItemPace> ranks{{.at_once = 4, .most = 5, .items_per_second = 90},
                                      {.at_once = 4, .items_per_second = 10}};
    EXPECT_EQ(items_of_round(ranks, {}), (std::vector<std::uint64_t>{5, 1}));
}

TEST(ItemsOfARound, AreAllGiven) {
    std::mt19937_64 random(fresh_seed());
    for (int i = 0; i < 10'000; ++i) {
        std::vector<ItemPace> ranks(1 + random() % 40);
        std::uint64_t all = 0;
        for (ItemPace& rank : ranks) {
            rank = {.at_once = 1 + random() % 100,
                    .items_per_second =
                        random() % 4 == 0 ? 0 : std::ldexp(1.0, static_cast<int>(random() % 40) - 20)};
            all += rank.at_once;
        }
        const std::uint64_t left = random() % 3000;
        const auto items = items_of_round(ranks, left);
        ASSERT_EQ(items.size(), ranks.size());
        ASSERT_EQ(std::accumulate(items.begin(), items.end(), std::uint64_t{0}), std::min(all, left));
    }
}

} // namespace
} // namespace headrace::test
