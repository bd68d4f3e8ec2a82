// tests/domains/job_order_test.cpp - jobs that conflict run in the order of submission; what a failed job
// leaves behind.
#include <core/eventually.hpp>
#include <core/log_lines.hpp>
#include <core/quiet_machine.hpp>
#include <core/seeds.hpp>
#include <domains/job_order.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
/// Random programs of jobs on few domains, against a model that runs one after another. The jobs read whole
/// domains, write rows and add sums; the devices are slow at random, so that a missing order shows.
TEST_F(JobOrder, IsThatOfSubmissionInRandomPrograms) {
    runtime_ = fake_runtime(2, {.policy = "dynamic:4", .model = "peak"}, 50us);
    std::mt19937 random(fresh_seed());
    constexpr std::size_t size = 8;
    std::vector<Numbers> domains;
    std::vector<std::vector<std::uint64_t>> model;
    for (int d = 0; d < 4; ++d) {
        domains.emplace_back("d" + std::to_string(d), std::initializer_list<std::uint64_t>{size});
        std::ranges::fill(domains.back().fill(), 1U);
        model.emplace_back(size, 1U);
    }
    const LogLines warnings(LogLevel::warning);
    for (int program = 0; program < 20; ++program) {
        std::vector<JobHandle> jobs;
        for (int j = 0; j < 30; ++j) {
            const std::size_t from = random() % 4, to = (from + 1 + random() % 3) % 4;
            const std::uint64_t factor = 1 + random() % 5;
            const auto x = domains[from], y = domains[to];
            std::uint64_t sum = 0;
            for (const auto value : model[from]) sum += value;
            sum = sum * factor % 1'000'003;
            Job job("job", size);
            job.reads(x);
            const int kind = static_cast<int>(random() % 3);
            if (kind == 0) job.writes(rows(y));
            if (kind == 1) job.updates(rows(y));
            if (kind == 2) job.accumulates(y);
            jobs.push_back(runtime_->submit(with(std::move(job), [=](Task& task) {
                std::uint64_t all = 0;
                for (std::uint64_t i = 0; i < size; ++i) all += task.read(x)[i];
                all = all * factor % 1'000'003;
                for (auto i = task.range().begin; i < task.range().end; ++i) {
                    if (kind == 0) task.write(y)[i] = all;
                    if (kind == 1) task.update(y)[i] = task.update(y)[i] * 3 + all;
                    if (kind == 2) task.sum(y).add(i, all);
                }
            })));
            for (auto& value : model[to]) value = kind == 0 ? sum : kind == 1 ? value * 3 + sum : value + sum;
        }
        for (const JobHandle& job : jobs) job.wait();
        for (std::size_t d = 0; d < 4; ++d) {
            const auto found = domains[d].gather();
            ASSERT_EQ(std::vector(found.begin(), found.end()), model[d]) << "domain " << d;
        }
    }
    EXPECT_TRUE(warnings.lines().empty()) << warnings.lines().front();
}

TEST_F(JobOrder, HoldsAcrossRuntimesThatShareADomain) {
    const auto other = fake_runtime(1);
    const Numbers x("x", {64}), seen("seen", {64});
    std::ranges::fill(x.fill(), 0U);
    runtime_->submit(with(std::move(Job("slow", 64).writes(rows(x))), held([x](Task& task) {
                              for (auto i = task.range().begin; i < task.range().end; ++i)
                                  task.write(x)[i] = 5;
                          })));
    const JobHandle copies =
        other->submit(with(std::move(Job("copy", 64).reads(rows(x)).writes(rows(seen))), [=](Task& task) {
            for (auto i = task.range().begin; i < task.range().end; ++i)
                task.write(seen)[i] = task.read(x)[i];
        }));
    EXPECT_FALSE(copies.wait_for(20ms));
    may_go_on_.raise();
    copies.wait();
    EXPECT_EQ(std::ranges::count(seen.gather(), 5U), 64);
}

