// tests/domains/job_test.cpp - jobs from registration to gather, on every device list of this machine.
#include <core/environment_variable.hpp>
#include <core/quiet_machine.hpp>
#include <core/seeds.hpp>
#include <devices/devices_fixture.hpp>
#include <devices/two_private_cpus.hpp>
#include <domains/checked_mode.hpp>
#include <domains/job.kernels.hpp>
#include <headrace/devices/cpu/arena.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

/// A device list that has kernels for everything here: the CPU, a GPU, both.
class Jobs : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (GetParam().find("cuda") == std::string::npos) return;
        if (const auto why = absent("cuda:0"); !why.empty()) {
            ASSERT_FALSE(device_is_required("cuda")) << why;
            GTEST_SKIP() << why;
        }
    }
    Runtime& runtime() {
        if (!runtime_)
            runtime_ = std::make_unique<Runtime>(RuntimeOptions{.devices = device_list(GetParam())});
        return *runtime_;
    }

private:
    const EnvironmentVariable nowhere_{"HEADRACE_CALIBRATIONS", ""}; // what others measured would be known
    std::unique_ptr<Runtime> runtime_;
};

TEST_P(Jobs, RowsInRowsOut) {
    constexpr std::uint64_t size = 100'003; // prime: no task size divides it
    std::vector<float> input(size);
    std::mt19937 random(fresh_seed());
    for (float& value : input) value = std::uniform_real_distribution<float>(-1, 1)(random);
    const Domain<float> in("in", std::span<float>(input));
    const Domain<float> out("out", {size});

    auto job = Job("scale", size).reads(rows(in)).writes(rows(out)).kernel([&](Task& task) {
        return Scale{task.read(in), task.write(out), 3.0F};
    });
    runtime().submit(job).wait();

    const auto result = out.gather();
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(result[i], 3.0F * input[i]) << i;
}

TEST_P(Jobs, UpdatesFollowEachOtherWhenOrdered) {
    constexpr std::uint64_t size = 4099;
    const Domain<std::uint32_t> x("x", {size});
    for (std::uint32_t& value : x.fill()) value = 7;
    const auto job = Job("increment", size).updates(rows(x)).in_order().kernel([&](Task& task) {
        return Increment{task.update(x)};
    });
    std::vector<JobHandle> handles;
    for (int i = 0; i < 10; ++i) handles.push_back(runtime().submit(job));
    for (const JobHandle& handle : handles) handle.wait();
    for (const std::uint32_t value : x.gather()) ASSERT_EQ(value, 17U);
}

TEST_P(Jobs, SumsFromAllDevicesAreAddedToWhatWasThere) {
    constexpr std::uint64_t bins_count = 13, size = 1'000'003;
    const Domain<std::uint64_t> bins("bins", {bins_count});
    for (std::uint64_t& bin : bins.fill()) bin = 1000;
    const auto job = Job("histogram", size).accumulates(bins).kernel([&](Task& task) {
        return Histogram{task.sum(bins)};
    });
    runtime().submit(job).wait();
    runtime().submit(job).wait();
    const auto result = bins.gather();
    for (std::uint64_t bin = 0; bin < bins_count; ++bin) {
        const std::uint64_t hits = size / bins_count + (bin < size % bins_count ? 1 : 0);
        EXPECT_EQ(result[bin], 1000 + 2 * hits) << bin;
    }
}

TEST_P(Jobs, SumsStartFromZeroWhereNobodyWrote) {
    const Domain<Pair> sums("sums", {5});
    auto job =
        Job("pairs", 5000).accumulates(sums).kernel([&](Task& task) { return AddPairs{task.sum(sums)}; });
    runtime().submit(job).wait();
    for (const Pair& pair : sums.gather()) {
        EXPECT_EQ(pair.x, 1000.0F);
        EXPECT_EQ(pair.y, 2000.0F);
    }
}

