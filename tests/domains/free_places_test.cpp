// tests/domains/free_places_test.cpp - which place an item gets.
#include <headrace/internal/domains/streams/free_places.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace headrace::test {
namespace {

TEST(FreePlaces, AreTakenInTheOrderInWhichTheyCameFree) {
    FreePlaces places(3);
    for (const std::size_t expected : {0u, 1u, 2u}) EXPECT_EQ(places.take(std::nullopt), expected);
    places.give_back(2);
    places.give_back(0);
    EXPECT_EQ(places.take(std::nullopt), 2u);
    EXPECT_EQ(places.take(std::nullopt), 0u);
}

TEST(FreePlaces, StayWithTheirControllerAsLongAsTheyCan) {
    FreePlaces places(3);
    EXPECT_EQ(places.take(7), 0u);
    EXPECT_EQ(places.take(8), 1u);
    places.give_back(0);
    places.give_back(1);
    EXPECT_EQ(places.take(8), 1u);
    EXPECT_EQ(places.take(8), 2u) << "nobody has memory for it yet";
    EXPECT_EQ(places.take(8), 0u) << "there is no other";
    places.give_back(0);
    places.give_back(2);
    EXPECT_EQ(places.take(7), 0u) << "it is 8's now, and so is the other; this one has been free for longer";
}

TEST(FreePlaces, AreWaitedFor) {
    FreePlaces places(1);
    ASSERT_EQ(places.take(0), 0u);
    std::jthread other([&] { places.give_back(0); });
    places.wait();
    EXPECT_EQ(places.take(0), 0u);
}

} // namespace
} // namespace headrace::test
