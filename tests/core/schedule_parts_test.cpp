// tests/core/schedule_parts_test.cpp - the parts of a schedule by themselves.
#include <headrace/internal/core/granted_tasks.hpp>
#include <headrace/internal/core/recipients.hpp>
#include <headrace/internal/core/refusals.hpp>
#include <headrace/internal/core/work.hpp>
#include <headrace/internal/core/working_memory.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

Work units(std::uint64_t begin, std::uint64_t end) { return {.range = {begin, end}}; }
Work transferred(std::uint64_t begin, std::uint64_t end) {
    return {.range = {begin, end}, .is_transferred = true};
}

TEST(OpenWork, WhatWasReturnedIsNext) {
    OpenWork open(100);
    open.cut(60);
    open.put_back(units(10, 20));
    EXPECT_EQ(open.units(), 50u);
    EXPECT_EQ(open.next(), (IndexRange{10, 20}));
    open.cut(20);
    EXPECT_EQ(open.next(), (IndexRange{60, 100}));
    open.cut(100);
    EXPECT_FALSE(open.has_units());
    open.put_back(transferred(0, 5));
    EXPECT_EQ(open.units(), 0u) << "transferred units are no work units";
    EXPECT_EQ(open.take_transferred(), transferred(0, 5));
    EXPECT_FALSE(open.has_transferred());
}

TEST(CompletedWork, AdjoiningTasksAreOneRange) {
    CompletedWork done;
    for (const Work& work : {units(20, 30), units(0, 10), transferred(0, 5), units(40, 50), units(10, 20)})
        done.add(work);
    const std::vector<Work> all = done.take();
    EXPECT_EQ(all, (std::vector<Work>{transferred(0, 5), units(0, 30), units(40, 50)}));
    EXPECT_TRUE(done.is_none());
}

TEST(GrantedTasks, ProgressIsCountedOnceWhateverIsToldTwice) {
    GrantedTasks tasks(2);
    tasks.add(1, units(0, 100), 0, 1.0);
    EXPECT_EQ(tasks.expected_in_flight(1, 0, 5), 100u) << "its speed is not known";
    EXPECT_EQ(tasks.expected_in_flight(1, 10, 5), 60u) << "it should have done 40 in 4 s";
    EXPECT_EQ(tasks.begun(1, units(0, 100), 30), 30u);
    EXPECT_EQ(tasks.begun(1, units(0, 100), 20), 0u) << "told late";
    EXPECT_EQ(tasks.progressed(1, units(0, 100), 50), 20u);
    EXPECT_EQ(tasks.begun_by(1), 50u);
    EXPECT_EQ(tasks.begun_by(0), 0u);
    tasks.shorten(1, units(0, 100), 70);
    EXPECT_EQ(tasks.expected_in_flight(1, 0, 5), 20u);
    const GrantedTasks::Task task = tasks.remove(1, units(0, 100));
    EXPECT_EQ(task.work, units(0, 70));
    EXPECT_EQ(task.learned, 20u);
    EXPECT_TRUE(tasks.are_none());
    EXPECT_EQ(tasks.begun_by(1), 0u);
    EXPECT_EQ(tasks.begun(1, units(0, 100), 60), 0u) << "the task has ended";
}

TEST(GrantedTasks, AMeasurementGoesFromEventToEventOrIsTheDevicesOwnAfterAPause) {
    GrantedTasks tasks(1);
    tasks.add(0, units(0, 10), 0, 1.0);
    EXPECT_EQ(tasks.measure(0, 100ms, 3.0), 100ms) << "before it there were preparations";
    EXPECT_EQ(tasks.measure(0, 100ms, 5.0), 2s);
    static_cast<void>(tasks.remove(0, units(0, 10)));
    tasks.note_end(0);
    EXPECT_EQ(tasks.measure(0, 100ms, 9.0), 100ms);
}

TEST(GrantedTasks, AChargeIsWhatIsExpectedAtMostATenthOfASecondAndThenWhatItTook) {
    GrantedTasks tasks(1);
    tasks.add(0, units(0, 10), 5, 0);
    EXPECT_DOUBLE_EQ(tasks.charged(), 0.1);
    tasks.ran(0, units(0, 10), 2s);
    EXPECT_DOUBLE_EQ(tasks.charged(), 2);
    static_cast<void>(tasks.remove(0, units(0, 10)));
    EXPECT_DOUBLE_EQ(tasks.charged(), 0);
    tasks.charge_at_least(3);
    tasks.charge(1s);
    EXPECT_DOUBLE_EQ(tasks.charged(), 4);
}

TEST(Refusals, TheLastResortIsOneThatIsNotExcluded) {
    Refusals refusals(3);
    const std::vector<bool> workers = {true, true, false}; // the third one cannot work
    refusals.refuse(0, true);
    EXPECT_FALSE(refusals.is_last_resort(0, workers)) << "the other one was not asked";
    EXPECT_TRUE(refusals.takes_wake());
    EXPECT_FALSE(refusals.is_last_resort(0, workers));
    EXPECT_FALSE(refusals.takes_wake()) << "once";
    refusals.refuse(1, false);
    EXPECT_FALSE(refusals.is_last_resort(0, workers)) << "the other one takes work over";
    EXPECT_TRUE(refusals.takes_wake());
    EXPECT_TRUE(refusals.is_last_resort(1, workers));
    refusals.refuse(1, true);
    EXPECT_TRUE(refusals.is_last_resort(0, workers)) << "all are excluded";
    EXPECT_TRUE(refusals.any_excluded());
    refusals.include(1);
    EXPECT_TRUE(refusals.takes_wake());
    refusals.note_grant();
    EXPECT_FALSE(refusals.is_last_resort(0, workers)) << "a grant forgets all refusals";
}

TEST(Recipients, SharesGoByCapabilityAndTheLastGetsTheRest) {
    const Recipients all({{4, 0.5, 1}, {5, 0.25, 1}, {6, 0.25, 400}}, 1);
    EXPECT_DOUBLE_EQ(all.share(), 0.5);
    EXPECT_EQ(all.least(), 402u);
    EXPECT_TRUE(all.that_pay(3).are_none());
    const Recipients some = all.that_pay(1000);
    EXPECT_DOUBLE_EQ(some.share(), 0.375) << "an eighth of 1000 does not pay for the third one";
    const std::vector<std::pair<std::size_t, std::uint64_t>> dealt = {{4, 20}, {5, 10}};
    EXPECT_EQ(some.deal(30), dealt);
}

TEST(WorkingMemory, GoesToTheFastestThatIsLeft) {
    WorkingMemory none(std::nullopt), memory(0);
    EXPECT_FALSE(none.is_one());
    EXPECT_TRUE(none.is(7)) << "each participant works on its own";
    EXPECT_FALSE(none.go_to_best({{1, 5.0}}));
    EXPECT_FALSE(memory.go_to_best({}));
    EXPECT_TRUE(memory.is(0));
    EXPECT_TRUE(memory.go_to_best({{1, 5.0}, {2, 7.0}}));
    EXPECT_TRUE(memory.is(2));
    EXPECT_FALSE(memory.is(0));
}

} // namespace
} // namespace headrace::test
