// tests/domains/checked_windows_test.cpp - checked mode, for jobs that are larger than their device.
#include <core/fake_device.hpp>
#include <domains/checked_child.hpp>
#include <domains/job.kernels.hpp>
#include <domains/small_device.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

using Words = Domain<std::uint64_t>;

constexpr std::uint64_t size = 50'000; // 400 kB
constexpr Bytes memory = 100'000;

std::unique_ptr<Runtime> fake_with(Bytes bytes) {
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.memory = bytes}));
    return std::make_unique<Runtime>(std::move(devices), RuntimeOptions{.policy = "demand:10"});
}

/// x[i] becomes i; then `more` writes elements that it should not, or not all that it should.
using More = std::function<void(View<std::uint64_t> x, IndexRange range)>;
Job count(const Words& x, const More& more) {
    return Job("count", x.extent().n[0])
        .writes(rows(x))
        .host_function("fake", [=](Task& task, const NativeStream&) {
            const auto view = task.write(x);
            for (auto i = task.range().begin; i < task.range().end; ++i) view[i] = i;
            more(view, task.range());
        });
}

void run(const Job& job) { fake_with(memory)->submit(job).wait(); }

TEST(CheckedWindows, WhatIsRightIsRight) {
    const Words x("x", {size}), sums("sums", {1});
    expect_said_in_checked_mode("^well", [&] {
        const auto runtime = fake_with(memory);
        for (const bool adds : {false, true}) {
            Job job = count(x, [](auto, IndexRange) {});
            if (adds)
                job.accumulates(sums).host_function("fake", [=](Task& task, const NativeStream&) {
                    for (auto i = task.range().begin; i < task.range().end; ++i) {
                        task.write(x)[i] = i;
                        task.sum(sums).add(0, 1);
                    }
                });
            runtime->submit(job).wait();
            for (std::uint64_t i = 0; i < size; ++i)
                if (x.gather()[i] != i) throw Error{ErrorKind::internal, "wrong elements"};
        }
        if (sums.gather()[0] != size) throw Error{ErrorKind::internal, "wrong sums"};
    });
}

TEST(CheckedWindows, AnElementBehindTheWindowIsNamed) {
    const Words x("x", {size});
    expect_said_in_checked_mode(
        "wrote element [0-9]+ of domain 'x', whose part is \\[0, [0-9]+\\) .*job count", [&] {
            run(count(x, [](auto view, IndexRange range) {
                if (range.begin == 0) view[range.end + 100] = 7;
            }));
        });
}

TEST(CheckedWindows, AnElementBeforeTheWindowIsNamed) {
    const Words x("x", {size});
    expect_said_in_checked_mode("wrote element 39999 of domain 'x', whose part is \\[40000, .*job count",
                                [&] {
                                    Job job = count(x, [](auto view, IndexRange range) {
                                        if (range.begin == 40'000) view[range.begin - 1] = 7;
                                    });
                                    run(job.only_units({40'000, size}));
                                });
}

TEST(CheckedWindows, BytesBeyondTheDomainAreNamed) {
    const Words x("x", {size});
    expect_said_in_checked_mode("wrote bytes beyond the end of domain 'x'", [&] {
        run(count(x, [](auto view, IndexRange range) {
            if (range.end == size) view[size] = 7;
        }));
    });
    expect_said_in_checked_mode("wrote bytes before the begin of domain 'x'", [&] {
        run(count(x, [](auto view, IndexRange range) {
            if (range.begin == 0) view.origin[-1] = 7;
        }));
    });
}

TEST(CheckedWindows, AnElementThatNoUnitWroteIsNamed) {
    const Words x("x", {size});
    expect_said_in_checked_mode("no unit wrote element 30007 of domain 'x'", [&] {
        run(Job("gap", size).writes(rows(x)).host_function("fake", [=](Task& task, const NativeStream&) {
            for (auto i = task.range().begin; i < task.range().end; ++i)
                if (i != 30'007) task.write(x)[i] = i;
        }));
    });
}

/// Its smallest task fits, without a copy of what it writes.
TEST(CheckedWindows, AJobThatCannotBeCheckedIsNamed) {
    const Words table("table", {10, 100});
    expect_said_in_checked_mode(
        "tasks of job 'rows' are not checked on [^ ]+, which has no room.*\nwell", [&] {
            Job job("rows", 10);
            job.writes(rows(table)).host_function("fake", [=](Task& task, const NativeStream&) {
                for (auto i = task.range().begin; i < task.range().end; ++i)
                    for (std::uint64_t k = 0; k < 100; ++k) task.write(table)(i, k) = i;
            });
            fake_with(1600)->submit(job).wait();
            for (std::uint64_t i = 0; i < 1000; ++i)
                if (table.gather()[i] != i / 100) throw Error{ErrorKind::internal, "wrong elements"};
        });
}

/// With queues, and with launches that run again.
TEST(CheckedWindows, TheEngineIsRight) {
    const Domain<std::uint32_t> large("large", {std::uint64_t{3} << 20});
    expect_said_in_checked_mode("^well", [&] {
        std::vector<std::unique_ptr<Device>> devices;
        devices.push_back(std::make_unique<SmallDevice>(make_cpu_device(), Bytes{2} << 20));
        Runtime runtime(std::move(devices), {});
        for (auto& element : large.fill()) element = 0xA5A5A5A5; // what memory is filled with
        runtime
            .submit(Job("increment", large.size()).updates(rows(large)).kernel([&](Task& task) {
                return Increment{task.update(large)};
            }))
            .wait();
        for (const auto element : large.gather())
            if (element != 0xA5A5A5A6) throw Error{ErrorKind::internal, "wrong elements"};
    });
}

} // namespace
} // namespace headrace::test
