// tests/domains/watchdog_test.cpp - work that does not get on is reported, with who waits for what; work that
// does, is not.
#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <core/log_lines.hpp>
#include <core/quiet_machine.hpp>
#include <core/takes.hpp>
#include <devices/devices_fixture.hpp>
#include <domains/job.kernels.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/domains/watchdog.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// ---- what is said of which status
// ------------------------------------------------------------------------------------------------

/// A job of 1000 units, 100 of them finished, whose last sign of life was a minute ago.
class WhoWaitsForWhat : public ::testing::Test {
protected:
    static constexpr std::chrono::seconds patience = 10s;
    const Clock::time_point now_ = Clock::now();

    ExecutionStatus job(std::string name) const {
        return {.job = std::move(name),
                .work_units = 1000,
                .finished = 100,
                .started = true,
                .last_sign = now_ - 60s,
                .tasks = {}};
    }
    TaskInFlight task(std::chrono::seconds silent_for) const {
        return {.number = 3,
                .device = "cuda:0",
                .work_range = IndexRange{100, 150},
                .last_sign = now_ - silent_for};
    }
    std::string report(const std::vector<ExecutionStatus>& jobs) const {
        return who_waits_for_what(jobs, now_, patience);
    }
};

TEST_F(WhoWaitsForWhat, NothingIsSaidWhileTasksShowSignsOfLife) {
    ExecutionStatus busy = job("busy");
    busy.tasks = {task(9s), task(0s)};
    EXPECT_EQ(report({}), "");
    EXPECT_EQ(report({busy}), "");
}

TEST_F(WhoWaitsForWhat, ALaunchThatDoesNotEndIsNamed) {
    ExecutionStatus stuck = job("stuck");
    stuck.tasks = {task(0s), task(12s)};
    stuck.tasks[1].launches = 4;
    stuck.tasks[1].units_left = 77;
    EXPECT_EQ(report({stuck}),
              "job 'stuck', 100 of 1000 work units finished: task [100, 150) on cuda:0 has given "
              "no sign of life for 12.0 s: launch 4 has not ended, which began with 77 work units");
}

TEST_F(WhoWaitsForWhat, ARankThatWaitsForWorkDoesNotHang) {
    ExecutionStatus shared = job("shared"), stuck = job("stuck");
    shared.waits_for_ranks = true;
    EXPECT_EQ(report({shared}), "");
    stuck.tasks = {task(12s)};
    EXPECT_NE(
        report({shared, stuck}).find("job 'shared', 100 of 1000 work units finished, waits for other ranks"),
        std::string::npos);
}

TEST_F(WhoWaitsForWhat, ATaskThatNeverBeganSaysWhy) {
    ExecutionStatus stuck = job("stuck");
    stuck.tasks = {task(12s)};
    EXPECT_NE(report({stuck}).find("12.0 s: it is being prepared"), std::string::npos);
    stuck.tasks[0].launches = 1;
    stuck.tasks[0].awaited = 2;
    EXPECT_NE(report({stuck}).find("12.0 s: it waits for 2 requests on its data"), std::string::npos);
}

TEST_F(WhoWaitsForWhat, JobsBehindAHangAreNamedToo) {
    ExecutionStatus stuck = job("stuck"), beside = job("beside"), after = job("after");
    stuck.tasks = {task(12s)};
    after.started = false;
    const std::string line = report({stuck, beside, after});
    EXPECT_NE(
        line.find(
            "; job 'beside', 100 of 1000 work units finished, waits for a device; job 'after' waits for "
            "jobs before it"),
        std::string::npos)
        << line;
}

TEST_F(WhoWaitsForWhat, AJobThatWaitsForOthersWhichGetOnDoesNotHang) {
    ExecutionStatus busy = job("busy"), beside = job("beside"), after = job("after");
    busy.tasks = {task(1s)};
    after.started = false;
    EXPECT_EQ(report({busy, beside, after}), "");
    EXPECT_EQ(report({after}), ""); // for a job of another runtime
}

TEST_F(WhoWaitsForWhat, WorkThatNobodyTakesIsAHang) {
    EXPECT_EQ(report({job("forgotten")}),
              "job 'forgotten', 100 of 1000 work units finished: no device has taken the rest for 60.0 s");
}

// ---- what jobs know of their tasks
// ------------------------------------------------------------------------------------------------

TEST(ExecutionStatus, FollowsATaskFromItsRangeToItsEnd) {
    DeviceInfo info;
    info.id = "fake";
    JobExecution job(Job("j", 100), {make_policy("demand")}, {{4, &info, {}, nullptr}}, {});
    EXPECT_FALSE(job.status().started);
    job.start();
    const auto begun = job.status();
    EXPECT_TRUE(begun.started && begun.tasks.empty());

    const IndexRange range = *job.next(4);
    auto task = job.status().tasks.at(0);
    EXPECT_EQ(task.device, "fake");
    EXPECT_EQ(task.work_range.range, range);
    EXPECT_EQ(task.launches, 0u);
    EXPECT_GE(task.last_sign, begun.last_sign);

    auto expect_sign = [&, last = task.last_sign](std::uint64_t launches, std::uint64_t units_left,
                                                  std::size_t awaited) mutable {
        task = job.status().tasks.at(0);
        EXPECT_EQ(task.launches, launches);
        EXPECT_EQ(task.units_left, units_left);
        EXPECT_EQ(task.awaited, awaited);
        EXPECT_GT(task.last_sign, last);
        last = task.last_sign;
    };
    job.launched(4, range, 10, 2);
    expect_sign(1, 10, 2);
    job.inputs_came(4, range);
    expect_sign(1, 10, 0);
    job.launched(4, range, 7);
    expect_sign(2, 7, 0);
    const auto before = job.status();
    job.inputs_came(4, range); // told late: no sign of what happens now
    EXPECT_EQ(job.status().tasks.at(0).last_sign, before.tasks.at(0).last_sign);

    job.finished(4, {range}, {});
    EXPECT_TRUE(job.status().tasks.empty());
    EXPECT_EQ(job.status().finished, range.size());
    EXPECT_GT(job.status().last_sign, before.last_sign);
    job.inputs_came(4, range); // told too late
}

