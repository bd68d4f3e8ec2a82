// tests/domains/fork_test.cpp - a child of fork() has none of the threads of its parent: what would wait for
// them is an Error.
#include <core/forked_child.hpp>
#include <domains/device_lists.hpp>
#include <domains/job.kernels.hpp>
#include <domains/job_order.hpp>
#include <domains/joining.kernels.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

class ForkedWithAJob : public JobOrder {};

TEST_F(ForkedWithAJob, IsToldThatItHasNoRuntime) {
    const JobHandle running = runtime_->submit(with(Job("held", 1), held([](Task&) {})));
    const Event event = running.event();
    expect_errors_in_forked_child({
        {"submit", [&] { runtime_->submit(with(Job("in the child", 1), [](Task&) {})); }},
        {"wait", [&] { running.wait(); }},
        {"wait_for", [&] { static_cast<void>(running.wait_for(1h) && (running.wait(), true)); }},
        {"then", [&] { then(running, [](JobStatus) {}); }},
        {"event's wait", [&] { event.wait(); }},
        {"event's wait_for", [&] { static_cast<void>(event.wait_for(1h) && (event.wait(), true)); }},
        {"all",
         [&] {
             Event::all(std::array{event, running.event()}).wait();
         }},
    });
    EXPECT_EQ(in_forked_child([&] {
                  runtime_.reset(); // which joins no threads
                  return std::string("goes on");
              }),
              "goes on");
    may_go_on_.raise();
    running.wait();
}

/// The thread that ends a job settles the event of users last. A fork in between must not find it open.
TEST_F(ForkedWithAJob, ThatHasEndedKnowsHowBeforeItsEventSettles) {
    // shared: the thread that waits for it may wake after this function has returned
    const auto may_settle = std::make_shared<Flag>();
    const JobHandle ending = runtime_->submit(with(Job("fails", 1), held(throw_error)));
    ending.execution()->event().then([may_settle](const ErrorPtr&) { may_settle->wait(); });
    const Event event = ending.event();
    may_go_on_.raise();
    EXPECT_THROW(ending.wait(), Error);
    const std::string thrown = thrown_in_forked_child([&] { event.wait(); });
    EXPECT_NE(thrown.find("not in the mood"), std::string::npos) << thrown;
    may_settle->raise();
    EXPECT_THROW(event.wait(), Error);
}

/// What jobs leave on devices: rows, sums and records.
struct Results {
    Domain<std::uint64_t> words{"words", {1000}};
    Domain<std::uint32_t> rows_of_x{"x", {1000}};
    Domain<std::uint64_t> bins{"bins", {7}};
    Domain<Record> records{"records", {6000}};

    void make(Runtime& runtime) const {
        std::ranges::fill(words.fill(), 3U);
        std::ranges::fill(rows_of_x.fill(), 0U);
        runtime
            .submit(Job("count", 1000).accumulates(bins).kernel([&](Task& task) {
                return Histogram{task.sum(bins)};
            }))
            .wait();
        runtime
            .submit(Job("append", 1000).reads(words).appends(records).kernel([&](Task& task) {
                return AppendSome{task.read(words), task.append(records)};
            }))
            .wait();
        runtime
            .submit(Job("increment", 1000).updates(rows(rows_of_x)).kernel([&](Task& task) {
                return Increment{task.update(rows_of_x)};
            }))
            .wait();
    }
};

TEST(ForkedWithData, OnDevicesCannotGatherIt) {
    Runtime runtime(RuntimeOptions{.devices = device_list(two_private_cpus), .policy = "dynamic:37"});
    const Results results;
    results.make(runtime);
    expect_errors_in_forked_child({
        {"gather rows", [&] { static_cast<void>(results.rows_of_x.gather()); }},
        {"gather sums", [&] { static_cast<void>(results.bins.gather()); }},
        {"count records", [&] { static_cast<void>(results.records.count()); }},
        {"read records", [&] { static_cast<void>(results.records.records()); }},
    });
    EXPECT_EQ(results.rows_of_x.gather()[999], 1U) << "the parent goes on";
    EXPECT_EQ(results.bins.gather()[0], 143U);
    EXPECT_EQ(results.records.records().size(), 3000U);
}

TEST(ForkedWithData, ThatIsOnTheHostReadsItAndFillsIt) {
    Runtime runtime(RuntimeOptions{.devices = device_list(two_private_cpus), .policy = "dynamic:37"});
    const Results results;
    results.make(runtime);
    static_cast<void>(results.bins.gather());
    static_cast<void>(results.records.count());
    const std::string said = in_forked_child([&] {
        std::ranges::fill(results.rows_of_x.fill(), 5U);
        return std::to_string(results.bins.gather()[0]) + ", " +
               std::to_string(results.records.records().size()) + ", " +
               std::to_string(results.rows_of_x.gather()[999]);
    });
    EXPECT_EQ(said, "143, 3000, 5");
}

/// Sums that only devices have are given up where the child fills their domain.
TEST(ForkedWithData, FillsWhatDevicesHaveSummed) {
    Runtime runtime(RuntimeOptions{.devices = device_list(two_private_cpus), .policy = "dynamic:37"});
    const Results results;
    results.make(runtime);
    EXPECT_EQ(in_forked_child([&] {
                  std::ranges::fill(results.bins.fill(), 9U);
                  return std::to_string(results.bins.gather()[6]);
              }),
              "9");
    EXPECT_EQ(results.bins.gather()[0], 143U);
}

TEST(ForkedWithData, OfAJobThatEndedKnowsHowItEnded) {
    Runtime runtime(RuntimeOptions{.devices = "cpu"});
    const Results results;
    const Job job = Job("count", 1000).accumulates(results.bins).kernel([&](Task& task) {
        return Histogram{task.sum(results.bins)};
    });
    const JobHandle handle = runtime.submit(job);
    const Event event = handle.event(); // which nothing has asked before the fork
    handle.wait();
    EXPECT_EQ(thrown_in_forked_child([&] { event.wait(); }), "nothing");
    EXPECT_EQ(thrown_in_forked_child([&] { handle.wait(); }), "nothing");
}

TEST(ForkedWithData, AChildMakesARuntimeOfItsOwn) {
    const std::string said = in_forked_child([] {
        Runtime runtime(RuntimeOptions{.devices = device_list(two_private_cpus), .policy = "dynamic:37"});
        const Results results;
        results.make(runtime);
        return std::to_string(results.rows_of_x.gather()[999] + results.bins.gather()[0]);
    });
    EXPECT_EQ(said, "144");
}

} // namespace
} // namespace headrace::test