TEST_F(JobOrder, JobsThatCommuteRunAtOneTime) {
    const Numbers sums("sums", {1});
    const JobHandle first = runtime_->submit(with(std::move(Job("first", 1).accumulates(sums)),
                                                  held([=](Task& task) { task.sum(sums).add(0, 1); })));
    const JobHandle second = runtime_->submit(
        with(std::move(Job("second", 1).accumulates(sums)), [=](Task& task) { task.sum(sums).add(0, 2); }));
    second.wait();
    EXPECT_FALSE(first.done());
    may_go_on_.raise();
    EXPECT_EQ(sums.gather()[0], 3U);
}

TEST_F(JobOrder, ConcurrentJobsWaitForNoOther) {
    const Numbers x("x", {64});
    std::ranges::fill(x.fill(), 0U);
    const auto half = [&](std::uint64_t begin, const char* name) {
        return std::move(Job(name, 1).writes(part(x, [begin](IndexRange) {
            return IndexRange{begin, begin + 32};
        })));
    };
    const auto set = [&](std::uint64_t begin) {
        return [=](Task& task) {
            for (auto i = begin; i < begin + 32; ++i) task.write(x)[i] = begin + 1;
        };
    };
    const JobHandle first = runtime_->submit(with(half(0, "first").concurrent(), held(set(0))));
    const JobHandle second = runtime_->submit(with(half(32, "second").concurrent(), set(32)));
    second.wait();
    EXPECT_FALSE(first.done());
    may_go_on_.raise();
    const auto all = x.gather();
    EXPECT_EQ(std::ranges::count(all, 1U), 32);
    EXPECT_EQ(std::ranges::count(all, 33U), 32);
}

TEST_F(JobOrder, ConcurrentJobsFindSumsThatAreComplete) {
    const Numbers sums("sums", {1});
    runtime_->submit(with(std::move(Job("add", 64).accumulates(sums)),
                          held([=](Task& task) { task.sum(sums).add(0, task.range().size()); })));
    runtime_->submit(with(std::move(Job("read in between", 1).reads(sums)), [](Task&) {}));
    std::atomic<std::uint64_t> found = 0;
    const JobHandle reads = runtime_->submit(with(std::move(Job("read", 1).reads(sums).concurrent()),
                                                  [&](Task& task) { found = task.read(sums)[0]; }));
    EXPECT_FALSE(reads.wait_for(20ms));
    may_go_on_.raise();
    reads.wait();
    EXPECT_EQ(found, 64U);
}

/// The one in the middle has ended when it is cancelled, and what it waited for has not.
TEST_F(JobOrder, HoldsBehindAJobThatIsCancelledWhileItWaits) {
    const Numbers x("x", {64});
    std::ranges::fill(x.fill(), 0U);
    const JobHandle first =
        runtime_->submit(with(std::move(Job("first", 64).updates(rows(x))), held([x](Task& task) {
                                  for (auto i = task.range().begin; i < task.range().end; ++i)
                                      task.update(x)[i] = 1;
                              })));
    std::atomic<std::uint64_t> seen = 0;
    const auto reads = [&] {
        return with(std::move(Job("read", 64).reads(rows(x))), [&, x](Task& task) {
            for (auto i = task.range().begin; i < task.range().end; ++i) seen += task.read(x)[i];
        });
    };
    const JobHandle cancelled = runtime_->submit(reads());
    const JobHandle writes = runtime_->submit(sets(x, 7)); // comes after the reader alone
    const JobHandle last = runtime_->submit(reads());
    cancelled.cancel();
    EXPECT_TRUE(cancelled.wait_for(100s));
    EXPECT_FALSE(writes.wait_for(20ms));
    may_go_on_.raise();
    last.wait();
    EXPECT_TRUE(first.done());
    EXPECT_EQ(seen, 64 * 7U);
}

