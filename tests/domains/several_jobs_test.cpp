// tests/domains/several_jobs_test.cpp - several jobs at once: whose turn it is, hooks, policies of one's own.
#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <core/flag.hpp>
#include <core/heap.hpp>
#include <core/log_lines.hpp>
#include <core/quiet_machine.hpp>
#include <core/takes.hpp>
#include <domains/checked_mode.hpp>
#include <domains/job.kernels.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using test::FakeDevice;
using test::FakeOptions;
using test::LogLines;

/// Which job had the device when.
class Diary {
public:
    void add(const std::string& job) {
        const std::scoped_lock lock(mutex_);
        entries_.push_back(job);
    }
    [[nodiscard]] std::vector<std::string> entries() const {
        const std::scoped_lock lock(mutex_);
        return entries_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> entries_;
};

/// `each`: the duration of a task.
Job steps(const std::string& name, std::uint64_t units, Diary& diary, std::chrono::microseconds each = {}) {
    return Job(name, units).host_function("fake", [&diary, name, each](Task&, const NativeStream&) {
        diary.add(name);
        test::takes(each);
    });
}

/// Keeps a device busy while jobs are submitted.
class Block {
public:
    explicit Block(Runtime& runtime, std::string_view technology = "fake")
        : job_(runtime.submit(Job("block", 1).host_function(technology, [this](Task&, const NativeStream&) {
              has_begun_.raise();
              goes_on_.wait();
          }))) {}
    ~Block() { end(); }
    Block(const Block&) = delete; // its job knows where it is
    Block& operator=(const Block&) = delete;
    [[nodiscard]] const JobHandle& job() const { return job_; }
    void wait_until_it_has_begun() const { has_begun_.wait(); }
    void end() {
        goes_on_.raise();
        job_.wait();
    }

private:
    test::Flag has_begun_, goes_on_;
    JobHandle job_;
};

/// Jobs of one domain and one kernel, as programs submit them by the thousand.
TEST(WaitingJobs, TakeTwoKibibytesEach) {
    if (!test::heap_is_measured) GTEST_SKIP() << "this build's heap keeps what is freed";
    const Domain<std::uint32_t> x("numbers", {64});
    std::ranges::fill(x.fill(), 0U);
    Runtime runtime(RuntimeOptions{.devices = "cpu"});
    Block block(runtime, "cpu");
    const auto increment = [&] {
        Job job("increment", 64);
        job.updates(rows(x)).kernel([x](Task& task) { return test::Increment{task.update(x)}; });
        return job;
    };
    static_cast<void>(runtime.submit(increment().after(block.job())));
    const auto submit = [&](int jobs) { // each waits for the one before
        for (int i = 0; i < jobs; ++i) static_cast<void>(runtime.submit(increment()));
    };
    submit(1000); // what grows by doubling has grown
    const std::size_t before = test::heap_in_use();
    submit(4000);
    const std::size_t after = test::heap_in_use();
    block.end();
    EXPECT_LE((after - before) / 4000, 2048u);
    EXPECT_EQ(x.gather()[63], 5001u);
}

struct OneUnit final : Policy {
    std::uint64_t next(std::size_t, const Progress& progress) override {
        return std::min<std::uint64_t>(1, progress.remaining);
    }
};
void one_by_one(Job& job) {
    job.policy([] { return std::make_unique<OneUnit>(); }, "one by one");
}

std::unique_ptr<Runtime> fakes(std::size_t count, RuntimeOptions options = {}) {
    std::vector<std::unique_ptr<Device>> devices;
    for (std::size_t i = 0; i < count; ++i)
        devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = "fake:" + std::to_string(i)}));
    return std::make_unique<Runtime>(std::move(devices), std::move(options));
}

