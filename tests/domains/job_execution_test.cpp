// tests/domains/job_execution_test.cpp - ranges given out, taken back and repeated, with made-up devices.
#include <core/eventually.hpp>
#include <core/quiet_machine.hpp>
#include <core/seeds.hpp>
#include <domains/two_devices.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <utility>

namespace headrace::test {
namespace {

/// Counts how often others are to be asked again.
std::shared_ptr<const JobExecution::Observer> counts(int& asked) {
    return std::make_shared<const JobExecution::Observer>([&asked] { ++asked; });
}

TEST(JobExecution, TasksAreSizedByCapability) {
    Two two;
    const auto job = two.run(Job("j", 1000));
    EXPECT_EQ(job->next(4), (IndexRange{0, 100}));
    EXPECT_EQ(job->next(7), (IndexRange{100, 130}));
    EXPECT_EQ(job->next(5), std::nullopt); // takes no part
}

/// What the last owner destroys waits for requests, and calls drivers.
TEST(JobExecution, IsDestroyedInAnotherThreadThanTheContinuationThatOwnsIt) {
    std::atomic<bool> is_gone = false;
    std::thread::id destroyed_by;
    const auto leave = [&](const void*) {
        destroyed_by = std::this_thread::get_id();
        is_gone = true;
    };
    static Two two; // what is left of the job goes after that
    auto job = two.run(Job("j", 1).host_function(
        "fake", [kept = std::shared_ptr<const void>(&two, leave)](Task&, const NativeStream&) {}));
    job->stop(lost());
    Promise input;
    const Event came = input.event();
    came.then([owner = std::move(job)](const ErrorPtr&) {});
    input.complete();
    ASSERT_TRUE(eventually([&] { return is_gone.load(); }));
    EXPECT_NE(destroyed_by, std::this_thread::get_id());
}

TEST(JobExecution, EveryUnitIsGivenOutOnceWhateverTheOrder) {
    Two two;
    std::mt19937 random(fresh_seed());
    for (int round = 0; round < 50; ++round) {
        const std::uint64_t units = 1 + random() % 5000, grain = 1 + random() % 7;
        const auto job = two.run(Job("j", units).grain(grain));
        std::map<std::uint64_t, std::uint64_t> given;
        std::vector<std::pair<std::size_t, IndexRange>> in_flight;
        while (!job->event().done()) {
            const std::size_t device = random() % 2 ? 4 : 7;
            if (const auto range = job->next(device)) {
                EXPECT_EQ(range->begin % grain, 0U);
                EXPECT_TRUE(given.emplace(range->begin, range->end).second);
                in_flight.emplace_back(device, *range);
            }
            if (!in_flight.empty() && random() % 2) {
                std::swap(in_flight[random() % in_flight.size()], in_flight.back());
                job->finished(in_flight.back().first, {in_flight.back().second}, {});
                in_flight.pop_back();
            }
        }
        EXPECT_TRUE(in_flight.empty());
        std::uint64_t next = 0;
        for (const auto& [begin, end] : given) {
            EXPECT_EQ(begin, next);
            next = end;
        }
        EXPECT_EQ(next, units);
        EXPECT_EQ(job->finished_units(), units);
    }
}

TEST(JobExecution, WhereNobodyWorksWhoWasNotRefusedIsAskedAgain) {
    struct Refusal final : Policy {
        std::uint64_t next(std::size_t, const Progress&) override { return 0; }
    };
    Two two;
    int asked = 0;
    JobExecution job(Job("j", 10), {.policy = std::make_unique<Refusal>(), .observer = counts(asked)},
                     {{4, &two.fast, {}, nullptr}, {7, &two.slow, {}, nullptr}}, {});
    job.start();
    EXPECT_EQ(job.next(4), std::nullopt);
    EXPECT_EQ(asked, 1);
    const auto first = job.next(7);
    ASSERT_TRUE(first) << "everybody is refused and nobody works";
    EXPECT_EQ(job.next(4), std::nullopt) << "somebody works";
    job.finished(7, {*first}, {});
    EXPECT_TRUE(job.next(7)) << "the other one was refused meanwhile";
    EXPECT_EQ(asked, 1);
}

TEST(JobExecution, ADeviceDoesNotWaitForAnotherThatDoesNotCome) {
    Two two;
    int asked = 0;
    JobExecution job(Job("j", 1), {.policy = make_policy("adaptive"), .observer = counts(asked)},
                     {{4, &two.fast, {.peak = 1, .units_per_second = 1e3}, nullptr},
                      {7, &two.slow, {.peak = 1, .units_per_second = 50}, nullptr}},
                     {});
    job.start();
    EXPECT_EQ(job.forecast().asks_again(7), std::nullopt) << "it was not refused";
    EXPECT_EQ(job.next(7), std::nullopt) << "the other one would end the unit in 1 ms";
    EXPECT_EQ(job.forecast().asks_again(4), std::nullopt);
    ASSERT_TRUE(job.forecast().asks_again(7)) << "no event will call it";
    EXPECT_LT(*job.forecast().asks_again(7) - std::chrono::steady_clock::now(), std::chrono::seconds(1));
    std::optional<IndexRange> unit;
    ASSERT_TRUE(eventually([&] { return (unit = job.next(7)).has_value(); }));
    job.finished(7, {*unit}, {});
    EXPECT_TRUE(job.event().done());
    EXPECT_EQ(job.forecast().asks_again(7), std::nullopt);
}

/// Two devices of which one certainly does a hundredth of what the other does.
struct FarApart {
    Two two;
    int asked = 0;
    JobExecution job{Job("j", 1'000'000),
                     {.policy = make_policy("adaptive"), .observer = counts(asked)},
                     {{4, &two.fast, {.peak = 1, .units_per_second = 1e6, .certain = true}, nullptr},
                      {7, &two.slow, {.peak = 1, .units_per_second = 1e4, .certain = true}, nullptr}},
                     {}};
};

TEST(JobExecution, WhoIsLeftOutWakesTheOthersOnceAndLeavesTheJobToThem) {
    FarApart far;
    far.job.start();
    // The fast one is at work elsewhere, and whoever wakes all is woken, too.
    for (int i = 0; i < 3; ++i) EXPECT_EQ(far.job.next(7), std::nullopt);
    EXPECT_EQ(far.asked, 1);
    std::uint64_t done = 0;
    while (const auto range = far.job.next(4)) {
        done += range->size();
        EXPECT_EQ(far.job.next(7), std::nullopt);
        far.job.finished(4, {*range}, {});
    }
    EXPECT_EQ(done, 1'000'000u);
    EXPECT_TRUE(far.job.event().done());
}

TEST(JobExecution, WhoIsLeftOutGetsAllIfTheOtherIsLost) {
    FarApart far;
    far.job.start();
    EXPECT_EQ(far.job.next(7), std::nullopt);
    far.job.retire(4, lost(), {});
    EXPECT_TRUE(far.job.next(7));
}

TEST(JobExecution, WhoIsLeftOutIsAskedWhenTheOtherProvesSlow) {
    FarApart far;
    far.job.start();
    EXPECT_EQ(far.job.next(7), std::nullopt);
    const int before = far.asked;
    const auto first = far.job.next(4);
    ASSERT_TRUE(first);
    const auto begin = std::chrono::steady_clock::now();
    TaskMetrics metrics;
    metrics.launches = {{begin, begin + std::chrono::seconds(10)}}; // a twentieth of what was expected
    far.job.finished(4, {*first}, metrics);
    EXPECT_GT(far.asked, before);
    EXPECT_TRUE(far.job.next(7));
}

/// Whose turn it is goes by it.
TEST(JobExecution, ATaskIsChargedLittleBeforehandAndWhatItTookAtItsPauses) {
    using namespace std::chrono_literals;
    FarApart far;
    far.job.start();
    auto now = std::chrono::steady_clock::now();
    const auto ended_after = [&](const WorkRange& work_range, std::chrono::milliseconds time) {
        TaskMetrics metrics;
        metrics.launches = {{now, now + time}};
        now += time;
        far.job.finished(4, {work_range}, metrics);
    };
    const auto first = far.job.next(4);
    ASSERT_TRUE(first);
    EXPECT_EQ(far.job.forecast().charged_seconds(), 0) << "nobody knows";
    ended_after({*first}, 1s);
    EXPECT_DOUBLE_EQ(far.job.forecast().charged_seconds(), 1);

    const auto second = far.job.next(4);
    ASSERT_TRUE(second);
    ASSERT_GT(second->size(), first->size() / 5) << "more than 0.2 s are expected of it";
    EXPECT_DOUBLE_EQ(far.job.forecast().charged_seconds(), 1.1);
    for (const auto& [took, charged] :
         {std::pair{50ms, 1.1}, std::pair{700ms, 1.7}, std::pair{2000ms, 3.0}}) {
        far.job.ran(4, {*second}, took);
        EXPECT_DOUBLE_EQ(far.job.forecast().charged_seconds(), charged);
    }
    ended_after({*second}, 2500ms);
    EXPECT_DOUBLE_EQ(far.job.forecast().charged_seconds(), 3.5);
}

/// Two devices, of which one had better stay out of it.
struct WithReserve {
    explicit WithReserve(double expected_seconds) : expected(expected_seconds) { job.start(); }
    double expected;
    Two two;
    int asked = 0;
    JobExecution job{
        Job("j", 1'000'000),
        {.policy = make_policy("adaptive"), .expected_seconds = expected, .observer = counts(asked)},
        {{4, &two.fast, {.peak = 1, .units_per_second = 1e6}, nullptr},
         {7, &two.slow, {.peak = 1, .units_per_second = 9e5}, nullptr, "it is in the way"}},
        {}};
};

TEST(JobExecution, AReserveStaysOutAndTheReportSaysWhy) {
    WithReserve with(3600);
    EXPECT_EQ(with.job.outcome().set, std::vector<const DeviceInfo*>{&with.two.fast});
    EXPECT_FALSE(with.job.forecast().others_may_take_over(4));
    std::uint64_t tasks = 0;
    for (; const auto range = with.job.next(4); ++tasks) {
        EXPECT_EQ(with.job.next(7), std::nullopt);
        with.job.finished(4, {*range}, {});
    }
    EXPECT_TRUE(with.job.event().done());
    JobExecution alone(Job("j", 1'000'000), {.policy = make_policy("adaptive")},
                       {{4, &with.two.fast, {.peak = 1, .units_per_second = 1e6}, nullptr}}, {});
    alone.start();
    std::uint64_t tasks_alone = 0;
    for (; const auto range = alone.next(4); ++tasks_alone) alone.finished(4, {*range}, {});
    EXPECT_EQ(tasks, tasks_alone);
    const JobReport report = with.job.report();
    EXPECT_EQ(report.devices[1].reserve, "it is in the way");
    EXPECT_NE(report.table().find("on standby: it is in the way"), std::string::npos) << report.table();
    EXPECT_NE(report.json().find("it is in the way"), std::string::npos);
    EXPECT_TRUE(report.devices[0].reserve.empty());
}

/// In the end, with what is left.
TEST(JobExecution, WhereTheReserveHasHelpedTheOthersWouldHaveTakenLonger) {
    using namespace std::chrono_literals;
    WithReserve with(0.005);
    const auto first = with.job.next(4);
    ASSERT_TRUE(first && first->size() < 1'000'000);
    ASSERT_TRUE(eventually([&] { return !with.job.forecast().asks_again(7); }));
    with.job.finished(4, {*first}, {});
    while (const auto range = with.job.next(7)) with.job.finished(7, {*range}, {});
    ASSERT_TRUE(with.job.event().done());
    EXPECT_DOUBLE_EQ(with.job.outcome().seconds_of_coexecution_set,
                     with.job.outcome().seconds * 1e6 / static_cast<double>(first->size()));
}

TEST(JobExecution, WhoEndedNothingWouldHaveTakenForEver) {
    WithReserve with(0.0005);
    ASSERT_TRUE(eventually([&] { return !with.job.forecast().asks_again(7); }));
    while (const auto range = with.job.next(7)) with.job.finished(7, {*range}, {});
    ASSERT_TRUE(with.job.event().done());
    EXPECT_FALSE(std::isfinite(with.job.outcome().seconds_of_coexecution_set));
}

TEST(JobExecution, AReserveStepsInForALostDevice) {
    WithReserve with(3600);
    EXPECT_EQ(with.job.next(7), std::nullopt);
    with.job.retire(4, lost(), {});
    EXPECT_TRUE(with.job.outcome().has_losses);
    EXPECT_TRUE(with.job.next(7));
}

TEST(JobExecution, AReserveStepsInIfTheJobTakesTwiceAsLong) {
    on_a_quiet_machine([] {
        using namespace std::chrono_literals;
        WithReserve with(0.05);
        const auto begin = std::chrono::steady_clock::now();
        const auto first = with.job.next(4);
        const auto steps_in = with.job.forecast().asks_again(7);
        ASSERT_TRUE(first && steps_in) << "in less than 0.1 s";
        EXPECT_EQ(with.job.forecast().standby_steps_in(), steps_in);
        EXPECT_EQ(with.job.forecast().asks_again(4), std::nullopt);
        EXPECT_NEAR(std::chrono::duration<double>(*steps_in - begin).count(), 0.1, 0.09);
        EXPECT_EQ(with.job.next(7), std::nullopt);
        EXPECT_FALSE(with.job.forecast().wants(7));
        EXPECT_TRUE(with.job.forecast().wants(4));
        ASSERT_TRUE(eventually([&] { return !with.job.forecast().asks_again(7); }));
        EXPECT_GE(std::chrono::steady_clock::now(), *steps_in);
        EXPECT_TRUE(with.job.forecast().wants(7));
        EXPECT_TRUE(with.job.forecast().others_may_take_over(4));
        const int before = with.asked;
        with.job.paused(4, *first, 0, 100ms); // nothing was done
        EXPECT_GT(with.asked, before) << "it was refused, and is asked again";
        EXPECT_TRUE(with.job.next(7));
    });
}

TEST(JobExecution, ALostReserveCallsInNobody) {
    WithReserve with(3600);
    with.job.retire(7, lost(), {});
    EXPECT_TRUE(with.job.outcome().has_losses);
    EXPECT_TRUE(with.job.forecast().standby_steps_in())
        << "it waits for nothing any more, but nobody of the team is lost";
}

TEST(JobExecution, SeveralTasksAtOnceAreThoseThatComeOneByOne) {
    Two two;
    const auto one_by_one = two.run(Job("j", 1001)), at_once = two.run(Job("j", 1001));
    for (const std::uint64_t tasks : {3U, 1U, 4U, 5U}) { // the last has but what is left
        IndexRange whole{};
        std::uint64_t count = 0;
        for (; count < tasks; ++count) {
            const auto range = one_by_one->next(4);
            if (!range) break;
            whole = {count == 0 ? range->begin : whole.begin, range->end};
            one_by_one->finished(4, {*range}, {});
        }
        const auto work_range = at_once->next(4, tasks);
        ASSERT_TRUE(work_range);
        EXPECT_EQ(work_range->range, whole);
        EXPECT_EQ(work_range->tasks, count);
        at_once->finished(4, {*work_range}, {});
    }
    EXPECT_TRUE(at_once->event().done());
    EXPECT_EQ(at_once->report().devices.front().tasks, 11U);
}

TEST(JobExecution, SeveralTasksAtOnceAdjoin) {
    Two two;
    const auto job = two.run(Job("j", 1000));
    const IndexRange first = *job->next(4), second = *job->next(4);
    job->abandoned(4, first, nullptr); // it is next, and what follows it is not there
    EXPECT_EQ(job->next(4, 5)->range, first);
    EXPECT_EQ(job->next(4, 2)->range, (IndexRange{second.end, second.end + 200}));
}

TEST(JobExecution, WhatALostDeviceDidIsDoneAgain) {
    Two two;
    const auto job = two.run(Job("j", 1000));
    const IndexRange done = *job->next(4), doing = *job->next(4);
    job->finished(4, {done}, {});
    job->retire(4, lost(), {doing});
    EXPECT_EQ(job->next(4), std::nullopt);
    std::uint64_t units = 0;
    while (const auto range = job->next(7)) {
        job->finished(7, {*range}, {});
        units += range->size();
    }
    EXPECT_EQ(units, 1000U);
    ASSERT_TRUE(job->event().done());
    EXPECT_NO_THROW(job->event().wait());
    const JobReport report = job->report();
    EXPECT_NE(report.devices[0].failure.find("fell off the bus"), std::string::npos);
    EXPECT_EQ(report.devices[1].work_units, 1000U);
}

/// The schedule keeps adjoining tasks as one range; others cut it otherwise.
TEST(JobExecution, PartsOfALostDeviceAreWrittenByOthers) {
    Two two;
    const Domain<float> x("x", {1000});
    const auto job = two.run(Job("j", 1000).writes(part(x, [](IndexRange units) { return units; })));
    for (int i = 0; i < 3; ++i) job->finished(4, {*job->next(4)}, {});
    const IndexRange kept = *job->next(7);
    job->finished(7, {kept}, {});
    job->retire(4, lost(), {});
    while (const auto range = job->next(7)) job->finished(7, {*range}, {});
    ASSERT_TRUE(job->event().done());
    EXPECT_NO_THROW(job->event().wait());
    EXPECT_EQ(job->report().devices[1].work_units, 1000U);
}

TEST(JobExecution, UpdatedDataCannotBeComputedAgain) {
    Two two;
    const Domain<float> x("x", {1000});
    const auto job = two.run(Job("j", 1000).updates(rows(x)));
    const IndexRange doing = *job->next(4);
    job->retire(4, lost(), {doing});
    ASSERT_TRUE(job->event().done());
    EXPECT_THROW(job->event().wait(), Error);
}

TEST(JobExecution, FailsWhenNoDeviceIsLeft) {
    Two two;
    const auto job = two.run(Job("j", 1000));
    job->retire(4, lost(), {});
    EXPECT_FALSE(job->event().done());
    job->retire(7, lost(), {});
    ASSERT_TRUE(job->event().done());
    EXPECT_EQ(job->event().outcome()->kind(), ErrorKind::device);
}

TEST(JobExecution, AStoppedJobEndsWithItsLastTask) {
    Two two;
    const auto job = two.run(Job("j", 1000));
    const IndexRange doing = *job->next(4);
    job->stop(std::make_shared<const Error>(ErrorKind::cancelled, "enough"));
    EXPECT_EQ(job->next(7), std::nullopt);
    EXPECT_FALSE(job->event().done());
    job->abandoned(4, doing, nullptr);
    ASSERT_TRUE(job->event().done());
    EXPECT_EQ(job->event().outcome()->kind(), ErrorKind::cancelled);
}

} // namespace
} // namespace headrace::test