TEST_P(Jobs, EveryKindOfNumberIsSummedUp) {
    const Domain<std::int32_t> int32("int32", {1});
    const Domain<std::uint32_t> uint32("uint32", {1});
    const Domain<std::int64_t> int64("int64", {1});
    const Domain<std::uint64_t> uint64("uint64", {1});
    const Domain<long> one_long("long", {1});
    const Domain<long long> long_long("long long", {1});
    const Domain<float> float32("float", {1});
    const Domain<double> float64("double", {1});
    const auto job =
        Job("numbers", 1000)
            .accumulates(int32, uint32, int64, uint64, one_long, long_long, float32, float64)
            .kernel([&](Task& t) {
                return AddNumbers{t.sum(int32),    t.sum(uint32),    t.sum(int64),   t.sum(uint64),
                                  t.sum(one_long), t.sum(long_long), t.sum(float32), t.sum(float64)};
            });
    runtime().submit(job).wait();
    EXPECT_EQ(int32.gather()[0], -3000);
    EXPECT_EQ(uint32.gather()[0], 3000U);
    EXPECT_EQ(int64.gather()[0], -3'000'000'000'000);
    EXPECT_EQ(uint64.gather()[0], 3'000'000'000'000U);
    EXPECT_EQ(one_long.gather()[0], -5000);
    EXPECT_EQ(long_long.gather()[0], -7000);
    EXPECT_EQ(float32.gather()[0], -500); // of halves: exact
    EXPECT_EQ(float64.gather()[0], -250);
}

TEST_P(Jobs, EveryNodeOfEveryTreeIsVisitedOnce) {
    constexpr std::uint64_t seeds = 3001;
    const Domain<std::uint32_t> nodes("nodes", {seeds});
    auto job = Job("trees", seeds).accumulates(nodes).seeds(Roots{}).kernel([&](Task& task) {
        return Tree{task.sum(nodes), 9};
    });
    const JobHandle handle = runtime().submit(job);
    handle.wait();
    for (const std::uint32_t count : nodes.gather()) ASSERT_EQ(count, 1023U);

    const JobReport report = handle.report();
    std::uint64_t units = 0, spawned = 0;
    double share = 0;
    for (const DeviceReport& device : report.devices) {
        units += device.engine.units;
        spawned += device.engine.spawned;
        share += device.share;
    }
    EXPECT_EQ(units, seeds * 1023);
    EXPECT_EQ(spawned, seeds * 1022);
    EXPECT_NEAR(share, 1, 1e-12);
    EXPECT_EQ(handle.finished_units(), seeds);
}

TEST_P(Jobs, UnitsGoToDevicesThatHaveNothingToDo) {
    constexpr std::uint32_t depth = 22;
    const Domain<std::uint32_t> nodes("nodes", {1});
    Job job("one tree", 1);
    job.accumulates(nodes).share_units().tune({.wishes = {}, .launch_time = std::chrono::milliseconds(1)});
    job.seeds(Roots{}).kernel([&](Task& task) { return Tree{task.sum(nodes), depth}; });
    const JobHandle handle = runtime().submit(job);
    handle.wait();
    EXPECT_EQ(nodes.gather()[0], (2U << depth) - 1);
    std::uint64_t units = 0, given = 0, received = 0;
    for (const DeviceReport& device : handle.report().devices) {
        units += device.engine.units;
        given += device.units_transferred;
        received += device.units_received;
    }
    EXPECT_EQ(units, (2U << depth) - 1);
    EXPECT_EQ(given, received); // whether there is any is a matter of speed: transfer_test.cpp
}

TEST_P(Jobs, TheReportSaysHowTheEngineWasSetUp) {
    const Domain<std::uint32_t> nodes("nodes", {3001});
    auto job = Job("trees", 3001).accumulates(nodes).seeds(Roots{}).kernel([&](Task& task) {
        return Tree{task.sum(nodes), 5};
    });
    job.tune({.wishes = {.groups = 2, .liq_units = 64, .refill_percent = 100}, .bundles = 17});
    const JobHandle handle = runtime().submit(job);
    handle.wait();
    for (const DeviceReport& device : handle.report().devices) {
        const EngineChoice& choice = device.engine.choice;
        if (device.tasks == 0) continue;
        EXPECT_LE(choice.groups, 2U);
        EXPECT_EQ(choice.inbox_units, 64U);
        EXPECT_GE(choice.lanes, 1U);
        EXPECT_EQ(choice.refill_lanes, choice.lanes);
        EXPECT_GE(choice.bundles, 17U);
        EXPECT_GT(device.engine.lanes_at_work(), 0);
        EXPECT_LE(device.engine.lanes_at_work(), 1);
    }
}

