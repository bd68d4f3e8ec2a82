// tests/domains/transfer_accounts_test.cpp - how much of a job one device transfers to another, with made-up
// devices.
#include <core/eventually.hpp>
#include <domains/two_devices.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

TEST(GivingBooks, JobsWhoseTasksHavePartsToThemselvesAreRefusedInWords) {
    const Domain<float> x("x", {100});
    const auto expect_refused = [](const auto& make) {
        try {
            make();
            FAIL() << "it was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            EXPECT_NE(error.message().find("'x'"), std::string::npos);
            EXPECT_NE(error.message().find("share_units()"), std::string::npos);
        }
    };
    expect_refused([&] { Job("j", 100).writes(rows(x)).share_units(); });
    expect_refused([&] { Job("j", 100).share_units().writes(rows(x)); });
    expect_refused([&] { Job("j", 100).share_units().updates(x); });
    expect_refused([&] { Job("j", 100).share_units().reads(rows(x)); });
    EXPECT_TRUE(Job("j", 100).reads(x).share_units().shares_units());
    EXPECT_FALSE(Job("j", 100).reads(x).shares_units());
}

UnitBatch batch(std::uint32_t units) {
    UnitBatch batch(1, 1);
    for (std::uint32_t unit = 0; unit < units; ++unit) batch.add(0, &unit, 1);
    return batch;
}

/// All of the job in one task, which may be cut in its second half.
std::uint64_t everything(IndexRange left, std::uint64_t wanted) {
    return wanted < left.size() / 2 ? left.size() : wanted;
}

TEST(GivingBooks, SharesAreByCapabilityAndForThoseWhoWait) {
    Two two;
    const auto job = two.run(Job("j", 100).split_by(everything).share_units());
    const IndexRange all = *job->next(4);
    EXPECT_EQ(job->next(7), std::nullopt);
    EXPECT_EQ(job->transfers().demand(4, 32, 1000).share, 0); // no device said so
    job->transfers().idle(7, true);
    EXPECT_NEAR(job->transfers().demand(4, 32, 1000).share, 300.0 / 1300, 1e-12);
    job->transfers().idle(7, false);
    EXPECT_EQ(job->transfers().demand(4, 32, 1000).share, 0);
    job->transfers().idle(7, true);
    job->transfers().transfer(4, batch(30));
    EXPECT_EQ(job->transfers().demand(4, 32, 1000).share, 0); // it has something now
    const auto given = job->transfers().next_transferred(7);
    ASSERT_TRUE(given);
    EXPECT_EQ(given->units->size(), 30u);
    EXPECT_FALSE(job->transfers().next_transferred(7));
    job->finished(4, {all}, {});
    EXPECT_FALSE(job->event().done());
    job->finished(7, {*given}, {});
    EXPECT_TRUE(job->event().done());
    EXPECT_EQ(job->finished_units(), 100u);
    EXPECT_EQ(job->report().devices[0].units_transferred, 30u);
    EXPECT_EQ(job->report().devices[1].units_received, 30u);
    EXPECT_EQ(job->report().devices[1].work_units, 0u);
}

/// What it did is no work unit of the job, but would have taken the other one time.
TEST(GivingBooks, AReserveThatWasGivenUnitsHasHelped) {
    using namespace std::chrono_literals;
    Two two;
    JobExecution job(Job("j", 100).split_by(everything).share_units(),
                     {.policy = make_policy("adaptive"), .expected_seconds = 1e-4},
                     {{4, &two.fast, {.peak = 1, .units_per_second = 1e6}, nullptr},
                      {7, &two.slow, {.peak = 1, .units_per_second = 9e5}, nullptr, "it is in the way"}},
                     {});
    job.start();
    const auto all = job.next(4);
    ASSERT_TRUE(all && all->size() == 100);
    ASSERT_TRUE(eventually([&] { return !job.forecast().asks_again(7); }));
    job.transfers().idle(7, true);
    job.transfers().transfer(4, batch(30));
    const auto given = job.transfers().next_transferred(7);
    ASSERT_TRUE(given);
    TaskMetrics tenth; // of a second
    const auto begin = std::chrono::steady_clock::now();
    tenth.launches = {{begin, begin + 100ms}};
    job.finished(4, {*all}, tenth);
    job.finished(7, {*given}, tenth);
    // The job is a thousand times slower than estimated, on both: 900 units a second on the reserve.
    EXPECT_NEAR(job.outcome().seconds_of_coexecution_set / job.outcome().seconds, (100 + 0.1 * 900) / 100,
                1e-9);
}