/// The first two use parts of their own, so that nothing but jobs is ordered.
TEST(SeveralJobs, AJobInOrderWaitsForAllThatItConflictsWith) {
    if (is_checked_mode()) GTEST_SKIP() << test::leaves_outputs_unwritten;
    struct Case {
        const char* what;
        Access first, second;
        bool second_in_order;
    };
    for (const Case& one :
         {Case{"two readers", Access::read, Access::read, true},
          Case{"a writer, and one that writes without being asked to wait", Access::write, Access::write,
               false},
          Case{"a writer, and one that comes after it", Access::write, Access::write, true}}) {
        SCOPED_TRACE(one.what);
        const auto runtime = fakes(1, {.window = 4}); // each could begin
        const Domain<int> data("data", {4});
        std::ranges::fill(data.fill(), 0);
        test::Flag go_on;
        std::atomic<bool> has_begun = false;
        const auto job_of = [&](const char* name, Access access, IndexRange elements,
                                std::function<void()> body) {
            Job job(name, 1);
            if (access == Access::read)
                job.reads(part(data, [elements](IndexRange) { return elements; }));
            else
                job.writes(part(data, [elements](IndexRange) { return elements; }));
            job.host_function("fake", [body = std::move(body)](Task&, const NativeStream&) { body(); });
            return job;
        };
        Job second = job_of("second", one.second, {2, 4}, [] {});
        if (one.second_in_order) second.in_order();
        const JobHandle first = runtime->submit(job_of("first", one.first, {0, 2}, [&] { go_on.wait(); }));
        const JobHandle between = runtime->submit(second);
        const JobHandle last =
            runtime->submit(job_of("last", Access::write, {0, 4}, [] {})
                                .in_order()
                                .on_tasks([&](const TaskStatistics&) { has_begun.store(true); }, {}));
        Diary diary; // of jobs that came later, for which the device has taken turns meanwhile
        for (int i = 0; i < 3; ++i) runtime->submit(steps("beside", 1, diary)).wait();
        EXPECT_FALSE(has_begun.load());
        go_on.raise();
        last.wait();
        EXPECT_TRUE(first.event().done());
        EXPECT_TRUE(between.event().done());
    }
}

TEST(SeveralJobs, AJobThatIsStoppedWhileItWaitsIsForgotten) {
    const auto runtime = fakes(1);
    Diary diary;
    Block first(*runtime);
    std::weak_ptr<JobExecution> waiting;
    {
        const JobHandle second = runtime->submit(steps("second", 1, diary).after(first.job()));
        waiting = second.execution();
        second.cancel();
        EXPECT_TRUE(second.event().done());
    }
    first.end();
    runtime->submit(steps("third", 1, diary)).wait();
    EXPECT_EQ(diary.entries(), (std::vector<std::string>{"third"}));
    EXPECT_TRUE(waiting.expired());
}

TEST(SeveralJobs, TheMostUrgentGoesFirst) {
    const auto runtime = fakes(1);
    Diary diary;
    auto low = steps("low", 20, diary), high = steps("high", 20, diary);
    one_by_one(low);
    one_by_one(high);
    high.priority(1);
    // By the device's thread, in the order in which it gives them to its streams: those may be scheduled
    // late.
    std::vector<std::string> entries;
    low.on_tasks([&](const TaskStatistics&) { entries.emplace_back("low"); }, {});
    high.on_tasks([&](const TaskStatistics&) { entries.emplace_back("high"); }, {});
    Block block(*runtime), other(*runtime); // or `low` would go on until `high` is there
    block.wait_until_it_has_begun();
    other.wait_until_it_has_begun();
    const JobHandle second = runtime->submit(low), third = runtime->submit(high);
    block.end();
    other.end();
    second.wait();
    third.wait();
    ASSERT_EQ(diary.entries().size(), 40u);
    ASSERT_EQ(entries.size(), 40u);
    // The window holds two tasks: what was in it when `high` came goes before.
    const auto last_high = std::find(entries.rbegin(), entries.rend(), "high");
    const auto lows_before = std::count(last_high, entries.rend(), "low");
    EXPECT_LE(lows_before, 2);
}

