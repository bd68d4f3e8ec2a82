// tests/domains/access_test.cpp - what an access means does not depend on how many devices take part: what is
// written anywhere, whole or in parts, on every device list of this machine.
#include <core/fake_device.hpp>
#include <core/log_lines.hpp>
#include <domains/access.kernels.hpp>
#include <domains/device_lists.hpp>
#include <headrace/domains/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

using Accesses = OnDeviceLists;
INSTANTIATE_TEST_SUITE_P(On, Accesses, device_lists(), by_list);

TEST_P(Accesses, ScatteredElementsComeTogetherWhicheverDeviceWroteThem) {
    constexpr std::uint64_t size = 100'003, units = 60'000; // units write every second element or so
    std::vector<std::uint32_t> to(size);
    std::iota(to.begin(), to.end(), 0);
    std::ranges::shuffle(to, random_);
    const Domain<std::uint32_t> where("where", {size});
    std::ranges::copy(to, where.fill().begin());
    const Domain<std::uint64_t> x("x", {size});
    for (const bool is_written : {false, true, true}) {
        const std::uint64_t there = is_written ? 77 : 0;
        if (is_written) std::ranges::fill(x.fill(), there);
        const auto job = Job("scatter", units).reads(where).scatters(x).kernel([&](Task& task) {
            return Permute{task.read(where), task.scatter(x), 1000};
        });
        const JobHandle handle = runtime().submit(job);
        handle.wait();
        const auto result = x.gather();
        for (std::uint64_t i = 0; i < units; ++i) ASSERT_EQ(result[to[i]], 1000 + i) << to[i];
        for (std::uint64_t i = units; i < size; ++i) ASSERT_EQ(result[to[i]], there) << to[i];
    }
    // A second scattering finds what the first one has left.
    std::ranges::copy(to, where.fill().begin());
    std::ranges::reverse(where.fill());
    runtime()
        .submit(Job("scatter the rest", size - units).reads(where).scatters(x).kernel([&](Task& task) {
            return Permute{task.read(where), task.scatter(x), 5000};
        }))
        .wait();
    const auto result = x.gather();
    for (std::uint64_t i = 0; i < units; ++i) ASSERT_EQ(result[to[i]], 1000 + i);
    for (std::uint64_t i = units; i < size; ++i) ASSERT_EQ(result[to[i]], 5000 + (size - 1 - i));
}

TEST_P(Accesses, ElementsOfAnySizeAreScatteredWhole) {
    constexpr std::uint64_t size = 30'011;
    const Domain<Odd> odd("odd", {size});
    const Domain<std::uint8_t> bytes("bytes", {size});
    for (Odd& one : odd.fill()) one = {{9, 9, 9}};
    std::ranges::fill(bytes.fill(), std::uint8_t{1});
    runtime()
        .submit(Job("odd", size).scatters(odd, bytes).kernel([&](Task& task) {
            return ScatterOdd{task.scatter(odd), task.scatter(bytes)};
        }))
        .wait();
    const auto odds = odd.gather();
    const auto all_bytes = bytes.gather();
    for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t j = size - 1 - i; // written by unit i, unless that is a multiple of three
        const Odd expected = i % 3 == 0 ? Odd{{9, 9, 9}} : odd_of(i);
        ASSERT_TRUE(std::ranges::equal(odds[j].part, expected.part)) << j;
        ASSERT_EQ(all_bytes[j], i % 3 == 0 ? 1 : static_cast<std::uint8_t>(i)) << j;
    }
}

/// Two fake devices, each of which gets one of the two units.
class TwoWriters : public testing::Test {
protected:
    using Numbers = Domain<std::uint64_t>;
    Runtime runtime_{[] {
                         std::vector<std::unique_ptr<Device>> devices;
                         for (const char* id : {"fake:0", "fake:1"})
                             devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = id}));
                         return devices;
                     }(),
                     {.policy = "static", .model = "peak"}};
    JobHandle scatter(const Numbers& x, std::uint64_t first, std::uint64_t second) {
        return runtime_.submit(
            Job("scatter", 2).scatters(x).host_function("fake", [=](Task& task, const NativeStream&) {
                const auto view = task.scatter(x);
                for (auto i = task.range().begin; i < task.range().end; ++i)
                    view[5] = i == 0 ? first : second;
            }));
    }
};

TEST_F(TwoWriters, WhatTwoDevicesWroteDifferentlyIsAnErrorThatNamesTheElement) {
    const Numbers x("the data", {64});
    std::ranges::fill(x.fill(), 1U);
    scatter(x, 7, 8).wait();
    for (int again = 0; again < 2; ++again) try {
            static_cast<void>(x.gather());
            FAIL() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("element 5 of domain 'the data'"), std::string::npos)
                << error.what();
        }
    std::ranges::fill(x.fill(), 1U);
    scatter(x, 7, 7).wait();
    EXPECT_EQ(x.gather()[5], 7U) << "the same";
    scatter(x, 9, 7).wait();
    EXPECT_EQ(x.gather()[5], 9U) << "what was there is nothing new";
}

/// The first runtime takes its replicas with it while the second one still writes to its own.
TEST_F(TwoWriters, ARuntimeThatGoesTakesUpItsOwnAndNoOthers) {
    const Numbers x("x", {64});
    std::ranges::fill(x.fill(), 1U);
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = "fake:2"}));
    auto other = std::make_unique<Runtime>(std::move(devices), RuntimeOptions{.model = "peak"});
    scatter(x, 7, 7).wait();
    other
        ->submit(Job("elsewhere", 1)
                     .scatters(x)
                     .host_function("fake", [=](Task& task, const NativeStream&) { task.scatter(x)[6] = 9; }))
        .wait();
    other.reset();
    const auto all = x.gather();
    EXPECT_EQ(all[5], 7U);
    EXPECT_EQ(all[6], 9U);
    EXPECT_EQ(std::ranges::count(all, 1U), 62);
}

TEST_F(TwoWriters, AnAccessThatTheJobDoesNotDeclareIsNamed) {
    const Numbers x("x", {64});
    const JobHandle job = runtime_.submit(Job("adds", 1).accumulates(x).host_function(
        "fake", [=](Task& task, const NativeStream&) { static_cast<void>(task.scatter(x)); }));
    try {
        job.wait();
        FAIL() << "nothing was said";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("scatters()"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("accumulates()"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace headrace::test
