// tests/domains/held_tasks_test.cpp - the tasks of one launch, without a device.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/held_tasks.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace headrace::test {
namespace {

HeldTask task(std::uint64_t begin, std::uint64_t end, std::uint64_t tasks = 1) {
    return {.work_range = WorkRange(IndexRange{begin, end}, tasks), .task = nullptr};
}

TEST(HeldTasks, ALaunchThatWasNotOpenedEndsWithItsTask) {
    HeldTasks held;
    EXPECT_TRUE(held.are_none());
    const Event done = held.add(task(0, 10)).done.event();
    EXPECT_TRUE(held.promise(done));
    EXPECT_FALSE(held.promise(Promise().event()));
    const auto work_ranges = held.complete(std::nullopt);
    ASSERT_EQ(work_ranges.size(), 1U);
    EXPECT_EQ(work_ranges.front().range, (IndexRange{0, 10}));
    EXPECT_TRUE(done.done());
    EXPECT_TRUE(held.are_none());
}

TEST(HeldTasks, TasksAreBegunInTheOrderInWhichTheyWereInjected) {
    HeldTasks held;
    held.add(task(0, 10));
    held.add(task(10, 40, 3));
    held.add(task(40, 50));
    EXPECT_EQ(held.ahead(), 5U);
    EXPECT_FALSE(held.have_injected());
    EXPECT_TRUE(held.are_begun()) << "none was injected";
    EXPECT_EQ(held.next_begun(100), nullptr);
    ASSERT_EQ(held.next(), &held.all()[0]);
    held.note_injected(10);
    ASSERT_EQ(held.next(), &held.all()[1]);
    held.note_injected(40);
    EXPECT_TRUE(held.have_waiting());
    EXPECT_FALSE(held.are_begun());
    EXPECT_EQ(held.next_begun(9), nullptr);
    EXPECT_EQ(held.next_begun(39), &held.all()[0]);
    EXPECT_EQ(held.next_begun(39), nullptr);
    EXPECT_EQ(held.ahead(), 4U);
    EXPECT_EQ(held.next_begun(40), &held.all()[1]);
    EXPECT_TRUE(held.are_begun());
    EXPECT_EQ(held.ahead(), 1U);
}

TEST(HeldTasks, WhatWaitedForItsInputsIsTheNextLaunchs) {
    HeldTasks held;
    const Event first = held.add(task(0, 10)).done.event(), second = held.add(task(10, 20)).done.event();
    held.note_injected(10);
    EXPECT_EQ(held.complete(std::nullopt).size(), 1U);
    EXPECT_TRUE(first.done());
    EXPECT_FALSE(second.done());
    EXPECT_FALSE(held.have_injected());
    EXPECT_EQ(held.first().work_range.range, (IndexRange{10, 20}));
    ASSERT_EQ(held.next(), &held.first());
    held.fail(std::make_shared<const Error>(ErrorKind::device, "fell off the bus"));
    EXPECT_EQ(second.outcome()->kind(), ErrorKind::device);
    EXPECT_EQ(held.work_ranges().size(), 1U);
    held.clear();
    EXPECT_TRUE(held.are_none());
}

} // namespace
} // namespace headrace::test
