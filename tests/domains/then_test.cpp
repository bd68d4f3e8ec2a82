// tests/domains/then_test.cpp - functions that are called when a job has ended.
#include <core/flag.hpp>
#include <core/waiting_call.hpp>
#include <domains/job_order.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

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
    Flag is_called, may_return;
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
        WaitingCall ending([&] { runtime.reset(); });
        static_cast<void>(ending.waits()); // it does not for a job that has not begun
        may_go_on_.raise();
        ending.join();
    }
    EXPECT_EQ(refused, 20);
}

} // namespace
} // namespace headrace::test
