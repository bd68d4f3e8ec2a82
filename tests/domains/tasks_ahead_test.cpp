// How many short tasks a device holds that it has not begun with.
#include <headrace/internal/domains/tasks_ahead.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace headrace::test {
namespace {

using Seconds = std::chrono::duration<double>;

TEST(TasksAhead, LastForAMillisecondOrForFourWhereNobodyElseWantsThem) {
    EXPECT_EQ(TasksAhead(Seconds(1e-5), false).tasks(), 100u);
    EXPECT_EQ(TasksAhead(Seconds(1e-5), true).tasks(), 400u);
}

TEST(TasksAhead, AreOneAtLeastAndNotWithoutEnd) {
    EXPECT_EQ(TasksAhead().tasks(), 1u);
    for (const double seconds : {1.0, 1e9, std::numeric_limits<double>::infinity()})
        EXPECT_EQ(TasksAhead(Seconds(seconds), true).tasks(), 1u) << seconds;
    for (const double seconds : {1e-9, 1e-300, 0.0})
        EXPECT_EQ(TasksAhead(Seconds(seconds), false).tasks(), TasksAhead::most) << seconds;
}

TEST(TasksAhead, GrowUntilTheHostCouldMakeNoMore) {
    for (const bool alone : {false, true}) {
        TasksAhead ahead;
        unsigned looks = 0;
        for (; ahead.can_grow(); ++looks) {
            const std::uint64_t before = ahead.tasks();
            ahead.grow(alone);
            EXPECT_GT(ahead.tasks(), before);
        }
        EXPECT_EQ(ahead.tasks(), TasksAhead::most);
        EXPECT_EQ(looks, alone ? 4u : 7u);
        ahead.grow(alone);
        EXPECT_EQ(ahead.tasks(), TasksAhead::most);
    }
}

TEST(TasksAhead, AreMadeByHalvesSoThatSomeAreLeftMeanwhile) {
    TasksAhead ahead;
    EXPECT_EQ(ahead.made_at_once(), 1u);
    ahead.grow(false);
    EXPECT_EQ(ahead.made_at_once(), 2u);
    while (ahead.can_grow()) ahead.grow(false);
    EXPECT_EQ(ahead.made_at_once(), 1024u);
}

} // namespace
} // namespace headrace::test