TEST(GivingBooks, NobodyGivesWhileThereIsWorkThatNobodyHas) {
    Two two;
    const auto job = two.run(Job("j", 1000).share_units());
    const IndexRange task = *job->next(4);
    job->transfers().idle(7, true); // the policy does not want it
    EXPECT_EQ(job->transfers().demand(4, 32, 1000).share, 0);
    EXPECT_EQ(job->transfers().give_back(4, task, 50, 32), task.end);
}

TEST(GivingBooks, NobodyGivesWhatIsTooLittleForALaneGroup) {
    Two two;
    two.slow.kind = DeviceKind::gpu;
    two.slow.lane_group = 64;
    const auto job = two.run(Job("j", 200).split_by(everything).share_units());
    const IndexRange all = *job->next(4);
    job->transfers().idle(7, true);
    EXPECT_EQ(job->transfers().demand(4, 256, 1000).least, 64u);
    EXPECT_EQ(job->transfers().demand(4, 256, 100).share, 0);    // 3 / 13 of 100
    EXPECT_EQ(job->transfers().demand(4, 1, 1000).least, 1u);    // the donor's are units for a whole group
    EXPECT_EQ(job->transfers().give_back(4, all, 50, 32), 200u); // 3 / 13 of 150
    EXPECT_EQ(job->transfers().give_back(4, all, 50, 1), 200u - 34);
}

TEST(GivingBooks, AGiverKeepsSomethingWhereverTheJobWouldCut) {
    Two two;
    const auto job = two.run(Job("j", 1300).split_by([](IndexRange left, std::uint64_t wanted) {
        return wanted < left.size() / 2 ? left.size() : wanted / 500 * 500;
    }));
    const IndexRange all = *job->next(4);
    job->transfers().idle(7, true);
    EXPECT_EQ(job->transfers().give_back(4, all, 1000, 32), all.end); // at 1231 it would be cut at 1000
}

TEST(GivingBooks, WhatIsTooMuchForADeviceIsForWhoeverAsks) {
    Two two;
    const auto job = two.run(Job("j", 100).split_by(everything).share_units());
    const IndexRange all = *job->next(4);
    job->transfers().idle(7, true);
    job->transfers().transfer(4, batch(30));
    const WorkRange kept = job->transfers().keep(7, *job->transfers().next_transferred(7), 10);
    EXPECT_EQ(kept.units->size(), 10u);
    const auto rest = job->transfers().next_transferred(4);
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->units->size(), 20u);
    job->finished(4, {all, *rest}, {});
    EXPECT_FALSE(job->event().done());
    job->finished(7, {kept}, {});
    EXPECT_TRUE(job->event().done());
}

