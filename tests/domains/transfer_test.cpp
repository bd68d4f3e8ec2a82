// tests/domains/transfer_test.cpp - devices that give others what they have not begun: nothing is lost,
// doubled or hidden, whoever fails.
#include <core/eventually.hpp>
#include <core/quiet_machine.hpp>
#include <domains/checked_mode.hpp>
#include <domains/fragile.kernels.hpp>
#include <domains/two_devices.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Both are lists of the same processors: two devices, which are equally fast.
std::unique_ptr<Runtime> two_cpus(MemoryModel memory, const std::string& policy) {
    std::vector<std::unique_ptr<Device>> devices;
    for (const char* id : {"cpu:a", "cpu:b"})
        devices.push_back(make_cpu_device(id, read_topology().quota, std::nullopt));
    return std::make_unique<Runtime>(std::move(devices),
                                     RuntimeOptions{.devices = "", .policy = policy, .memory = memory});
}

/// In place on the host's memory, and on copies of each device's own.
class Transfer : public testing::TestWithParam<MemoryModel> {
protected:
    static std::unique_ptr<Runtime> two_cpus(const std::string& policy) {
        return test::two_cpus(GetParam(), policy);
    }
};
INSTANTIATE_TEST_SUITE_P(On, Transfer, testing::Values(MemoryModel::natural, MemoryModel::buffers),
                         [](const auto& of) {
                             return of.param == MemoryModel::buffers ? "copies" : "host_memory";
                         });

/// One seed, so that one device has everything at first.
struct OneTree {
    static constexpr std::uint32_t depth = 24;
    static constexpr std::uint64_t units = (std::uint64_t{2} << depth) - 1;
    std::unique_ptr<Runtime> runtime = two_cpus(Transfer::GetParam(), "demand");
    Domain<std::uint32_t> nodes{"nodes", {1}};
    Shared shared;

    Job job(FragileTree::Loses loses) {
        return Job("tree", 1).accumulates(nodes).share_units().seeds(Roots{}).kernel(
            [this, loses](Task& task) {
                return FragileTree{task.sum(nodes), depth, loses, task.device().info().id == "cpu:a" ? 0 : 1,
                                   &shared};
            });
    }
};

std::uint64_t sum(const JobReport& report, std::uint64_t DeviceReport::*figure) {
    std::uint64_t sum = 0;
    for (const DeviceReport& device : report.devices) sum += device.*figure;
    return sum;
}

TEST_P(Transfer, AnIdleDeviceGetsUnitsOfTheOnlyTask) {
    on_a_quiet_machine([] {
        OneTree tree;
        const JobHandle handle = tree.runtime->submit(tree.job(FragileTree::Loses::nobody));
        handle.wait();
        ASSERT_EQ(tree.nodes.gather()[0], OneTree::units);
        const JobReport report = handle.report();
        EXPECT_GT(tree.shared.done[0], 0u);
        EXPECT_GT(tree.shared.done[1], 0u);
        std::uint64_t units = 0;
        for (const DeviceReport& device : report.devices) units += device.engine.units;
        EXPECT_EQ(units, OneTree::units);
        EXPECT_EQ(sum(report, &DeviceReport::work_units), 1u);
        EXPECT_GT(sum(report, &DeviceReport::units_transferred), 0u);
        EXPECT_EQ(sum(report, &DeviceReport::units_transferred), sum(report, &DeviceReport::units_received));
        EXPECT_NE(report.table().find("units to other devices"), std::string::npos) << report.table();
        EXPECT_EQ(handle.finished_units(), 1u);
    });
}

TEST_P(Transfer, AnIdleDeviceGetsAPartOfTheOnlyRange) {
    on_a_quiet_machine([] {
        constexpr std::uint64_t length = 50'000'000;
        const auto runtime = two_cpus("demand");
        const Domain<std::uint32_t> nodes{"nodes", {1}};
        Shared shared;
        Job job("row", 1);
        job.accumulates(nodes).share_units().seeds(OneRow{length}).kernel([&](Task& task) {
            return CountRow{task.sum(nodes), task.device().info().id == "cpu:a" ? 0 : 1, &shared};
        });
        const JobHandle handle = runtime->submit(job);
        handle.wait();
        ASSERT_EQ(nodes.gather()[0], length);
        EXPECT_GT(std::min(shared.done[0].load(), shared.done[1].load()), length / 100);
        const JobReport report = handle.report();
        std::uint64_t units = 0;
        for (const DeviceReport& device : report.devices) units += device.engine.units;
        EXPECT_EQ(units, length);
        EXPECT_GT(sum(report, &DeviceReport::units_transferred), length / 100);
        EXPECT_EQ(sum(report, &DeviceReport::units_transferred), sum(report, &DeviceReport::units_received));
    });
}