// ---- the runtime's
// ------------------------------------------------------------------------------------------------

/// See Stuck for `released`.
Job stuck(const std::string& name, const Domain<std::uint64_t>& turns, const std::uint32_t* released) {
    const char* const twin = "#define HEADRACE_PARAMETERS __global ulong* turns, uint ends\n"
                             "#define HEADRACE_ARGUMENTS turns, ends\n"
                             "void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {\n"
                             "    while (!ends) hr_atomic_add_ulong(turns, 1);\n"
                             "}\n";
    return Job(name, 64)
        .accumulates(turns)
        .kernel([turns, released](Task& task) {
            return Stuck{task.sum(turns), released};
        })
        .opencl({.name = name, .source = twin}, [turns, released](Task& task, OpenClArguments& arguments) {
            arguments.buffer(task.memory(turns)).value(std::uint32_t{released != nullptr});
        });
}

TEST(Watchdog, ReportsAStuckKernelAgainAndAgainUntilItGetsOn) {
    constexpr auto patience = 200ms;
    const test::LogLines log(LogLevel::error);
    std::atomic<unsigned> hangs = 0;
    Runtime runtime({.devices = "cpu", .patience = patience, .on_hang = [&] { ++hangs; }});
    const Domain<std::uint64_t> turns("turns", {1});
    std::uint32_t released = 0;
    const auto begin = Clock::now();
    const JobHandle held = runtime.submit(stuck("held", turns, &released));
    const JobHandle next = runtime.submit(stuck("next", turns, &released).after(held));
    const auto says_all = [](const std::string& line) { // not what is said before the launch, or `next`
        for (const char* words :
             {"job 'held', 0 of 64 work units finished: task [0, ", ") on cpu has given no sign of life for ",
              "launch 1 has not ended, which began with ", "job 'next' waits for jobs before it"})
            if (line.find(words) == std::string::npos) return false;
        return true;
    };
    EXPECT_TRUE(eventually([&] { return std::ranges::count_if(log.lines(), says_all) >= 2; }));
    const auto noticed = Clock::now() - begin;
    HostSync::store(released, 1u, HostSync::release); // pairs with the kernel's acquire
    next.wait();
    EXPECT_GE(hangs, 2u);
    EXPECT_GE(noticed, 2 * patience);
    const auto lines = log.lines();
    EXPECT_GE(std::ranges::count_if(lines, says_all), 2) << (lines.empty() ? "nothing" : lines.back());
}

TEST(Watchdog, LetsWorkThatGetsOnTakeItsTime) {
    on_a_quiet_machine([] {
        constexpr auto patience = 1s;
        const test::LogLines log(LogLevel::error);
        std::vector<std::unique_ptr<Device>> devices;
        devices.push_back(std::make_unique<headrace::test::FakeDevice>(
            headrace::test::FakeOptions{.id = "fake:0", .seed = 1}));
        Runtime runtime(std::move(devices), {.devices = "", .policy = "demand:40", .patience = patience});
        const auto begin = Clock::now();
        runtime
            .submit(Job("steady", 40).host_function("fake", [](Task&, const NativeStream&) { takes(80ms); }))
            .wait();
        EXPECT_GT(Clock::now() - begin, patience); // a job's time is its own
        EXPECT_EQ(log.lines(), std::vector<std::string>{});
    });
}

/// On a GPU nothing but the end of its process ends such a kernel. That process is the first to open the
/// device: where ours has had it, NVIDIA's OpenCL is not there for those that it begins.
class StuckKernel : public ::testing::TestWithParam<std::string> {};

TEST_P(StuckKernel, IsReportedAndLeftBehind) {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // the child begins anew: drivers do not survive a fork
    constexpr int left = 3, is_absent = 4;
    const auto leave_hanging = [] {
        if (const std::string why = absent(GetParam()); !why.empty()) {
            std::fprintf(stderr, "absent: %s\n", why.c_str());
            ::_exit(is_absent);
        }
        std::atomic<bool> is_built = false; // compilers take their time
        const auto leave = [&] {
            if (is_built) ::_exit(left);
        };
        Runtime runtime({.devices = GetParam(), .patience = 2s, .on_hang = leave});
        const Domain<std::uint64_t> turns("turns", {1});
        const std::uint32_t released = 1;
        runtime.submit(stuck("ends", turns, &released)).wait();
        is_built = true;
        runtime.submit(stuck("stuck", turns, nullptr)).wait();
    };
    int code = 0;
    const auto as_expected = [&](int status) {
        code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        return code == left || code == is_absent;
    };
    EXPECT_EXIT(
        leave_hanging(), as_expected,
        "absent: |job 'stuck', 0 of 64 work units finished: task \\[0, [0-9]+\\) on [a-z]+.* has given no "
        "sign of life for [0-9.]+ s: launch 1 has not ended");
    if (code != is_absent) return;
    ASSERT_FALSE(test::device_is_required(GetParam()));
    GTEST_SKIP() << absent(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Devices, StuckKernel, every_device(), test_name);

} // namespace
} // namespace headrace::test
