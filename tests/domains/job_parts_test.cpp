// tests/domains/job_parts_test.cpp - the parts of a running job by themselves: its life, the tasks that
// devices have, transferred units, and what tasks write.
#include <domains/two_devices.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace headrace::test {
namespace {

ErrorPtr error(ErrorKind kind) { return std::make_shared<const Error>(kind, "enough"); }

TEST(JobLife, AHeldJobDoesNotEnd) {
    JobLife life;
    EXPECT_TRUE(life.is_waiting());
    EXPECT_FALSE(life.may_end(true, false)) << "it has not started";
    ASSERT_TRUE(life.hold());
    ASSERT_TRUE(life.hold());
    life.start();
    EXPECT_TRUE(life.is_running());
    EXPECT_FALSE(life.may_end(true, false)) << "another caller is about to start it";
    life.release();
    EXPECT_TRUE(life.may_end(true, false));
    EXPECT_FALSE(life.may_end(false, false)) << "units are left";
    life.hold_for(4);
    life.hold_for(4);
    EXPECT_FALSE(life.may_end(true, false)) << "a device will retire";
    life.retired(4);
    EXPECT_TRUE(life.may_end(true, false));
    life.end();
    EXPECT_FALSE(life.may_end(true, false)) << "once is enough";
    EXPECT_FALSE(life.hold());
}

TEST(JobLife, AStoppedJobEndsWithItsLastTask) {
    JobLife life;
    EXPECT_TRUE(life.stop(error(ErrorKind::device)));
    EXPECT_FALSE(life.stop(error(ErrorKind::cancelled)));
    EXPECT_EQ(life.stop_reason()->kind(), ErrorKind::device) << "the first reason counts";
    EXPECT_FALSE(life.may_end(false, true));
    EXPECT_TRUE(life.may_end(false, false)) << "it need not start for that";
    life.start();
    EXPECT_FALSE(life.is_running());
}

TEST(JobLife, AFailureIsUnheardIfNoHandleIsLeftAndNoCallerIsTold) {
    JobLife life, cancelled;
    life.stop(error(ErrorKind::device));
    cancelled.stop(error(ErrorKind::cancelled));
    for (JobLife* const one : {&life, &cancelled}) {
        EXPECT_FALSE(one->fails_unheard(false));
        one->end();
        EXPECT_FALSE(one->fails_unheard(false)) << "a handle may ask";
        one->forget_handles();
    }
    EXPECT_TRUE(life.fails_unheard(false));
    EXPECT_FALSE(life.fails_unheard(true));
    EXPECT_FALSE(cancelled.fails_unheard(false)) << "the caller that cancels knows";
}

TEST(TasksInFlight, ATaskIsKnownByDeviceAndFirstUnit) {
    TasksInFlight tasks;
    const WorkRange whole(IndexRange{0, 100}), cut(IndexRange{0, 60});
    const WorkRange given(IndexRange{0, 5}, UnitBatch(1, 1));
    tasks.add(4, "fast", whole);
    tasks.add(4, "fast", given);
    tasks.add(7, "slow", whole);
    EXPECT_EQ(tasks.all().size(), 3U);
    tasks.shorten(4, whole, 60);
    tasks.launched(4, cut, 60, 2);
    tasks.inputs_came(4, cut);
    tasks.remove(7, whole);
    EXPECT_FALSE(tasks.lives(7, whole));
    tasks.inputs_came(7, whole); // told late
    const auto left = tasks.all();
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0].work_range.range, cut.range);
    EXPECT_EQ(left[0].launches, 1U);
    EXPECT_EQ(left[0].units_left, 60U);
    EXPECT_EQ(left[0].awaited, 0U);
    EXPECT_EQ(left[1].launches, 0U) << "transferred units have numbers of their own";
}

TEST(TransferredUnits, EachBatchHasItsUnitsAndPartsStandForTheWhole) {
    UnitBatch units(1, 1);
    for (std::uint32_t unit = 0; unit < 30; ++unit) units.add(0, &unit, 1);
    const auto batch = [](std::uint64_t begin, std::uint64_t end) {
        return headrace::Work{.range = {begin, end}, .is_transferred = true};
    };
    TransferredUnits transferred;
    const std::vector<headrace::Work> batches = {batch(0, 10), batch(10, 30)};
    transferred.add(batches, std::move(units));
    EXPECT_EQ(transferred.at(batches[0])->size(), 10U);
    EXPECT_EQ(transferred.at(batches[1])->size(), 20U);
    transferred.divide(batches[1], {.rest = batch(30, 45), .kept = batch(45, 50)},
                       transferred.halves(batches[1], 5));
    EXPECT_EQ(transferred.at(batch(30, 45))->size(), 15U);
    EXPECT_EQ(transferred.at(batch(45, 50))->size(), 5U);
    EXPECT_THROW(static_cast<void>(transferred.at(batches[1])), std::out_of_range);
}

TEST(JobOutputs, TwoTasksDoNotWriteOneElement) {
    const Domain<float> x("x", {1000});
    const Job job = Job("j", 100).writes(part(x, [](IndexRange units) {
        return IndexRange{units.begin, units.end + 1}; // one too many
    }));
    JobOutputs outputs(job);
    ASSERT_TRUE(outputs.have_parts());
    EXPECT_FALSE(outputs.enter({0, 10}));
    EXPECT_FALSE(outputs.enter({20, 30}));
    const auto wrong = outputs.enter({10, 20});
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->kind(), ErrorKind::invalid_argument);
    // It may name either of the others.
    EXPECT_NE(wrong->message().find("that overlap: elements ["), std::string::npos) << wrong->message();
    EXPECT_NE(wrong->message().find("and [10, 21)"), std::string::npos) << wrong->message();
    outputs.leave({0, 10});
    outputs.leave({20, 30});
    EXPECT_FALSE(outputs.enter({10, 20})) << "the others will run again, or elsewhere";
}

TEST(JobAccount, EndsOfTasksMakeTheTimesAndOverlapsCountOnce) {
    using namespace std::chrono_literals;
    Two two;
    const JobParticipants participants({{4, &two.fast, {}, nullptr}, {7, &two.slow, {}, nullptr}});
    EXPECT_EQ(participants.participant_of(7), 1U);
    EXPECT_EQ(participants.participant_of(5), std::nullopt);
    JobAccount account(participants);
    account.begin();
    EXPECT_EQ(account.seconds(), 0);
    const auto begin = account.begun();
    EXPECT_EQ(
        account.add(1, 2, {.launches = {{begin, begin + 4ms}, {begin + 2ms, begin + 6ms}}, .engine = {}}),
        6ms);
    EXPECT_EQ(account.add(1, 1, {.launches = {{begin + 5ms, begin + 7ms}}, .engine = {}}), 1ms);
    EXPECT_GT(account.seconds(), 0);
    account.lose(0, lost());
    account.lose(0, error(ErrorKind::internal));
    JobScheduling scheduling{.policy = make_policy("demand")};
    const Job job("j", 100);
    const Schedule schedule = make_schedule(job, scheduling, participants);
    const JobReport report = account.report(job, scheduling, schedule);
    EXPECT_EQ(report.devices.at(1).tasks, 3U);
    EXPECT_DOUBLE_EQ(report.devices.at(1).busy_seconds, 0.007);
    EXPECT_NE(report.devices.at(0).failure.find("fell off the bus"), std::string::npos);
    EXPECT_EQ(report.devices.at(0).tasks, 0U);
}

} // namespace
} // namespace headrace::test
