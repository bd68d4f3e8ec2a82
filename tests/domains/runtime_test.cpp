// tests/domains/runtime_test.cpp - several devices that share a job, disagree in speed, and fail.
#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <core/seeds.hpp>
#include <domains/checked_mode.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

namespace headrace {
namespace {

using test::FakeDevice;
using test::FakeOptions;
using test::FakeRequest;

struct Fakes {
    FakeDevice* first;
    FakeDevice* second;
    std::unique_ptr<Runtime> runtime;

    explicit Fakes(Bytes memory_of_second = Bytes{1} << 30) {
        const std::uint64_t seed = test::fresh_seed();
        auto one = std::make_unique<FakeDevice>(
            FakeOptions{.id = "fake:0", .longest_delay = std::chrono::microseconds(200), .seed = seed});
        auto two = std::make_unique<FakeDevice>(FakeOptions{.id = "fake:1",
                                                            .longest_delay = std::chrono::microseconds(200),
                                                            .seed = seed + 1000,
                                                            .memory = memory_of_second,
                                                            .peak_gflops = 500});
        first = one.get();
        second = two.get();
        std::vector<std::unique_ptr<Device>> devices;
        devices.push_back(std::move(one));
        devices.push_back(std::move(two));
        runtime = std::make_unique<Runtime>(
            std::move(devices), RuntimeOptions{.devices = "", .policy = "demand:40", .model = "peak"});
    }
};

/// Keeps each device's first task until the other one has begun one, too: both take part, whoever is faster.
std::function<void()> meeting(const Fakes& fakes) {
    const auto launches = [](const FakeDevice& device) { return device.requests(FakeRequest::launch); };
    const unsigned first = launches(*fakes.first), second = launches(*fakes.second);
    return [=, &one = *fakes.first, &other = *fakes.second] {
        static_cast<void>(test::eventually(
            [&] { return launches(one) != first && launches(other) != second; }, std::chrono::seconds(20)));
    };
}

/// Writes i at i.
Job iota(
    const Domain<std::uint64_t>& x, const std::function<void()>& meet = [] {}) {
    return Job("iota", x.size())
        .writes(rows(x))
        .host_function("fake", [x, meet](Task& task, const NativeStream&) {
            meet();
            const auto view = task.write(x);
            for (std::uint64_t i = task.range().begin; i < task.range().end; ++i) view[i] = i;
        });
}

/// Adds every index once to one sum.
Job sum_up(const Domain<std::uint64_t>& sum, std::uint64_t size, const std::function<void()>& meet) {
    return Job("sum", size)
        .accumulates(sum)
        .host_function("fake", [sum, meet](Task& task, const NativeStream&) {
            meet();
            const auto total = task.sum(sum);
            for (std::uint64_t i = task.range().begin; i < task.range().end; ++i) total.add(0, i);
        });
}

TEST(Runtime, ADeviceThatDoesNotStartIsLeftToItself) {
    const auto make = [](std::initializer_list<bool> start) {
        std::vector<std::unique_ptr<Device>> devices;
        for (const bool starts : start)
            devices.push_back(std::make_unique<FakeDevice>(
                FakeOptions{.id = "fake:" + std::to_string(devices.size()), .makes_streams = starts}));
        return std::make_unique<Runtime>(std::move(devices), RuntimeOptions{.model = "peak"});
    };
    const auto runtime = make({false, true, true});
    ASSERT_EQ(runtime->devices().size(), 2u);
    ASSERT_EQ(runtime->left_out().size(), 1u);
    EXPECT_EQ(runtime->left_out().front().id, "fake:0");
    EXPECT_NE(runtime->left_out().front().why.find("no stream"), std::string::npos);
    const Domain<std::uint64_t> x("x", {1007});
    const JobHandle job = runtime->submit(iota(x));
    job.wait();
    for (std::uint64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x.gather()[i], i);
    EXPECT_EQ(job.report().devices.front().id, "fake:1");
    EXPECT_NE(job.report().table().find("fake:0"), std::string::npos) << "the report says who is missing";
    EXPECT_THROW(make({false, false}), Error);
    EXPECT_THROW(make({}), Error);
}

TEST(Runtime, TheNextTasksDataComeWhileOneRuns) {
    auto owned = std::make_unique<FakeDevice>(FakeOptions{});
    FakeDevice& device = *owned;
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(std::move(owned));
    Runtime runtime(std::move(devices), {.policy = "dynamic:2", .model = "peak"});
    const Domain<int> x("x", {1000});
    std::ranges::fill(x.fill(), 1);
    std::atomic<Bytes> came = 0; // while the first one ran
    std::atomic_flag is_not_first;
    runtime
        .submit(Job("read", x.size())
                    .reads(rows(x))
                    .host_function("fake",
                                   [&](Task&, const NativeStream&) {
                                       if (is_not_first.test_and_set()) return;
                                       static_cast<void>(test::eventually(
                                           [&] { return (came = device.bytes_in()) >= 1000 * sizeof(int); },
                                           std::chrono::seconds(20)));
                                   }))
        .wait();
    EXPECT_EQ(came, 1000 * sizeof(int));
}

TEST(Runtime, DevicesShareAJob) {
    Fakes fakes;
    const Domain<std::uint64_t> x("x", {10'007});
    const JobHandle handle = fakes.runtime->submit(iota(x, meeting(fakes)));
    handle.wait();
    const auto result = x.gather();
    for (std::uint64_t i = 0; i < x.size(); ++i) ASSERT_EQ(result[i], i);
    const JobReport report = handle.report();
    ASSERT_EQ(report.devices.size(), 2U);
    EXPECT_GT(report.devices[0].tasks, 0U);
    EXPECT_GT(report.devices[1].tasks, 0U);
    EXPECT_DOUBLE_EQ(report.devices[1].capability, 0.5);
}

TEST(Runtime, WhatItsJobsWroteOutlivesIt) {
    const Domain<std::uint64_t> x("x", {1000});
    {
        const Fakes fakes;
        fakes.runtime->submit(iota(x)).wait();
    }
    for (std::uint64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x.gather()[i], i);
    const Fakes others;
    others.runtime
        ->submit(Job("add", x.size())
                     .updates(rows(x))
                     .host_function("fake",
                                    [=](Task& task, const NativeStream&) {
                                        for (auto i = task.range().begin; i < task.range().end; ++i)
                                            task.update(x)[i] += 1;
                                    }))
        .wait();
    for (std::uint64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x.gather()[i], i + 1);
}

TEST(Runtime, WhatItCannotBringToTheHostIsAnError) {
    const Domain<std::uint64_t> x("x", {1000}), y("y", {1000});
    const Fakes others;
    others.runtime->submit(iota(y)).wait();
    {
        const Fakes fakes;
        fakes.runtime->submit(iota(x)).wait();
        for (FakeDevice* device : {fakes.first, fakes.second}) device->fail_next(FakeRequest::copy_out);
    }
    try {
        static_cast<void>(x.gather());
        ADD_FAILURE() << "it was there";
    } catch (const Error& error) {
        EXPECT_NE(error.message().find("failed on demand"), std::string::npos) << error.what();
    }
    for (std::uint64_t i = 0; i < y.size(); ++i) ASSERT_EQ(y.gather()[i], i);
    others.runtime->submit(iota(x)).wait();
    for (std::uint64_t i = 0; i < x.size(); ++i) ASSERT_EQ(x.gather()[i], i);
}

TEST(Runtime, DomainsMayLieInADevicesHostMemory) {
    Fakes fakes;
    const auto host = fakes.runtime->allocate_host(1000 * sizeof(std::uint64_t));
    const Domain<std::uint64_t> x("x", {1000}, host);
    fakes.runtime->submit(iota(x)).wait();
    const auto elements = x.gather();
    EXPECT_EQ(elements.data(), host.get());
    EXPECT_EQ(elements[999], 999u);
}

TEST(Runtime, WritingFetchesNothing) {
    if (is_checked_mode()) GTEST_SKIP() << test::counts_moved_bytes;
    Fakes fakes;
    const Domain<std::uint64_t> x("x", {1000});
    static_cast<void>(x.fill());
    fakes.runtime->submit(iota(x)).wait();
    EXPECT_EQ(fakes.first->bytes_in() + fakes.second->bytes_in(), 0U);
    static_cast<void>(x.gather());
    EXPECT_EQ(fakes.first->bytes_out() + fakes.second->bytes_out(), 8000U);
}

TEST(Runtime, WhatADeviceLostIsComputedElsewhere) {
    for (int round = 0; round < 20; ++round) {
        Fakes fakes;
        const Domain<std::uint64_t> x("x", {10'007});
        fakes.first->fail_next(FakeRequest::launch, 1);
        const JobHandle handle = fakes.runtime->submit(iota(x, meeting(fakes)));
        handle.wait();
        const auto result = x.gather();
        for (std::uint64_t i = 0; i < x.size(); ++i) ASSERT_EQ(result[i], i);
        EXPECT_NE(handle.report().devices[0].failure.find("failed on demand"), std::string::npos);
        // The next job knows.
        const JobHandle next = fakes.runtime->submit(iota(x));
        next.wait();
        ASSERT_EQ(next.report().devices.size(), 1U);
        EXPECT_EQ(next.report().left_out[0].id, "fake:0");
    }
}

TEST(Runtime, SumsOfALostDeviceAreTakenAgain) {
    for (int round = 0; round < 20; ++round) {
        Fakes fakes;
        constexpr std::uint64_t size = 10'007;
        const Domain<std::uint64_t> sum("sum", {1});
        // Some launches go well first: what they summed up is lost as well.
        std::atomic<int> launches = 0;
        Job job =
            Job("sum", size).accumulates(sum).host_function("fake", [&](Task& task, const NativeStream&) {
                if (task.device().info().id == "fake:0" && ++launches == 4)
                    throw Error{ErrorKind::device, "gone in mid-job"};
                const auto total = task.sum(sum);
                for (std::uint64_t i = task.range().begin; i < task.range().end; ++i) total.add(0, i);
            });
        fakes.runtime->submit(job).wait();
        EXPECT_EQ(sum.gather()[0], size * (size - 1) / 2);
    }
}

TEST(Runtime, SumsOfEndedJobsAreLostWithTheirDevice) {
    Fakes fakes;
    const Domain<std::uint64_t> sum("sum", {1}), x("x", {100});
    fakes.runtime->submit(sum_up(sum, 1000, meeting(fakes))).wait();
    fakes.first->fail_next(FakeRequest::launch, 1);
    fakes.runtime->submit(iota(x, meeting(fakes))).wait();
    try {
        static_cast<void>(sum.gather());
        FAIL() << "sums that are gone were reported";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
    }
}

TEST(Runtime, AllDevicesLostIsAnError) {
    Fakes fakes;
    const Domain<std::uint64_t> x("x", {1000});
    fakes.first->fail_next(FakeRequest::launch, 1);
    fakes.second->fail_next(FakeRequest::launch, 1);
    const JobHandle handle = fakes.runtime->submit(iota(x));
    EXPECT_THROW(handle.wait(), Error);
    EXPECT_THROW(fakes.runtime->submit(iota(x)), Error);
}

TEST(Runtime, ADeviceTooSmallIsLeftOutInWords) {
    Fakes fakes(4096);
    const Domain<std::uint64_t> x("x", {10}), table("table", {1000});
    std::ranges::fill(table.fill(), std::uint64_t{1});
    const JobHandle handle = fakes.runtime->submit(iota(x).reads(table));
    handle.wait();
    const JobReport report = handle.report();
    ASSERT_EQ(report.left_out.size(), 1U);
    EXPECT_EQ(report.left_out[0].id, "fake:1");
    EXPECT_NE(report.left_out[0].why.find("'table' needs 8000 bytes"), std::string::npos);
}

TEST(Runtime, WhatNoDeviceHoldsIsTheUsersMistake) {
    Fakes fakes;
    const Domain<std::uint64_t> x("x", {10}), table("table", {std::uint64_t{1} << 40});
    try {
        fakes.runtime->submit(iota(x).reads(table));
        FAIL() << "it was taken";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_users_mistake());
        EXPECT_NE(std::string(error.what()).find("fake:1"), std::string::npos);
    }
}

TEST(Runtime, JobsRunBesideEachOther) {
    Fakes fakes;
    std::vector<Domain<std::uint64_t>> domains;
    std::vector<JobHandle> handles;
    for (int i = 0; i < 20; ++i) {
        domains.emplace_back(std::to_string(i), Extent{{501, 1, 1}});
        handles.push_back(fakes.runtime->submit(iota(domains.back())));
    }
    for (const JobHandle& handle : handles) handle.wait();
    for (const auto& domain : domains) {
        const auto result = domain.gather();
        for (std::uint64_t i = 0; i < domain.size(); ++i) ASSERT_EQ(result[i], i);
    }
}

} // namespace
} // namespace headrace
