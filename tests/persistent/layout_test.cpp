// How much room the engine gives a kernel's queues, and what kinds are at compile time.
#include "trees.kernels.hpp"

#include <headrace/persistent/detail/liq.hpp>
#include <headrace/persistent/launcher.hpp>

#include <gtest/gtest.h>

#include <bit>

namespace headrace::test {
namespace {

EngineShape shape(std::uint32_t lanes, std::uint32_t kinds, std::uint32_t unit_words,
                  std::uint32_t max_spawns) {
    return {.lanes = lanes, .kinds = kinds, .unit_words = unit_words, .max_spawns = max_spawns};
}

TEST(LiqRoom, IsNoneWhereOnlyContinuationsAreSpawned) {
    EXPECT_EQ(choose_liq_units(shape(32, 1, 4, 1), 0, 4096), 0u);
    EXPECT_EQ(choose_liq_units(shape(32, 1, 4, 0), 64, 4096), 0u);
    EXPECT_EQ(choose_liq_units(shape(32, 0, 0, 0), 0, 4096), 0u);
    EXPECT_NE(choose_liq_units(shape(32, 2, 4, 1), 0, 4096), 0u); // it may be of the other kind
}

TEST(LiqRoom, IsAPowerOfTwoAndLetsOneLaneRunWhateverTheUnit) {
    for (const std::uint32_t lanes : {1u, 3u, 32u, 64u})
        for (const std::uint32_t kinds : {1u, 3u, 8u})
            for (const std::uint32_t words : {1u, 15u, 1000u})
                for (const std::uint32_t spawns : {2u, 5u, 33u})
                    for (const std::uint32_t wish : {0u, 1u, 7u, 100u})
                        for (const Bytes local : {Bytes{64}, Bytes{12} << 10, Bytes{64} << 10}) {
                            const EngineShape s = shape(lanes, kinds, words, spawns);
                            const std::uint32_t units = choose_liq_units(s, wish, local);
                            EXPECT_TRUE(std::has_single_bit(units));
                            EXPECT_GE(units, s.beyond_continuation());
                            EXPECT_GE(units, wish);
                        }
}

TEST(LiqRoom, HoldsWhatAWholeGroupSpawnsWhereThereIsMemory) {
    EXPECT_GE(choose_liq_units(shape(32, 1, 15, 5), 0, Bytes{12} << 10), 32u * 4);
    EXPECT_LE(choose_liq_units(shape(32, 1, 15, 5), 0, Bytes{12} << 10) * 60, Bytes{12} << 10);
}

TEST(Kinds, AreKnownByTheirUnitsTypes) {
    using Traits = KindTraits<Plant::Units>;
    EXPECT_EQ(Traits::count, 3u);
    EXPECT_EQ(Traits::unit_words, sizeof(Bud) / 4);
    EXPECT_EQ(Traits::max_spawns, 3u);
    EXPECT_EQ(Traits::staged, 3u);                           // all may be of other kinds
    EXPECT_EQ(KindTraits<IrregularTree::Units>::staged, 3u); // one of the four stays in the lane
    EXPECT_EQ(Traits::index_of<Bud>(), 1u);
    EXPECT_EQ(Traits::index_of<int>(), 3u);
    std::uint32_t visited = 99;
    Traits::dispatch(2, [&](auto number, auto*) { visited = number; });
    EXPECT_EQ(visited, 2u);
}

struct Eager : BinaryTree {
    static constexpr unsigned refill_percent = 100;
};
struct Patient : BinaryTree {
    static constexpr unsigned refill_percent = 0;
};

TEST(Kinds, AKernelMaySayWhenAGroupRefills) {
    EXPECT_EQ(enough_lanes_for<BinaryTree>(32), 24u);
    EXPECT_EQ(enough_lanes_for<BinaryTree>(1), 1u);
    EXPECT_EQ(enough_lanes_for<Eager>(64), 64u);
    EXPECT_EQ(enough_lanes_for<Patient>(64), 1u);    // never below one: an empty group must look
    EXPECT_EQ(enough_lanes_for<Eager>(64, 50), 32u); // whoever runs it knows better
}

TEST(UnitWords, CarryAUnitUnchangedThroughLongerWords) {
    const Leaf leaf{0x12345678, 0x9abcdef0};
    const auto words = to_words<7>(leaf);
    EXPECT_EQ(words.word[6], 0u);
    const Leaf back = from_words<Leaf>(words);
    EXPECT_EQ(back.low, leaf.low);
    EXPECT_EQ(back.high, leaf.high);
}

TEST(Liq, TakesTheNewestAndGivesAwayTheOldestAcrossItsWrap) {
    constexpr std::uint32_t capacity = 4;
    alignas(8) std::uint32_t memory[2 * 2 * capacity];
    Liq<2, 2> liq(memory, capacity);
    std::uint32_t next = 0, oldest = 0;
    for (int lap = 0; lap < 100; ++lap) {
        while (liq.room(1) > 0) {
            liq.write(1, liq.top(1), {{next, ~next}});
            liq.add(1, 1);
            ++next;
        }
        EXPECT_EQ(liq.size(1), capacity);
        EXPECT_EQ(liq.fullest<0b11>(), 1u);
        EXPECT_EQ(liq.fullest<0b01>(), 0u);
        const auto newest = liq.read(1, liq.top(1) - 1);
        EXPECT_EQ(newest.word[0], next - 1);
        const auto given = liq.read(1, liq.bottom(1));
        EXPECT_EQ(given.word[0], oldest);
        EXPECT_EQ(given.word[1], ~oldest);
        liq.drop_oldest(1, 3);
        oldest += 3;
    }
    EXPECT_EQ(liq.size(0), 0u);
    EXPECT_FALSE(liq.empty());
    liq.drop_newest(1, 1);
    EXPECT_TRUE(liq.empty());
}

} // namespace
} // namespace headrace::test