TEST_F(JobOrder, AFailureGoesWhereItsDataAreReadAndNowhereElse) {
    const Numbers x("x", {64}), y("y", {64});
    std::ranges::fill(x.fill(), 1U);
    std::ranges::fill(y.fill(), 1U);
    const JobHandle fails =
        runtime_->submit(with(std::move(Job("fails", 64).updates(rows(x)).reads(y)), held(throw_error)));
    const JobHandle heals_y = runtime_->submit(sets(y, 2));
    const JobHandle reads = runtime_->submit(with(std::move(Job("read", 1).reads(x)), [](Task&) {}));
    const JobHandle strict =
        runtime_->submit(with(std::move(Job("strict", 64).writes(rows(x)).in_order()), [](Task&) {}));
    may_go_on_.raise(); // `strict` does not care about jobs that have ended
    EXPECT_THROW(fails.wait(), Error);
    EXPECT_NO_THROW(heals_y.wait());
    EXPECT_THROW(reads.wait(), Error);
    EXPECT_THROW(strict.wait(), Error) << "which asked for that";
    EXPECT_TRUE(failure_of(x));
    runtime_->submit(sets(x, 3)).wait();
    EXPECT_EQ(std::ranges::count(x.gather(), 3U), 64);
}

TEST_F(JobOrder, WhatAFailedJobWasToMakeThrowsUntilItIsMadeAnew) {
    const Numbers written("written", {64}), updated("updated", {64}), sums("sums", {1});
    for (const Numbers& x : {written, updated, sums}) std::ranges::fill(x.fill(), 1U);
    const auto fail = [&] {
        EXPECT_THROW(
            runtime_
                ->submit(throws(std::move(
                    Job("fails", 64).writes(rows(written)).updates(rows(updated)).accumulates(sums))))
                .wait(),
            Error);
    };
    const auto is_of_job = [&](const Numbers& x) {
        const ErrorPtr error = failure_of(x);
        ASSERT_TRUE(error) << x.name() << " has " << x.gather()[0];
        EXPECT_EQ(error->job(), "fails") << error->what();
    };
    fail();
    for (const Numbers& x : {written, updated, sums})
        for (int again = 0; again < 2; ++again) is_of_job(x);
    const auto add =
        with(std::move(Job("add", 1).accumulates(sums)), [=](Task& task) { task.sum(sums).add(0, 1); });
    runtime_->submit(add).wait();
    is_of_job(sums); // what is added to nothing is nothing

    for (const Numbers& x : {written, updated, sums}) {
        std::ranges::fill(x.fill(), 9U);
        EXPECT_EQ(x.gather()[0], 9U) << x.name();
    }
    runtime_->submit(add).wait();
    EXPECT_EQ(sums.gather()[0], 10U);

    fail(); // and a job heals what it writes
    for (const Numbers& x : {written, updated, sums}) {
        runtime_->submit(sets(x, 4)).wait();
        EXPECT_EQ(x.gather()[0], 4U) << x.name();
    }
}

TEST_F(JobOrder, AJobThatIsCancelledBeforeItBeginsHasMadeNothing) {
    const Numbers x("x", {64}), y("y", {64});
    std::ranges::fill(y.fill(), 1U);
    runtime_->submit(with(std::move(Job("first", 64).reads(y)), held([](Task&) {})));
    const JobHandle second =
        runtime_->submit(with(std::move(Job("second", 64).writes(rows(y)).writes(rows(x))), [](Task&) {}));
    second.cancel();
    may_go_on_.raise();
    EXPECT_THROW(static_cast<void>(x.gather()), Error);
    EXPECT_THROW(static_cast<void>(y.gather()), Error);
}