TEST_P(Jobs, ShortTasksGoToLaunchesThatRun) {
    if (is_checked_mode()) GTEST_SKIP() << counts_launches;
    Runtime runtime(RuntimeOptions{.devices = device_list(GetParam()), .policy = "demand:5000"});
    constexpr std::uint64_t size = 1'000'003, seeds = 100'000;
    const Domain<std::uint64_t> bins("bins", {7});
    const Domain<std::uint32_t> nodes("nodes", {seeds});
    std::vector<float> ones(size, 1.0F);
    const Domain<float> in("in", std::span<float>(ones)), out("out", {size});
    const auto expect_fewer_launches = [&](const Job& job) {
        const JobHandle handle = runtime.submit(job);
        handle.wait();
        std::uint64_t units = 0, tasks = 0, launches = 0;
        const JobReport report = handle.report();
        for (const DeviceReport& device : report.devices) {
            units += device.work_units;
            tasks += device.tasks;
            launches += device.engine.launches;
        }
        EXPECT_EQ(units, job.work_units());
        EXPECT_GT(tasks, 1000U);
        EXPECT_LT(launches, tasks / 4) << report.table();
    };
    expect_fewer_launches(
        Job("count", size).accumulates(bins).kernel([&](Task& task) { return Histogram{task.sum(bins)}; }));
    for (std::uint64_t bin = 0; bin < 7; ++bin)
        EXPECT_EQ(bins.gather()[bin], size / 7 + (bin < size % 7 ? 1 : 0)) << bin;
    expect_fewer_launches(Job("trees", seeds).accumulates(nodes).seeds(Roots{}).kernel([&](Task& task) {
        return Tree{task.sum(nodes), 3};
    }));
    for (const std::uint32_t count : nodes.gather()) ASSERT_EQ(count, 15U);
    expect_fewer_launches(Job("scale", size).reads(rows(in)).writes(rows(out)).kernel([&](Task& task) {
        return Scale{task.read(in), task.write(out), 3.0F};
    }));
    for (const float value : out.gather()) ASSERT_EQ(value, 3.0F);
}

TEST_P(Jobs, ShortTasksWhoseKernelsDependOnTheirRangeHaveTheirOwn) {
    Runtime runtime(RuntimeOptions{.devices = device_list(GetParam()), .policy = "demand:5000"});
    constexpr std::uint64_t size = 1 << 20, block = 1 << 16;
    std::vector<float> ones(size, 1.0F);
    const Domain<float> in("in", std::span<float>(ones)), out("out", {size});
    runtime
        .submit(Job("scale", size).grain(64).reads(rows(in)).writes(rows(out)).kernel([&](Task& task) {
            const std::uint64_t number = task.range().begin / block;
            return Scale{task.read(in), task.write(out), static_cast<float>(number)};
        }))
        .wait();
    const auto result = out.gather();
    std::uint64_t others = 0; // tasks are short: few lie across two blocks
    for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t number = i / block;
        others += result[i] != static_cast<float>(number) ? 1 : 0;
    }
    EXPECT_LT(others, size / 100);
}

TEST_P(Jobs, MoveWhatTheirMemoryModelSays) {
    constexpr std::uint64_t size = 100'003;
    for (const MemoryModel model : {MemoryModel::natural, MemoryModel::unified, MemoryModel::buffers}) {
        Runtime runtime(RuntimeOptions{.devices = device_list(GetParam()), .memory = model});
        const auto pinned = [&](const char* name) {
            return Domain<float>(name, {size}, runtime.allocate_host(size * sizeof(float)));
        };
        const auto in = pinned("in"), out = pinned("out");
        std::ranges::fill(in.fill(), 2.0F);
        const JobHandle handle =
            runtime.submit(Job("scale", size).reads(rows(in)).writes(rows(out)).kernel([&](Task& task) {
                return Scale{task.read(in), task.write(out), 3.0F};
            }));
        handle.wait();
        for (const float value : out.gather()) ASSERT_EQ(value, 6.0F);
        const JobReport report = handle.report();
        for (const DeviceReport& device : report.devices) {
            const bool in_place = GetParam() != two_private_cpus &&
                                  (device.kind == DeviceKind::cpu ? model != MemoryModel::buffers
                                                                  : model == MemoryModel::unified);
            const std::uint64_t least = in_place ? 0 : device.work_units * sizeof(float);
            EXPECT_GE(device.bytes_in, least) << report.table();
            // Of two that copy, one may take over what the other one has copied.
            if (in_place || report.devices.size() == 1) {
                EXPECT_EQ(device.bytes_in, least) << report.table();
            }
        }
    }
}

