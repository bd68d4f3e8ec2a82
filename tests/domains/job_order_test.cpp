// tests/domains/job_order_test.cpp - jobs that conflict run in the order of submission; what a failed job
// leaves behind; waits that would never end.
#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <core/flag.hpp>
#include <core/log_lines.hpp>
#include <core/quiet_machine.hpp>
#include <core/seeds.hpp>
#include <core/waiting_call.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using test::FakeDevice;
using test::FakeOptions;
using test::LogLines;

using Numbers = Domain<std::uint64_t>;
using Work = std::function<void(Task&)>;

/// `longest_delay`: of each request, at random.
std::unique_ptr<Runtime> fake_runtime(std::size_t count, RuntimeOptions options = {},
                                      std::chrono::microseconds longest_delay = {}) {
    std::vector<std::unique_ptr<Device>> devices;
    for (std::size_t i = 0; i < count; ++i)
        devices.push_back(std::make_unique<FakeDevice>(
            FakeOptions{.id = "fake:" + std::to_string(i), .longest_delay = longest_delay, .seed = i + 1}));
    return std::make_unique<Runtime>(std::move(devices), std::move(options));
}

Job with(Job job, Work work) {
    job.host_function("fake", [work = std::move(work)](Task& task, const NativeStream&) { work(task); });
    return job;
}

class JobOrder : public ::testing::Test {
protected:
    test::Flag may_go_on_;
    std::unique_ptr<Runtime> runtime_ = fake_runtime(2, {.policy = "dynamic:4", .model = "peak"});

    /// Its tasks wait until they may go on.
    Work held(Work work) {
        return [this, work = std::move(work)](Task& task) {
            may_go_on_.wait();
            work(task);
        };
    }
    static Job sets(const Numbers& x, std::uint64_t value) {
        return with(std::move(Job("set", x.size()).writes(rows(x))), [x, value](Task& task) {
            const auto view = task.write(x);
            for (auto i = task.range().begin; i < task.range().end; ++i) view[i] = value;
        });
    }
    static Job throws(Job job) { return with(std::move(job), throw_error); }
    static void throw_error(Task&) { throw std::runtime_error("not in the mood"); }
    ErrorPtr failure_of(const Numbers& x) {
        try {
            static_cast<void>(x.gather());
        } catch (const Error& error) {
            return std::make_shared<const Error>(error);
        }
        return nullptr;
    }
};

