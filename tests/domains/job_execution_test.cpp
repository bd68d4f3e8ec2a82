// tests/domains/job_execution_test.cpp - ranges given out, taken back and repeated, with made-up devices.
#include <domains/two_devices.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace headrace::test {
namespace {

TEST(JobExecution, TasksAreSizedByCapability) {
    Two two;
    const auto job = two.run(Job("j", 1000));
    EXPECT_EQ(job->next(4), (IndexRange{0, 100}));
    EXPECT_EQ(job->next(7), (IndexRange{100, 130}));
    EXPECT_EQ(job->next(5), std::nullopt); // takes no part
}

TEST(JobExecution, EveryUnitIsGivenOutOnceWhateverTheOrder) {
    Two two;
    std::mt19937 random(std::random_device{}());
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
