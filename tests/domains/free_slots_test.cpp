// tests/domains/free_slots_test.cpp - which slot an item gets.
#include <headrace/internal/domains/streams/free_slots.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace headrace::test {
namespace {

TEST(FreeSlots, AreTakenInTheOrderInWhichTheyCameFree) {
    FreeSlots slots(3);
    for (const std::size_t expected : {0u, 1u, 2u}) EXPECT_EQ(slots.take(std::nullopt), expected);
    slots.give_back(2);
    slots.give_back(0);
    EXPECT_EQ(slots.take(std::nullopt), 2u);
    EXPECT_EQ(slots.take(std::nullopt), 0u);
}

TEST(FreeSlots, StayWithTheirControllerAsLongAsTheyCan) {
    FreeSlots slots(3);
    EXPECT_EQ(slots.take(7), 0u);
    EXPECT_EQ(slots.take(8), 1u);
    slots.give_back(0);
    slots.give_back(1);
    EXPECT_EQ(slots.take(8), 1u);
    EXPECT_EQ(slots.take(8), 2u) << "nobody has memory for it yet";
    EXPECT_EQ(slots.take(8), 0u) << "there is no other";
    slots.give_back(0);
    slots.give_back(2);
    EXPECT_EQ(slots.take(7), 0u) << "it is 8's now, and so is the other; this one has been free for longer";
}

TEST(FreeSlots, AreWaitedFor) {
    FreeSlots slots(1);
    ASSERT_EQ(slots.take(0), 0u);
    std::jthread other([&] { slots.give_back(0); });
    slots.wait();
    EXPECT_EQ(slots.take(0), 0u);
}

} // namespace
} // namespace headrace::test