/// Random programs of jobs on few domains, against a model that runs one after another. The jobs read whole
/// domains, write rows and add sums; the devices are slow at random, so that a missing order shows.
TEST_F(JobOrder, IsThatOfSubmissionInRandomPrograms) {
    runtime_ = fake_runtime(2, {.policy = "dynamic:4", .model = "peak"}, 50us);
    std::mt19937 random(test::fresh_seed());
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
        EXPECT_TRUE(test::eventually([&] { return !errors.lines().empty(); }));
        return errors.lines();
    };
    auto lines = lines_of([&](const Job& job) { runtime_->submit(job); }); // its handle goes first
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("job fails"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("not in the mood"), std::string::npos) << lines[0];
    lines = lines_of([&](const Job& job) { // the job ends first
        const JobHandle handle = runtime_->submit(job);
        ASSERT_TRUE(test::eventually([&] { return handle.done(); }));
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

class Waiting : public JobOrder {
protected:
    /// Runs in a task of a job that writes `x_`; returns what it threw.
    std::string thrown_in_task(const std::function<void()>& work) {
        std::string thrown;
        const JobHandle handle = runtime_->submit(with(std::move(Job("outer", 1).updates(x_)), [&](Task&) {
            try {
                work();
            } catch (const Error& error) {
                thrown = error.what();
            }
        }));
        EXPECT_TRUE(handle.wait_for(100s)) << "it waits for ever";
        return thrown;
    }
    const Numbers x_ = [] {
        Numbers x("x", {64});
        std::ranges::fill(x.fill(), 1U);
        return x;
    }();
    static constexpr const char* of_its_own = "waits inside a task of its own job";
};

TEST_F(Waiting, ForAJobThatComesAfterItsOwnIsAnError) {
    const std::string thrown = thrown_in_task(
        [&] { runtime_->submit(with(std::move(Job("inner", 1).reads(x_)), [](Task&) {})).wait(); });
    EXPECT_NE(thrown.find(of_its_own), std::string::npos) << thrown;
    EXPECT_NE(thrown.find("'inner'"), std::string::npos) << thrown;
    EXPECT_NE(thrown.find("'outer'"), std::string::npos) << thrown;
    const std::string limited = thrown_in_task([&] {
        static_cast<void>(
            runtime_->submit(with(std::move(Job("inner", 1).reads(x_)), [](Task&) {})).wait_for(1h));
    });
    EXPECT_NE(limited.find(of_its_own), std::string::npos) << limited;
}

TEST_F(Waiting, ForDataThatItsOwnJobWritesIsAnError) {
    for (const bool fills : {false, true}) {
        const std::string thrown = thrown_in_task([&] {
            if (fills)
                static_cast<void>(x_.fill());
            else
                static_cast<void>(x_.gather());
        });
        EXPECT_NE(thrown.find(of_its_own), std::string::npos) << thrown;
        EXPECT_NE(thrown.find("'x'"), std::string::npos) << thrown;
    }
}

/// Every task of the outer job waits for one of its own making, three levels deep: there are more that wait
/// than the devices have places.
TEST_F(Waiting, ForOtherJobsWorks) {
    std::atomic<int> leaves = 0;
    std::function<Job(int)> nested = [&](int depth) {
        return with(Job("level " + std::to_string(depth), 12), [&, depth](Task& task) {
            for (auto i = task.range().begin; i < task.range().end; ++i)
                if (depth == 0)
                    ++leaves;
                else if (i % 4 == 0)
                    runtime_->submit(nested(depth - 1)).wait();
        });
    };
    const JobHandle outer = runtime_->submit(nested(3));
    ASSERT_TRUE(outer.wait_for(60s)) << "it waits for ever";
    outer.wait();
    EXPECT_EQ(leaves, 3 * 3 * 3 * 12);
}

TEST_F(Waiting, ForEachOtherIsAnError) {
    std::atomic<const JobHandle*> first = nullptr, second = nullptr;
    std::atomic<int> errors = 0;
    const auto waits_for = [&](std::atomic<const JobHandle*>& other) {
        return [&](Task&) {
            other.wait(nullptr);
            try {
                other.load()->wait();
            } catch (const Error& error) {
                if (std::string(error.what()).find(of_its_own) != std::string::npos) ++errors;
            }
        };
    };
    const JobHandle one = runtime_->submit(with(Job("one", 1), waits_for(second)));
    const JobHandle two = runtime_->submit(with(Job("two", 1), waits_for(first)));
    first = &one;
    first.notify_all();
    second = &two;
    second.notify_all();
    ASSERT_TRUE(one.wait_for(100s) && two.wait_for(100s)) << "they wait for ever";
    EXPECT_EQ(errors, 1);
}

TEST_F(Waiting, InHooksAndPoliciesIsAnError) {
    struct Waits final : Policy {
        explicit Waits(std::function<void()> wait) : wait_(std::move(wait)) {}
        std::uint64_t next(std::size_t, const Progress&) override {
            wait_();
            return 1;
        }
        std::function<void()> wait_;
    };
    const auto wait = [&] { runtime_->submit(with(Job("inner", 1), held([](Task&) {}))).wait(); };
    const auto waits = [&](const TaskStatistics&) { wait(); };
    const auto nothing = [](const TaskStatistics&) {};
    std::vector<Job> jobs(3, with(Job("outer", 1), [](Task&) {}));
    jobs[0].on_tasks(waits, nothing);
    jobs[1].on_tasks(nothing, waits);
    jobs[2].policy([&] { return std::make_unique<Waits>(wait); }, "waits");
    for (const Job& job : jobs) {
        const JobHandle handle = runtime_->submit(job);
        ASSERT_TRUE(handle.wait_for(100s)) << "it waits for ever";
        try {
            handle.wait();
            ADD_FAILURE() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("cannot "), std::string::npos) << error.what();
        }
        may_go_on_.raise();
        runtime_ = fake_runtime(2); // the inner jobs have ended
        may_go_on_.lower();
    }
}

TEST_F(Waiting, APolicyThatIsNotMadeIsAnError) {
    auto job = with(Job("outer", 1), [](Task&) {});
    job.policy([] { return std::unique_ptr<Policy>(); }, "none of mine");
    try {
        runtime_->submit(job);
        ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("'none of mine'"), std::string::npos) << error.what();
    }
}

TEST_F(Waiting, AForkedChildIsToldThatItHasNoRuntime) {
    const JobHandle held_job = runtime_->submit(with(Job("held", 1), held([](Task&) {})));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int told = 0;
        try {
            runtime_->submit(with(Job("in the child", 1), [](Task&) {}));
        } catch (const Error&) {
            ++told;
        }
        try {
            held_job.wait();
        } catch (const Error&) {
            ++told;
        }
        runtime_.reset(); // which joins no threads
        _exit(told);
    }
    int status = 0;
    EXPECT_TRUE(test::eventually([&] { return waitpid(child, &status, WNOHANG) != 0; }));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
    may_go_on_.raise();
    held_job.wait();
}