TEST_P(Transfer, WithoutLeaveToShareTheOnlyTaskStaysWhereItIs) {
    OneTree tree;
    Job job("tree", 1);
    job.accumulates(tree.nodes)
        .tune({.wishes = {}, .launch_time = 1ms})
        .seeds(Roots{})
        .kernel([&](Task& task) {
            return FragileTree{task.sum(tree.nodes), OneTree::depth, FragileTree::Loses::nobody,
                               task.device().info().id == "cpu:a" ? 0 : 1, &tree.shared};
        });
    const JobHandle handle = tree.runtime->submit(job);
    handle.wait();
    EXPECT_EQ(tree.nodes.gather()[0], OneTree::units);
    EXPECT_EQ(sum(handle.report(), &DeviceReport::units_transferred), 0u);
    EXPECT_EQ(std::min(tree.shared.done[0].load(), tree.shared.done[1].load()), 0u);
}

TEST_P(Transfer, WhatALostDeviceWasGivenIsDoneByOthers) {
    int rounds = 0;
    for (int tries = 0; rounds < 3; ++tries) {
        ASSERT_LT(tries, 20);
        OneTree tree;
        const JobHandle handle = tree.runtime->submit(tree.job(FragileTree::Loses::recipient));
        try {
            handle.wait();
        } catch (const Error& error) {
            // On a busy machine it may have given units, too, before it was lost: see below.
            ASSERT_NE(error.message().find("work units of it to other devices"), std::string::npos)
                << error.message();
            continue;
        }
        ++rounds;
        EXPECT_TRUE(tree.shared.lost);
        EXPECT_EQ(tree.nodes.gather()[0], OneTree::units);
        const JobReport report = handle.report();
        const auto& lost = report.devices[tree.shared.rooted == 0 ? 1 : 0];
        EXPECT_NE(lost.failure.find("gone in mid-job"), std::string::npos);
        EXPECT_NE(lost.failure.find("transferred units ["), std::string::npos) << lost.failure;
        EXPECT_EQ(lost.units_received, 0u);
    }
}

TEST_P(Transfer, ADeviceThatIsLostAfterItGaveFailsTheJobByName) {
    on_a_quiet_machine([] {
        OneTree tree;
        const JobHandle handle = tree.runtime->submit(tree.job(FragileTree::Loses::donor));
        try {
            handle.wait();
            FAIL() << "units that were given would be counted twice";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::device);
            EXPECT_EQ(error.device(), tree.shared.rooted == 0 ? "cpu:a" : "cpu:b");
            EXPECT_EQ(error.job(), "tree");
            EXPECT_NE(error.message().find("gone in mid-job"), std::string::npos) << error.message();
            EXPECT_NE(error.message().find("work units of it to other devices"), std::string::npos)
                << error.message();
        }
    });
}

TEST_P(Transfer, ACancelledJobDropsWhatWasTransferred) {
    on_a_quiet_machine([] {
        OneTree tree;
        const JobHandle handle = tree.runtime->submit(tree.job(FragileTree::Loses::nobody));
        ASSERT_TRUE(eventually([&] {
            return std::min(tree.shared.done[0].load(), tree.shared.done[1].load()) > 0 || handle.done();
        }));
        const auto asked = Clock::now();
        handle.cancel();
        EXPECT_THROW(handle.wait(), Error);
        EXPECT_LT(Clock::now() - asked, 2s);
    });
}

/// The device that has the job's only task at first is the slow one.
class SlowIsFirst {
public:
    bool operator()(const Task& task) {
        const int me = task.device().info().id == "cpu:a" ? 0 : 1;
        int nobody = -1;
        first_.compare_exchange_strong(nobody, me);
        return first_ == me;
    }
    [[nodiscard]] std::size_t slow() const { return static_cast<std::size_t>(first_.load()); }

private:
    std::atomic<int> first_{-1};
};

void expect_counted_once(const Domain<std::uint64_t>& bins, std::uint64_t size) {
    for (std::uint64_t bin = 0; bin < bins.size(); ++bin)
        EXPECT_EQ(bins.gather()[bin], size / bins.size() + (bin < size % bins.size() ? 1 : 0)) << bin;
}

TEST_P(Transfer, SeedsThatASlowDeviceHasNotBegunComeBack) {
    const auto runtime = two_cpus("demand:1");
    constexpr std::uint64_t size = 400'000;
    const Domain<std::uint64_t> bins("bins", {3});
    SlowIsFirst is_slow;
    const JobHandle handle = runtime->submit(Job("sluggish", size).accumulates(bins).kernel([&](Task& task) {
        return Sluggish{task.sum(bins), is_slow(task)};
    }));
    handle.wait();
    expect_counted_once(bins, size);
    const JobReport report = handle.report();
    EXPECT_EQ(sum(report, &DeviceReport::work_units), size);
    EXPECT_GT(report.devices[is_slow.slow()].seeds_transferred, size / 2) << report.table();
    EXPECT_LT(report.devices[is_slow.slow()].work_units, size / 2) << report.table();
}

/// None would pause by itself before all is done.
const EngineOptions one_launch{.wishes = {}, .first_rounds = 1u << 30, .launch_time = 1h};