TEST_P(Jobs, TasksWhoseKernelsDifferGetLaunchesOfTheirOwn) {
    Runtime runtime(RuntimeOptions{.devices = device_list(GetParam()), .policy = "demand:300"});
    constexpr std::uint64_t size = 100'003;
    std::vector<float> ones(size, 1.0F);
    const Domain<float> in("in", std::span<float>(ones)), out("out", {size});
    runtime
        .submit(Job("scale", size).reads(rows(in)).writes(rows(out)).kernel([&](Task& task) {
            return Scale{task.read(in), task.write(out), static_cast<float>(task.range().begin)};
        }))
        .wait();
    const auto result = out.gather();
    float last = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
        if (result[i] == last) continue;
        ASSERT_EQ(result[i], static_cast<float>(i)); // a task begins
        last = result[i];
    }
    EXPECT_GT(last, 0.0F);
}

TEST_P(Jobs, JobsWithShortTasksShareTheDevices) {
    Runtime runtime(RuntimeOptions{.devices = device_list(GetParam()), .policy = "demand:1000"});
    constexpr std::uint64_t seeds = 20'000;
    std::vector<Domain<std::uint32_t>> domains;
    std::vector<JobHandle> handles;
    for (int i = 0; i < 6; ++i) {
        domains.emplace_back("nodes", Extent{{seeds, 1, 1}});
        handles.push_back(runtime.submit(Job("trees", seeds)
                                             .accumulates(domains.back())
                                             .seeds(Roots{})
                                             .kernel([nodes = domains.back()](Task& task) {
                                                 return Tree{task.sum(nodes), 3};
                                             })));
    }
    handles[2].cancel();
    for (std::size_t i = 0; i < handles.size(); ++i) {
        if (i == 2) continue;
        handles[i].wait();
        for (const std::uint32_t count : domains[i].gather()) ASSERT_EQ(count, 15U);
    }
}

TEST_P(Jobs, LaterJobsSeeWhatEarlierOnesWrote) {
    constexpr std::uint64_t size = 1021;
    std::vector<float> ones(size, 1.0F);
    const Domain<float> a("a", std::span<float>(ones)), b("b", {size}), c("c", {size});
    const auto first = runtime().submit(Job("first", size).reads(a).writes(rows(b)).kernel([&](Task& task) {
        return Scale{task.read(a), task.write(b), 2.0F};
    }));
    const auto second =
        runtime().submit(Job("second", size).reads(b).writes(rows(c)).after(first).kernel([&](Task& task) {
            return Scale{task.read(b), task.write(c), 5.0F};
        }));
    second.wait();
    for (const float value : c.gather()) ASSERT_EQ(value, 10.0F);
}

TEST_P(Jobs, CancelledJobsEndSoonAndSaySo) {
    on_a_quiet_machine([this] {
        const Domain<std::uint64_t> turns("turns", {1});
        auto job = Job("spin", std::uint64_t{1} << 40).accumulates(turns).kernel([&](Task& task) {
            return Spin{task.sum(turns)};
        });
        const JobHandle handle = runtime().submit(job);
        EXPECT_FALSE(handle.wait_for(std::chrono::milliseconds(300)));
        const auto asked = std::chrono::steady_clock::now();
        handle.cancel();
        try {
            handle.wait();
            FAIL() << "it ended with success";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::cancelled);
        }
        EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(1));
    });
}