TEST(GivingBooks, APauseIsAskedForIfSomebodyWaitsAndItPays) {
    Two two;
    for (DeviceInfo* one : {&two.fast, &two.slow}) one->kind = DeviceKind::gpu, one->lane_group = 32;
    const auto job = two.run(Job("j", 10'000).split_by(everything), true);
    EXPECT_FALSE(job->transfers().idle(7, true)) << "no device has anything yet";
    job->transfers().idle(7, false);
    const IndexRange all = *job->next(4);
    EXPECT_FALSE(job->transfers().would_take(4, 10'000, 32)) << "no device waits";
    EXPECT_TRUE(job->transfers().idle(7, true)) << "others should know";
    EXPECT_FALSE(job->transfers().idle(7, true)) << "they do";
    EXPECT_TRUE(job->transfers().would_take(4, 10'000, 32));
    EXPECT_FALSE(job->transfers().would_take(4, 100, 32)) << "its share would not fill a lane group";
    EXPECT_FALSE(job->transfers().would_take(7, 10'000, 32)) << "no other device waits";
    job->paused(4, all, 3'000, 3ms); // a unit in a microsecond
    EXPECT_FALSE(job->transfers().would_take(4, 1'000, 32))
        << "to give takes longer than 3/13 of a millisecond";
    EXPECT_TRUE(job->transfers().would_take(4, 2'000, 32));
}

TEST(GivingBooks, ADeviceThatIsBusyAgainLeavesWhatWasTransferred) {
    Two two;
    const auto job = two.run(Job("j", 130).split_by(everything));
    const IndexRange all = *job->next(4);
    EXPECT_TRUE(job->transfers().idle(7, true));
    ASSERT_EQ(job->transfers().give_back(4, all, 0, 32), 100u);
    EXPECT_TRUE(job->transfers().idle(7, false));
    EXPECT_FALSE(job->transfers().next_transferred(7));
    EXPECT_EQ(job->next(4), (IndexRange{100, 130}));
}

TEST(GivingBooks, JobsThatUpdateDataKeepTheirSeeds) {
    Two two;
    Domain<int> x("x", {130});
    const auto job = two.run(Job("j", 130).updates(x).split_by(everything));
    const IndexRange all = *job->next(4);
    job->transfers().idle(7, true);
    EXPECT_EQ(job->transfers().give_back(4, all, 0, 32), all.end);
}

TEST(GivingBooks, SeedsComeBackWhereTheJobMayBeCut) {
    Two two;
    const auto job = two.run(Job("j", 1300).grain(100).split_by(everything));
    const IndexRange all = *job->next(4);
    ASSERT_EQ(all, (IndexRange{0, 1300}));
    job->transfers().idle(7, true);
    EXPECT_EQ(job->transfers().give_back(4, all, 10, 32), 1100u); // 3 / 13, kept are whole grains
    EXPECT_EQ(job->status().tasks.at(0).work_range.range, (IndexRange{0, 1100}));
    job->finished(4, {IndexRange{0, 1100}}, {});
    EXPECT_FALSE(job->event().done());
    EXPECT_EQ(job->next(7), std::nullopt);
    EXPECT_EQ(job->transfers().next_transferred(7).value().range, (IndexRange{1100, 1300}));
    job->finished(7, {IndexRange{1100, 1300}}, {});
    EXPECT_TRUE(job->event().done());
    EXPECT_EQ(job->report().devices[0].seeds_transferred, 200u);
    EXPECT_EQ(job->finished_units(), 1300u);
}

TEST(GivingBooks, AJobThatIsNotToBeCutIsNot) {
    Two two;
    const auto job =
        two.run(Job("j", 1300).split_by([](IndexRange left, std::uint64_t) { return left.size(); }));
    const IndexRange all = *job->next(4);
    job->transfers().idle(7, true);
    EXPECT_EQ(job->transfers().give_back(4, all, 10, 32), all.end);
    EXPECT_FALSE(job->transfers().next_transferred(7));
}

TEST(GivingBooks, WhatALostDeviceWasGivenIsForWhoeverAsks) {
    Two two;
    const auto job = two.run(Job("j", 130).split_by(everything).share_units());
    const IndexRange all = *job->next(4);
    std::vector<WorkRange> had; // done, under way, not taken
    for (const std::uint32_t units : {10, 20, 30}) {
        job->transfers().idle(7, true);
        job->transfers().transfer(4, batch(units));
        if (units < 30) had.push_back(*job->transfers().next_transferred(7));
    }
    EXPECT_EQ(had[1].text(), "transferred units [10, 30)");
    job->finished(7, {had[0]}, {});
    job->retire(7, lost(), {had[1]});
    std::uint64_t units = 0;
    while (const auto given = job->transfers().next_transferred(4)) {
        units += given->units->size();
        job->finished(4, {*given}, {});
    }
    EXPECT_EQ(units, 60u);
    EXPECT_FALSE(job->event().done());
    job->finished(4, {all}, {});
    ASSERT_TRUE(job->event().done());
    EXPECT_NO_THROW(job->event().wait());
    EXPECT_EQ(job->report().devices[0].units_received, 60u); // its own again
    EXPECT_EQ(job->report().devices[1].units_received, 0u);
}

TEST(GivingBooks, SeedsForADeviceThatIsLostAreARangeLikeOthers) {
    Two two;
    const auto job = two.run(Job("j", 130).split_by(everything));
    const IndexRange all = *job->next(4);
    job->transfers().idle(7, true);
    ASSERT_EQ(job->transfers().give_back(4, all, 0, 32), 100u);
    job->retire(7, lost(), {});
    EXPECT_FALSE(job->transfers().next_transferred(4));
    EXPECT_EQ(job->next(4), (IndexRange{100, 130}));
}

TEST(GivingBooks, UnitsThatNobodyWantsAnyMoreAreForWhoeverAsks) {
    Two two;
    const auto job = two.run(Job("j", 1).share_units());
    ASSERT_TRUE(job->next(4));
    job->transfers().idle(7, true);
    ASSERT_GT(job->transfers().demand(4, 32, 1000).share, 0);
    job->retire(7, lost(), {});
    job->transfers().transfer(4, batch(10));
    EXPECT_EQ(job->transfers().next_transferred(4).value().units->size(), 10u);
}

TEST(GivingBooks, ADeviceThatIsLostAfterItGaveFailsTheJob) {
    Two two;
    const auto job = two.run(Job("j", 1).share_units());
    const IndexRange seed = *job->next(4);
    job->transfers().idle(7, true);
    job->transfers().transfer(4, batch(10));
    job->retire(4, lost(), {seed});
    ASSERT_TRUE(job->event().done());
    EXPECT_EQ(job->event().outcome()->device(), "fast");
    EXPECT_NE(job->event().outcome()->message().find("had transferred 10 work units"), std::string::npos);
}

TEST(GivingBooks, WhatFindsNoRoomMayBeTakenLater) {
    Two two;
    const auto job = two.run(Job("j", 1).share_units());
    ASSERT_TRUE(job->next(4));
    job->transfers().idle(7, true);
    job->transfers().transfer(4, batch(100));
    const WorkRange all = *job->transfers().next_transferred(7);
    const WorkRange kept = job->transfers().keep(7, all, 30);
    EXPECT_EQ(kept.units->size(), 30u);
    const WorkRange others = *job->transfers().next_transferred(7);
    EXPECT_EQ(others.units->size(), 70u);
    job->finished(7, {kept}, {});
    job->finished(7, {others}, {});
    EXPECT_EQ(job->report().devices[1].units_received, 100u);
    job->finished(4, {IndexRange{0, 1}}, {});
    EXPECT_TRUE(job->event().done());
}

TEST(GivingBooks, AStoppedJobDoesNotWaitForTransfers) {
    Two two;
    const auto job = two.run(Job("j", 1).share_units());
    const IndexRange doing = *job->next(4);
    job->transfers().idle(7, true);
    job->transfers().transfer(4, batch(100));
    job->stop(std::make_shared<const Error>(ErrorKind::cancelled, "enough"));
    EXPECT_FALSE(job->transfers().next_transferred(7));
    job->abandoned(4, doing, nullptr);
    ASSERT_TRUE(job->event().done());
    EXPECT_EQ(job->event().outcome()->kind(), ErrorKind::cancelled);
}

} // namespace
} // namespace headrace::test