TEST(SeveralJobs, JobsOfOnePriorityGetEqualTime) {
    test::on_a_quiet_machine([] {
        const auto runtime = fakes(1);
        Diary diary;
        // One takes four times as long for a unit: it gets a quarter of the turns.
        auto slow = steps("slow", 30, diary, std::chrono::microseconds(2000));
        auto quick = steps("quick", 120, diary, std::chrono::microseconds(500));
        one_by_one(slow);
        one_by_one(quick);
        Block block(*runtime);
        const JobHandle second = runtime->submit(slow), third = runtime->submit(quick);
        block.end();
        second.wait();
        third.wait();
        auto entries = diary.entries();
        entries.resize(entries.size() / 2); // while both had work
        const auto slows = static_cast<double>(std::ranges::count(entries, "slow"));
        const auto quicks = static_cast<double>(std::ranges::count(entries, "quick"));
        EXPECT_GT(slows, 5);
        EXPECT_NEAR(quicks / slows, 4, 2) << slows << " and " << quicks;
    });
}

TEST(SeveralJobs, ALateComerIsNotOwedWhatOthersHad) {
    test::on_a_quiet_machine([] {
        constexpr std::chrono::microseconds each(500);
        test::Flag has_come;
        const auto runtime = fakes(1);
        Diary diary;
        std::atomic<int> done = 0;
        auto early = Job("early", 200).host_function("fake", [&](Task&, const NativeStream&) {
            if (done++ >= 60) has_come.wait();
            diary.add("early");
            test::takes(each);
        });
        auto late = steps("late", 40, diary, each);
        one_by_one(early);
        one_by_one(late);
        const JobHandle first = runtime->submit(early);
        ASSERT_TRUE(test::eventually([&] { return first.finished_units() >= 50; }));
        const JobHandle second = runtime->submit(late);
        has_come.raise();
        second.wait();
        const auto entries = diary.entries();
        first.wait();
        const auto begin = std::ranges::find(entries, "late");
        const auto earlies = std::count(begin, entries.end(), "early");
        EXPECT_GT(earlies, 20) << "they take turns";
    });
}

TEST(SeveralJobs, ACancelledOneLeavesTheOthersAlone) {
    test::Flag is_cancelled;
    const auto runtime = fakes(2);
    Diary diary;
    auto one =
        Job("one", 1'000'000).host_function("fake", [&](Task&, const NativeStream&) { is_cancelled.wait(); });
    auto other = steps("other", 20, diary);
    one_by_one(one);
    one_by_one(other);
    const JobHandle first = runtime->submit(one), second = runtime->submit(other);
    first.cancel();
    is_cancelled.raise();
    EXPECT_THROW(first.wait(), Error);
    second.wait();
    EXPECT_EQ(second.finished_units(), 20u);
    EXPECT_LT(first.finished_units(), 1'000'000u);
}

TEST(Hooks, AreToldOfEveryUnitBeforeAndAfter) {
    const auto runtime = fakes(2);
    Diary diary;
    std::atomic<std::uint64_t> before = 0, after = 0;
    std::atomic<bool> wrong = false;
    auto job = steps("job", 100, diary);
    job.on_tasks(
        [&](const TaskStatistics& tasks) {
            for (const IndexRange range : tasks.ranges) before += range.size();
            if (tasks.device.substr(0, 5) != "fake:" || tasks.seconds != 0) wrong = true;
        },
        [&](const TaskStatistics& tasks) {
            for (const IndexRange range : tasks.ranges) after += range.size();
            if (tasks.units_per_second <= 0 || tasks.seconds <= 0) wrong = true;
        });
    runtime->submit(job).wait();
    EXPECT_EQ(before, 100u);
    EXPECT_EQ(after, 100u);
    EXPECT_FALSE(wrong);
}