/// While the long job runs, and it would not end within years, a more urgent job ends, and one as urgent.
void expect_others_to_end(Runtime& runtime, const Job& long_one) {
    const JobHandle runs = runtime.submit(long_one);
    EXPECT_FALSE(runs.wait_for(std::chrono::milliseconds(100)));
    for (const int priority : {1, 0, 0}) {
        SCOPED_TRACE("priority " + std::to_string(priority));
        const Domain<std::uint64_t> bins("bins", {7});
        const JobHandle counts =
            runtime.submit(Job("count", 70'000).accumulates(bins).priority(priority).kernel([&](Task& task) {
                return Histogram{task.sum(bins)};
            }));
        EXPECT_TRUE(counts.wait_for(std::chrono::seconds(100)));
        counts.cancel();
        EXPECT_FALSE(runs.done());
    }
    runs.cancel();
    EXPECT_THROW(runs.wait(), Error);
}

/// Each device has its share of the long one in one task, or in one for each of its places.
TEST_P(Jobs, OthersDoNotWaitForALongOne) {
    for (const char* const policy : {"static", "dynamic:4"}) {
        SCOPED_TRACE(policy);
        const Domain<std::uint64_t> turns("turns", {1});
        expect_others_to_end(
            runtime(),
            Job("spin", std::uint64_t{1} << 40).accumulates(turns).policy(policy).kernel([&](Task& task) {
                return Spin{task.sum(turns)};
            }));
    }
}

/// The same where all that the long one has left is begun with: its tasks could not end early.
TEST_P(Jobs, OthersDoNotWaitForOneThatSpawnsWithoutEnd) {
    for (const char* const policy : {"static", "dynamic:4", "dynamic:100"}) {
        SCOPED_TRACE(policy);
        const Domain<std::uint64_t> turns("turns", {1});
        expect_others_to_end(
            runtime(),
            Job("endless", 100).accumulates(turns).policy(policy).seeds(Roots{}).kernel([&](Task& task) {
                return Endless{task.sum(turns)};
            }));
    }
}

TEST_P(Jobs, DestroyingTheRuntimeEndsItsJobs) {
    const Domain<std::uint64_t> turns("turns", {1});
    std::optional<JobHandle> handle;
    {
        Runtime runtime(RuntimeOptions{.devices = device_list(GetParam())});
        handle =
            runtime.submit(Job("spin", std::uint64_t{1} << 40).accumulates(turns).kernel([&](Task& task) {
                return Spin{task.sum(turns)};
            }));
    }
    ASSERT_TRUE(handle->done());
    EXPECT_THROW(handle->wait(), Error);
    handle->cancel(); // nobody is left to hear of it
}

