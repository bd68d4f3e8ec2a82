// How many short tasks a device holds that it has not begun with.
#include <headrace/internal/domains/prefetch_window.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace headrace::test {
namespace {

using Seconds = std::chrono::duration<double>;

TEST(PrefetchWindow, LastForAMillisecondOrForFourWhereNobodyElseWantsThem) {
    EXPECT_EQ(PrefetchWindow(Seconds(1e-5), false).tasks(), 100u);
    EXPECT_EQ(PrefetchWindow(Seconds(1e-5), true).tasks(), 400u);
}

TEST(PrefetchWindow, AreOneAtLeastAndNotWithoutEnd) {
    EXPECT_EQ(PrefetchWindow().tasks(), 1u);
    for (const double seconds : {1.0, 1e9, std::numeric_limits<double>::infinity()})
        EXPECT_EQ(PrefetchWindow(Seconds(seconds), true).tasks(), 1u) << seconds;
    for (const double seconds : {1e-9, 1e-300, 0.0})
        EXPECT_EQ(PrefetchWindow(Seconds(seconds), false).tasks(), PrefetchWindow::most) << seconds;
}

TEST(PrefetchWindow, GrowUntilTheHostCouldMakeNoMore) {
    for (const bool alone : {false, true}) {
        PrefetchWindow ahead;
        unsigned looks = 0;
        for (; ahead.can_grow(); ++looks) {
            const std::uint64_t before = ahead.tasks();
            ahead.grow(alone);
            EXPECT_GT(ahead.tasks(), before);
        }
        EXPECT_EQ(ahead.tasks(), PrefetchWindow::most);
        EXPECT_EQ(looks, alone ? 4u : 7u);
        ahead.grow(alone);
        EXPECT_EQ(ahead.tasks(), PrefetchWindow::most);
    }
}

TEST(PrefetchWindow, AreMadeByHalvesSoThatSomeAreLeftMeanwhile) {
    PrefetchWindow ahead;
    EXPECT_EQ(ahead.made_at_once(), 1u);
    ahead.grow(false);
    EXPECT_EQ(ahead.made_at_once(), 2u);
    while (ahead.can_grow()) ahead.grow(false);
    EXPECT_EQ(ahead.made_at_once(), 1024u);
}

} // namespace
} // namespace headrace::test