TEST_F(JobOrder, AFailureThatNobodyWaitsForIsInTheLog) {
    const auto lines_of = [&](const std::function<void(Job)>& use) {
        const LogLines errors(LogLevel::error);
        use(throws(Job("fails", 1)));
        runtime_->submit(with(Job("next", 1), [](Task&) {})).wait();
        EXPECT_TRUE(eventually([&] { return !errors.lines().empty(); }));
        return errors.lines();
    };
    auto lines = lines_of([&](const Job& job) { runtime_->submit(job); }); // its handle goes first
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("job fails"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("not in the mood"), std::string::npos) << lines[0];
    lines = lines_of([&](const Job& job) { // the job ends first
        const JobHandle handle = runtime_->submit(job);
        ASSERT_TRUE(eventually([&] { return handle.done(); }));
        const JobHandle copy = handle;
    });
    EXPECT_EQ(lines.size(), 1U);
    const auto quiet = [&](const std::function<void(Job)>& use) {
        const LogLines errors(LogLevel::error);
        use(throws(Job("fails", 1)));
        return errors.lines().empty();
    };
    EXPECT_TRUE(quiet([&](const Job& job) { EXPECT_THROW(runtime_->submit(job).wait(), Error); }));
    EXPECT_TRUE(quiet([&](const Job& job) {
        const JobHandle handle = runtime_->submit(job);
        EXPECT_THROW(runtime_->submit(with(std::move(Job("next", 1).after(handle)), [](Task&) {})).wait(),
                     Error);
    }));
}

TEST_F(JobOrder, AJobOfNoWorkUnitsIsDoneAtOnce) {
    const Numbers x("x", {64}), sums("sums", {4}), written("written", {64});
    std::ranges::fill(x.fill(), 3U);
    std::ranges::fill(written.fill(), 5U);
    std::atomic<bool> ran = false;
    const JobHandle handle =
        runtime_->submit(with(std::move(Job("none", 0)
                                            .reads(rows(x))
                                            .writes(part(written, [](IndexRange units) { return units; }))
                                            .accumulates(sums)),
                              [&](Task&) { ran = true; }));
    ASSERT_TRUE(handle.wait_for(100s));
    handle.wait();
    EXPECT_FALSE(ran);
    EXPECT_EQ(handle.report().work_units, 0U);
    EXPECT_EQ(std::ranges::count(sums.gather(), 0U), 4) << "sums of nothing";
    EXPECT_EQ(written.gather()[0], 5U);
    runtime_->submit(with(std::move(Job("after", 1).after(handle)), [&](Task&) { ran = true; })).wait();
    EXPECT_TRUE(ran);
}

/// What waits is looked at when its turn comes: so many that a look at all of them for each one shows.
TEST_F(JobOrder, ManyJobsThatWaitAreEachLookedAtOnce) {
    on_a_quiet_machine([this] {
        const Numbers x("x", {1}), y("y", {1});
        std::ranges::fill(x.fill(), 0U);
        const auto seconds_for = [&](std::size_t count) {
            may_go_on_.lower();
            const auto begin = std::chrono::steady_clock::now();
            const JobHandle first = runtime_->submit(
                with(std::move(Job("first", 1).writes(x)), held([=](Task& task) { task.write(x)[0] = 1; })));
            const Job reads = with(std::move(Job("read", 1).reads(x)), [](Task&) {});
            const Job adds = with(std::move(Job("add", 1).reads(x).accumulates(y)),
                                  [=](Task& task) { task.sum(y).add(0, task.read(x)[0]); });
            JobHandle last = first;
            for (std::size_t i = 0; i < count; ++i) last = runtime_->submit(i % 2 == 0 ? reads : adds);
            may_go_on_.raise();
            static_cast<void>(y.gather());
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        static_cast<void>(seconds_for(500));
        const double few = seconds_for(1500), many = seconds_for(12000);
        EXPECT_LT(many, 24 * few) << "8 times as many, " << few << " s and " << many << " s";
        ASSERT_EQ(y.gather()[0], (500 + 1500 + 12000) / 2U);
    });
}

} // namespace
} // namespace headrace::test