TEST_P(Jobs, ReportIsCompleteAndAddsUp) {
    const Domain<std::uint64_t> bins("bins", {7});
    const auto handle = runtime().submit(
        Job("count", 70'000).accumulates(bins).kernel([&](Task& task) { return Histogram{task.sum(bins)}; }));
    handle.wait();
    const JobReport report = handle.report();
    EXPECT_EQ(report.job, "count");
    EXPECT_EQ(report.work_units, 70'000U);
    std::uint64_t units = 0;
    for (const DeviceReport& device : report.devices) units += device.work_units;
    EXPECT_EQ(units, 70'000U);
    EXPECT_GT(report.seconds, 0);
    ASSERT_TRUE(report.balance.value);
    EXPECT_LE(*report.balance.value, 1);
    EXPECT_FALSE(report.heterogeneous_efficiency.value);
    EXPECT_FALSE(report.heterogeneous_efficiency.why_absent.empty());
    EXPECT_NE(report.table().find("count"), std::string::npos);
}

std::string by_devices(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    for (char& letter : name)
        if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
    return name;
}
INSTANTIATE_TEST_SUITE_P(On, Jobs, testing::Values("cpu", two_private_cpus, "cuda:0", "cpu,cuda:0"),
                         by_devices);

/// How many launches such a job takes, on the runtime's only device.
class LaunchesOfJobs : public Jobs {
protected:
    static constexpr std::uint64_t size = 7'000'000;

    std::uint64_t launches(Runtime& runtime, const std::string& kernel_name, std::uint64_t units = size) {
        const Domain<std::uint64_t> bins("bins", {7});
        const JobHandle handle =
            runtime.submit(Job("count", units)
                               .kernel_name(kernel_name)
                               .tune({.wishes = {}, .launch_time = std::chrono::seconds(10)})
                               .accumulates(bins)
                               .kernel([&](Task& task) { return Histogram{task.sum(bins)}; }));
        handle.wait();
        EXPECT_EQ(bins.gather()[6], units / 7);
        return handle.report().devices.at(0).engine.launches;
    }
};

TEST_P(LaunchesOfJobs, AreFewerWhereBudgetsAreKnownOfTheKernel) {
    on_a_quiet_machine([this] {
        Runtime runtime(RuntimeOptions{.devices = device_list(GetParam()), .policy = "static", .window = 1});
        EXPECT_GT(launches(runtime, "one"), 1U);
        // Half of it: groups need not have the same share, and one that has more than its budget ends a
        // launch.
        EXPECT_EQ(launches(runtime, "one", size / 2), 1U);
        EXPECT_GT(launches(runtime, "another"), 1U);
        EXPECT_GT(launches(runtime, "another", size / 4), 1U) << "of another size";
    });
}

TEST_P(LaunchesOfJobs, AreFedAtOnceWhereTasksAreKnownToBeShort) {
    if (is_checked_mode()) GTEST_SKIP() << counts_launches;
    on_a_quiet_machine([this] {
        Runtime runtime(
            RuntimeOptions{.devices = device_list(GetParam()), .policy = "demand:5000", .window = 1});
        EXPECT_GT(launches(runtime, "one"), 1U);
        EXPECT_EQ(launches(runtime, "one"), 1U);
    });
}

/// Each is long, and has a lane group to itself.
TEST_P(LaunchesOfJobs, AreFedWithTasksThatLeaveLanesIdle) {
    if (is_checked_mode()) GTEST_SKIP() << counts_launches;
    struct OneGroupEach final : Policy {
        std::uint64_t next(std::size_t device, const Progress& progress) override {
            return std::min(progress.devices[device].least, progress.remaining);
        }
    };
    Runtime runtime(RuntimeOptions{.devices = device_list(GetParam())});
    const DeviceInfo& info = *runtime.devices().front();
    if (info.compute_units < 4) GTEST_SKIP() << "a task for each of " << info.compute_units << " groups";
    const std::uint64_t units = 24 * std::uint64_t{info.lane_group};
    const Domain<float> x("x", {units});
    for (float& value : x.fill()) value = 1;
    const JobHandle handle = runtime.submit(
        Job("settle", units)
            .policy([] { return std::make_unique<OneGroupEach>(); }, "one group each")
            .tune({.wishes = {}, .launch_time = std::chrono::minutes(1)}) // no launch ends before its tasks
            .updates(rows(x))
            .kernel([x](Task& task) {
                return Settle{task.update(x), 20'000'000};
            }));
    handle.wait();
    for (const float value : x.gather()) ASSERT_EQ(value, 2.0F);
    const JobReport report = handle.report();
    EXPECT_EQ(report.devices.at(0).tasks, 24U);
    EXPECT_LE(report.devices.at(0).engine.launches, 6U) << report.table();
}
INSTANTIATE_TEST_SUITE_P(Each, LaunchesOfJobs, testing::Values("cpu", "cuda:0"), by_devices);

TEST(HostFunction, GetsTheNativeStream) {
    Runtime runtime(RuntimeOptions{.devices = "cpu"});
    const Domain<std::uint32_t> x("x", {1000});
    const auto handle =
        runtime.submit(Job("host function", 1000)
                           .writes(rows(x))
                           .host_function("cpu", [&](Task& task, const NativeStream& stream) {
                               const auto view = task.write(x);
                               const IndexRange range = task.range();
                               static_cast<CpuArena*>(stream.stream)
                                   ->run(static_cast<unsigned>(range.size()), [&](unsigned i) {
                                       view[range.begin + i] =
                                           static_cast<std::uint32_t>(range.begin + i) * 3;
                                   });
                           }));
    handle.wait();
    const auto result = x.gather();
    for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(result[i], 3 * i);
}

} // namespace
} // namespace headrace::test