TEST(Hooks, WhatTheyThrowFailsTheJob) {
    const auto runtime = fakes(1);
    Diary diary;
    for (const bool before : {false, true}) {
        auto job = steps("job", 10, diary);
        const auto fails = [](const TaskStatistics&) {
            throw Error{ErrorKind::invalid_argument, "not in the mood"};
        };
        const auto quiet = [](const TaskStatistics&) {};
        job.on_tasks(before ? TaskHook(fails) : quiet, before ? TaskHook(quiet) : fails);
        try {
            runtime->submit(job).wait();
            FAIL() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("not in the mood"), std::string::npos);
        }
    }
}

TEST(Policies, OnesOwnDecidesAndIsNamed) {
    const auto runtime = fakes(2);
    Diary diary;
    auto job = steps("job", 17, diary);
    one_by_one(job);
    const JobHandle handle = runtime->submit(job);
    handle.wait();
    EXPECT_EQ(handle.report().policy, "one by one");
    std::uint64_t tasks = 0;
    for (const DeviceReport& device : handle.report().devices) tasks += device.tasks;
    EXPECT_EQ(tasks, 17u);
    const JobHandle usual = runtime->submit(steps("without a wish", 17, diary));
    usual.wait();
    EXPECT_EQ(usual.report().policy, RuntimeOptions{}.policy);
    EXPECT_THROW(job.policy("no such"), Error);
}

class Alone : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, Alone, ::testing::Values("calibrated", "online", "peak"));

TEST_P(Alone, EachDevicesTimeGivesSpeedUpAndEfficiency) {
    const auto runtime = fakes(2, {.model = GetParam()});
    Diary diary;
    const Job job = steps("job", 100, diary, std::chrono::milliseconds(2));
    const JobHandle first = runtime->submit(job);
    EXPECT_FALSE(first.report().heterogeneous_efficiency.value) << "nobody knows yet";
    first.wait(); // who has company is not alone
    for (const std::string id : {"fake:0", "fake:1"}) {
        Job alone = job;
        alone.only_on({id});
        const JobHandle handle = runtime->submit(alone);
        handle.wait();
        ASSERT_EQ(handle.report().devices.size(), 1u);
        EXPECT_EQ(handle.report().devices[0].id, id);
        EXPECT_FALSE(handle.report().heterogeneous_efficiency.value) << "it says nothing of one device";
    }
    const JobHandle together = runtime->submit(job);
    together.wait();
    const JobReport report = together.report();
    ASSERT_TRUE(report.heterogeneous_efficiency.value) << report.heterogeneous_efficiency.why_absent;
    EXPECT_GT(*report.heterogeneous_efficiency.value, 0);
    EXPECT_GT(*report.heterogeneous_speed_up.value, *report.heterogeneous_efficiency.value);
    Job nowhere = job;
    nowhere.only_on({"fake:7"});
    EXPECT_THROW(runtime->submit(nowhere), Error);
}

TEST(Policies, ADevicesPowerCanBeGiven) {
    const auto runtime = fakes(2, {.policy = "static", .powers = {{"fake:0", 3.0}, {"fake:1", 1.0}}});
    Diary diary;
    const JobHandle handle = runtime->submit(steps("job", 1000, diary));
    handle.wait();
    EXPECT_EQ(handle.report().devices[0].work_units, 750u);
    EXPECT_EQ(handle.report().devices[1].work_units, 250u);
    EXPECT_THROW(fakes(1, {.powers = {{"fake:0", 0.0}}}), Error);
    EXPECT_NO_THROW(fakes(2, {.powers = {{"gpu", 1}, {"cpu", 0.35}}})) << "there need be no GPU";
    try {
        fakes(2, {.powers = {{"fake:2", 3}}});
        ADD_FAILURE() << "there is no fake:2";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("'fake:2'"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("fake:0, fake:1"), std::string::npos) << error.what();
    }
    EXPECT_THROW(fakes(1, {.model = "tarot"}), Error);
}

} // namespace
} // namespace headrace
