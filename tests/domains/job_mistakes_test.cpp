// tests/domains/job_mistakes_test.cpp - jobs that cannot be, and jobs whose kernel or device fails.
#include <domains/fragile.kernels.hpp>
#include <domains/job.kernels.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace headrace::test {
namespace {

ErrorKind kind_of(const auto& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind();
    }
    ADD_FAILURE() << "no error";
    return ErrorKind::internal;
}

TEST(JobMistakes, AKernelThatThrowsFailsItsJobByName) {
    Runtime runtime(RuntimeOptions{.devices = "cpu"});
    const auto handle =
        runtime.submit(Job("thrower", 10'000).kernel([](Task&) { return Thrower{.at = 7777}; }));
    try {
        handle.wait();
        FAIL() << "it ended with success";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
        EXPECT_EQ(error.job(), "thrower");
        EXPECT_EQ(error.device(), "cpu");
    }
    // The device is not to blame and goes on.
    const Domain<std::uint64_t> bins("bins", {3});
    runtime
        .submit(
            Job("next", 30).accumulates(bins).kernel([&](Task& task) { return Histogram{task.sum(bins)}; }))
        .wait();
    for (const std::uint64_t bin : bins.gather()) EXPECT_EQ(bin, 10U);
}

TEST(LostDevice, TasksThatWereFedToItAreDoneElsewhere) {
    // Both are lists of the same processors: two devices, of which the first that comes to the index is lost.
    for (const std::uint64_t at : {0, 60'000, 199'999}) {
        std::vector<std::unique_ptr<Device>> devices;
        for (const char* id : {"cpu:a", "cpu:b"})
            devices.push_back(make_cpu_device(id, read_topology().quota, std::nullopt));
        Runtime runtime(std::move(devices), RuntimeOptions{.devices = "", .policy = "demand:2000"});
        constexpr std::uint64_t size = 200'000;
        const Domain<std::uint64_t> bins("bins", {3});
        std::atomic<bool> lost = false;
        const JobHandle handle =
            runtime.submit(Job("fragile", size).accumulates(bins).kernel([&](Task& task) {
                return Fragile{task.sum(bins), at, &lost, task.device().info().id.c_str()};
            }));
        handle.wait();
        for (std::uint64_t bin = 0; bin < 3; ++bin)
            EXPECT_EQ(bins.gather()[bin], size / 3 + (bin < size % 3 ? 1 : 0)) << bin;
        std::uint64_t units = 0, failures = 0;
        for (const DeviceReport& device : handle.report().devices) {
            units += device.work_units;
            failures += device.failure.empty() ? 0 : 1;
        }
        EXPECT_EQ(units, size);
        EXPECT_EQ(failures, 1U);
    }
}

TEST(JobMistakes, FailureReachesSuccessors) {
    Runtime runtime(RuntimeOptions{.devices = "cpu"});
    const auto first = runtime.submit(Job("thrower", 10).kernel([](Task&) { return Thrower{.at = 3}; }));
    const auto second =
        runtime.submit(Job("successor", 10).after(first).kernel([](Task&) { return Thrower{.at = 11}; }));
    EXPECT_EQ(kind_of([&] { second.wait(); }), ErrorKind::kernel);
}

/// The callback is asked once more when the job has failed, for what it was to write.
TEST(JobMistakes, APartitionCallbackThatFailsFailsItsJobAlone) {
    Runtime runtime(RuntimeOptions{.devices = "cpu", .policy = "dynamic:50"});
    const Domain<std::uint32_t> x("x", {1000});
    const auto throws = [](IndexRange units) {
        if (units.end > 300) throw Error{ErrorKind::unsupported, "no part"};
        return units;
    };
    const auto exceeds = [](IndexRange units) { return IndexRange{units.begin, units.end + 1}; };
    for (const PartOf& callback : {PartOf(throws), PartOf(exceeds)}) {
        std::ranges::fill(x.fill(), 1U);
        const auto job = Job("parts", 1000).updates(part(x, callback)).kernel([&](Task& task) {
            return Increment{task.update(x)};
        });
        EXPECT_THROW(runtime.submit(job).wait(), Error);
        EXPECT_THROW(static_cast<void>(x.gather()), Error);
    }
    std::ranges::fill(x.fill(), 1U);
    runtime
        .submit(
            Job("rows", 1000).updates(rows(x)).kernel([&](Task& task) { return Increment{task.update(x)}; }))
        .wait();
    for (const std::uint32_t value : x.gather()) ASSERT_EQ(value, 2U);
}

TEST(JobMistakes, AJobWithoutAKernelForAnyDeviceIsRefused) {
    Runtime runtime(RuntimeOptions{.devices = "cpu"});
    const Job job("nothing", 10);
    EXPECT_EQ(kind_of([&] { runtime.submit(job); }), ErrorKind::unsupported);
}

TEST(JobMistakes, UndeclaredAccessIsFoundOut) {
    Runtime runtime(RuntimeOptions{.devices = "cpu"});
    std::vector<float> data(10);
    const Domain<float> in("in", std::span<float>(data)), out("out", {10});
    const auto handle = runtime.submit(Job("sly", 10).reads(in, out).kernel([&](Task& task) {
        return Scale{task.read(in), task.write(out), 1.0F};
    }));
    EXPECT_EQ(kind_of([&] { handle.wait(); }), ErrorKind::invalid_argument);
}

TEST(JobMistakes, ShapesThatCannotBe) {
    EXPECT_EQ(kind_of([] { Domain<float>("empty", {0}); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([] { Domain<float>("huge", {1ULL << 62, 1ULL << 62}); }), ErrorKind::invalid_argument);
    const Domain<float> x("x", {10});
    EXPECT_EQ(kind_of([&] { Job("uneven", 15).reads(rows(x)); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { Job("twice", 10).reads(x).writes(rows(x)); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([] { Runtime(RuntimeOptions{.devices = "cpu", .policy = "no such"}); }),
              ErrorKind::not_found);
    EXPECT_EQ(kind_of([] { Runtime(RuntimeOptions{.devices = "abacus:3"}); }), ErrorKind::not_found);
}

} // namespace
} // namespace headrace::test