TEST_F(JobOrder, ThenIsCalledWithHowTheJobEnded) {
    const auto status_of = [&](const Job& job, bool cancels) {
        std::atomic<int> status = -1;
        const JobHandle handle = runtime_->submit(job);
        const JobHandle call = then(handle, [&](JobStatus ended) { status = static_cast<int>(ended); });
        if (cancels) handle.cancel();
        may_go_on_.raise();
        call.wait();
        may_go_on_.lower();
        return static_cast<JobStatus>(status.load());
    };
    EXPECT_EQ(status_of(with(Job("works", 1), held([](Task&) {})), false), JobStatus::done);
    EXPECT_EQ(status_of(throws(Job("fails", 1)), false), JobStatus::failed);
    EXPECT_EQ(status_of(with(Job("long", 64), held([](Task&) {})), true), JobStatus::cancelled);
}

/// A chain that makes itself: each function submits the next job, waits for it, and has itself called again.
TEST_F(JobOrder, ThenMaySubmitAndWaitAndBeWaitedFor) {
    const Numbers sums("sums", {1});
    const Job add = with(std::move(Job("add", 8).accumulates(sums)),
                         [=](Task& task) { task.sum(sums).add(0, task.range().size()); });
    std::atomic<int> left = 150; // more than a runtime has threads for them when none of them waits
    std::function<void(JobStatus)> again = [&](JobStatus status) {
        ASSERT_EQ(status, JobStatus::done);
        if (left-- == 0) return;
        const JobHandle next = runtime_->submit(add);
        next.wait();
        then(next, again).wait(); // all of them wait for each other
    };
    const JobHandle all = then(runtime_->submit(add), again);
    ASSERT_TRUE(all.wait_for(60s)) << "it waits for ever";
    all.wait();
    EXPECT_EQ(sums.gather()[0], 151 * 8U);
    // And jobs come after it.
    test::Flag is_called, may_return;
    const JobHandle call = then(runtime_->submit(with(Job("held", 1), held([](Task&) {}))), [&](JobStatus) {
        is_called.raise();
        may_return.wait();
    });
    const JobHandle after = runtime_->submit(
        with(std::move(Job("after", 1).after(call)), [&](Task&) { EXPECT_TRUE(may_return.is_raised()); }));
    may_go_on_.raise();
    is_called.wait();
    for (int i = 0; i < 3; ++i) runtime_->submit(add).wait(); // the devices take turns meanwhile
    EXPECT_FALSE(after.done());
    may_return.raise();
    after.wait();
}

TEST_F(JobOrder, ThenFailsWithWhatItThrows) {
    const JobHandle job = runtime_->submit(with(Job("works", 1), [](Task&) {}));
    const JobHandle call = then(job, [](JobStatus) { throw std::runtime_error("not in the mood"); });
    try {
        call.wait();
        ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("not in the mood"), std::string::npos) << error.what();
    }
    const JobHandle after = runtime_->submit(with(std::move(Job("after", 1).after(call)), [](Task&) {}));
    EXPECT_THROW(after.wait(), Error);
    std::atomic<bool> called = false;
    const JobHandle held_job = runtime_->submit(with(Job("held", 1), held([](Task&) {})));
    const JobHandle cancelled = then(held_job, [&](JobStatus) { called = true; });
    cancelled.cancel();
    may_go_on_.raise();
    held_job.wait();
    EXPECT_THROW(cancelled.wait(), Error);
    runtime_.reset(); // which waits for what is called
    EXPECT_FALSE(called);
    EXPECT_THROW(then(held_job, [](JobStatus) {}), Error) << "its runtime is gone";
}

TEST_F(JobOrder, ARuntimeThatGoesCallsThenAndRefusesWhatThatSubmits) {
    std::atomic<int> refused = 0;
    for (int i = 0; i < 20; ++i) {
        auto runtime = fake_runtime(1);
        Runtime* const going = runtime.get();
        may_go_on_.lower();
        then(runtime->submit(with(Job("long", 1'000'000), held([](Task&) {}))), [&, going](JobStatus) {
            try {
                going->submit(with(Job("late", 1), [](Task&) {}));
            } catch (const Error& error) {
                if (error.kind() == ErrorKind::cancelled) ++refused;
            }
        });
        test::WaitingCall ending([&] { runtime.reset(); });
        static_cast<void>(ending.waits()); // it does not for a job that has not begun
        may_go_on_.raise();
        ending.join();
    }
    EXPECT_EQ(refused, 20);
}

TEST_F(Waiting, InThenForItselfIsAnError) {
    std::atomic<const JobHandle*> self = nullptr;
    std::string thrown;
    const JobHandle call = then(runtime_->submit(with(Job("job", 1), [](Task&) {})), [&](JobStatus) {
        self.wait(nullptr);
        try {
            self.load()->wait();
        } catch (const Error& error) {
            thrown = error.what();
        }
    });
    self = &call;
    self.notify_all();
    ASSERT_TRUE(call.wait_for(100s)) << "it waits for ever";
    EXPECT_NE(thrown.find(of_its_own), std::string::npos) << thrown;
}

/// What waits is looked at when its turn comes: so many that a look at all of them for each one shows.
TEST_F(JobOrder, ManyJobsThatWaitAreEachLookedAtOnce) {
    test::on_a_quiet_machine([this] {
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
} // namespace headrace