TEST_P(Transfer, ALaunchPausesAsSoonAsSomebodyHasNothingToDo) {
    const auto runtime = two_cpus("demand:1");
    constexpr std::uint64_t size = 400'000;
    const Domain<std::uint64_t> bins("bins", {3});
    SlowIsFirst is_slow;
    const JobHandle handle =
        runtime->submit(Job("sluggish", size).accumulates(bins).tune(one_launch).kernel([&](Task& task) {
            return Sluggish{task.sum(bins), is_slow(task)};
        }));
    handle.wait();
    expect_counted_once(bins, size);
    const JobReport report = handle.report();
    EXPECT_GT(report.devices[is_slow.slow()].seeds_transferred, size / 2) << report.table();
    EXPECT_LT(report.devices[is_slow.slow()].work_units, size / 2) << report.table();
}

TEST_P(Transfer, ACancelledJobsLaunchIsNotWaitedFor) {
    const auto runtime = two_cpus("demand:1");
    const Domain<std::uint64_t> bins("bins", {3});
    std::atomic<int> bound = 0;
    const JobHandle handle = runtime->submit(
        Job("endless", std::uint64_t{1} << 40).accumulates(bins).tune(one_launch).kernel([&](Task& task) {
            ++bound;
            bound.notify_all();
            return Sluggish{task.sum(bins), true};
        }));
    bound.wait(0);
    handle.cancel();
    EXPECT_TRUE(handle.wait_for(100s));
    EXPECT_THROW(handle.wait(), Error);
}

TEST_P(Transfer, OtherLaunchesOfAFailedJobAreNotWaitedFor) {
    const auto runtime = two_cpus("static");
    const Domain<std::uint64_t> bins("bins", {3});
    const JobHandle handle = runtime->submit(
        Job("endless", std::uint64_t{1} << 40).accumulates(bins).tune(one_launch).kernel([&](Task& task) {
            return Sluggish{task.sum(bins), true, task.device().info().id == "cpu:b"};
        }));
    EXPECT_TRUE(handle.wait_for(100s));
    try {
        handle.wait();
        FAIL() << "it ended with success";
    } catch (const Error& error) {
        EXPECT_NE(error.message().find("it fails"), std::string::npos) << error.what();
    }
}

TEST_P(Transfer, AConsumerHasNoUnitsToGiveThoughItsJobMayShareThem) {
    const auto runtime = two_cpus("demand:1");
    constexpr std::uint64_t size = 20'000; // which takes the slow one several launches, all claimed
    const Domain<std::uint64_t> bins("bins", {3});
    SlowIsFirst is_slow;
    const JobHandle handle =
        runtime->submit(Job("sluggish", size).accumulates(bins).share_units().kernel([&](Task& task) {
            return Sluggish{task.sum(bins), is_slow(task)};
        }));
    handle.wait();
    expect_counted_once(bins, size);
    EXPECT_EQ(sum(handle.report(), &DeviceReport::units_transferred), 0u);
}

/// In place, a range that comes back is begun when the slow device has ended: that takes its time.
TEST(GivingOnCopies, WhatComesBackIsWrittenWhereItBelongs) {
    const auto runtime = two_cpus(MemoryModel::buffers, "demand:1");
    constexpr std::uint64_t size = 200'000;
    const Domain<std::uint32_t> in("in", {size}), out("out", {size});
    for (std::uint32_t round = 1; round <= 3; ++round) {
        std::uint32_t number = round;
        for (std::uint32_t& element : in.fill()) element = number += 7;
        SlowIsFirst is_slow;
        const JobHandle handle =
            runtime->submit(Job("sluggish", size).reads(rows(in)).writes(rows(out)).kernel([&](Task& task) {
                return SluggishRows{task.read(in), task.write(out), is_slow(task)};
            }));
        handle.wait();
        EXPECT_EQ(sum(handle.report(), &DeviceReport::work_units), size);
        EXPECT_GT(sum(handle.report(), &DeviceReport::seeds_transferred), 0u);
        number = round;
        for (const std::uint32_t element : out.gather()) ASSERT_EQ(element, 3 * (number += 7));
    }
}

TEST_P(Transfer, RangesThatComeBackAreCutWhereTheJobAllowsIt) {
    if (is_checked_mode()) GTEST_SKIP() << leaves_outputs_unwritten;
    const auto runtime = two_cpus("demand:1");
    constexpr std::uint64_t rows_count = 1000, units_per_row = 100, size = rows_count * units_per_row;
    const Domain<std::uint64_t> bins("bins", {3});
    const Domain<std::uint32_t> row("rows", {rows_count});
    SlowIsFirst is_slow;
    std::mutex mutex;
    std::vector<IndexRange> tasks;
    const JobHandle handle =
        runtime->submit(Job("sluggish", size).accumulates(bins).writes(rows(row)).kernel([&](Task& task) {
            const std::scoped_lock lock(mutex);
            tasks.push_back(task.range());
            return Sluggish{task.sum(bins), is_slow(task)};
        }));
    handle.wait();
    expect_counted_once(bins, size);
    EXPECT_EQ(sum(handle.report(), &DeviceReport::work_units), size);
    EXPECT_GT(sum(handle.report(), &DeviceReport::seeds_transferred), 0u);
    EXPECT_GT(tasks.size(), 1u);
    for (const IndexRange task : tasks) EXPECT_EQ(task.begin % units_per_row, 0u);
}

} // namespace
} // namespace headrace::test
