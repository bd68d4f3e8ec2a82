// tests/domains/bounds_test.cpp - views that check their indices (domains/bounds.hpp): this program is
// compiled with HEADRACE_CHECK_BOUNDS.
#include <domains/bounds.kernels.hpp>
#include <domains/device_lists.hpp>
#include <domains/small_device.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <unistd.h>

namespace headrace::test {
namespace {

constexpr std::uint64_t size = 1000;

class Bounds : public OnDeviceLists {
protected:
    Bounds() {
        const auto elements = from_.fill();
        std::iota(elements.begin(), elements.end(), 0.0F);
    }
    /// What the job fails with; empty: it ends well.
    std::string said(const Job& job) {
        try {
            runtime().submit(job).wait();
            return {};
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            EXPECT_EQ(error.job(), job.name());
            return error.message();
        }
    }
    static Job shift(const Domain<float>& from, const Domain<float>& to, std::uint64_t read,
                     std::uint64_t write) {
        return Job("shift", size).reads(from).writes(to).kernel([=](Task& task) {
            return Shift{task.read(from), task.write(to), read, write};
        });
    }
    /// In tasks of 50, each of which has its rows.
    static Job shift_in_parts(const Domain<float>& from, const Domain<float>& to, std::uint64_t halo,
                              std::uint64_t read, std::uint64_t write) {
        return Job("shift", size)
            .policy([] { return make_policy("dynamic:20"); }, "parts")
            .reads(rows(from, halo))
            .writes(rows(to))
            .kernel([=](Task& task) {
                return Shift{task.read(from), task.write(to), read, write};
            });
    }

    const Domain<float> from_{"from", {size}}, to_{"to", {size}};
};
INSTANTIATE_TEST_SUITE_P(On, Bounds, testing::Values("cpu", two_private_cpus), by_list);

TEST_P(Bounds, WhatIsWithinThemIsAsEver) {
    EXPECT_EQ(said(shift(from_, to_, 0, 0)), "");
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(to_.gather()[i], static_cast<float>(i));
    // Each task has other bounds, and has its own.
    for (float& element : to_.fill()) element = 0;
    EXPECT_EQ(said(shift_in_parts(from_, to_, 0, 0, 0)), "");
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(to_.gather()[i], static_cast<float>(i));
}

TEST_P(Bounds, OneElementPastTheEndIsNamed) {
    EXPECT_EQ(said(shift(from_, to_, 1, 0)),
              "a kernel uses element 1000 of domain 'from', which has 1000 elements; its task may use "
              "[0, 1000)");
    EXPECT_EQ(said(shift(from_, to_, 0, 1)),
              "a kernel uses element 1000 of domain 'to', which has 1000 elements; its task may use "
              "[0, 1000)");
    // The devices go on.
    EXPECT_EQ(said(shift(from_, to_, 0, 0)), "");
    EXPECT_EQ(to_.gather()[size - 1], static_cast<float>(size - 1));
}

TEST_P(Bounds, AnElementOutsideOfTheTasksPartIsNamed) {
    const auto expect_said = [](const std::string& message, const std::string& domain) {
        EXPECT_NE(message.find("of domain '" + domain + "', which has 1000 elements; its task may use ["),
                  std::string::npos)
            << message;
        EXPECT_EQ(message.find("[0, 1000)"), std::string::npos) << message;
    };
    expect_said(said(shift_in_parts(from_, to_, 0, 1, 0)), "from");
    expect_said(said(shift_in_parts(from_, to_, 1, 0, 1)), "to");
    // What a callback names beside the task's own rows may be read.
    for (float& element : to_.fill()) element = 0; // heals it
    EXPECT_EQ(said(Job("shift", size / 2)
                       .policy([] { return make_policy("dynamic:20"); }, "parts")
                       .reads(part(from_,
                                   [](IndexRange units) {
                                       return IndexRange{units.begin, units.end + 1};
                                   }))
                       .writes(part(to_, [](IndexRange units) { return units; }))
                       .kernel([this](Task& task) {
                           return Shift{task.read(from_), task.write(to_), 1, 0};
                       })),
              "");
    for (std::uint64_t i = 0; i < size / 2; ++i) ASSERT_EQ(to_.gather()[i], static_cast<float>(i + 1));
}

TEST_P(Bounds, AColumnPastTheEndIsNoElementOfTheNextRow) {
    constexpr std::uint64_t width = 40;
    const Domain<float> from("from", {size / width, width}), to("to", {size / width, width});
    for (float& element : from.fill()) element = 1;
    const auto job = [&](std::uint64_t columns) {
        return Job("columns", size).reads(from).writes(to).kernel([=](Task& task) {
            return AddColumns{task.read(from), task.write(to), width, columns};
        });
    };
    EXPECT_EQ(said(job(0)), "");
    for (const float element : to.gather()) ASSERT_EQ(element, 2.0F);
    EXPECT_NE(said(job(1)).find("of domain 'from', which has 1000 elements"), std::string::npos);
}

TEST_P(Bounds, ReplicasHaveThemToo) {
    const Domain<std::uint32_t> sum("sum", {size});
    const Domain<ExactSum<double>> exact("exact", {size});
    const Domain<std::int32_t> most("most", {size});
    const Domain<float> scattered("scattered", {size});
    const auto job = [&](std::uint64_t in_sum, std::uint64_t in_exact, std::uint64_t in_most,
                         std::uint64_t in_scattered) {
        return Job("replicas", size)
            .accumulates(sum)
            .accumulates(exact)
            .reduces<Max>(most)
            .scatters(scattered)
            .kernel([=](Task& task) {
                return UseReplicas{task.sum(sum),
                                   task.sum(exact),
                                   task.reduce<Max>(most),
                                   task.scatter(scattered),
                                   in_sum,
                                   in_exact,
                                   in_most,
                                   in_scattered};
            });
    };
    EXPECT_EQ(said(job(0, 0, 0, 0)), "");
    for (std::uint64_t i = 0; i < size; ++i) {
        ASSERT_EQ(sum.gather()[i], 1U);
        ASSERT_EQ(exact.gather()[i].value(), 1.0);
        ASSERT_EQ(most.gather()[i], static_cast<std::int32_t>(i));
        ASSERT_EQ(scattered.gather()[i], static_cast<float>(i));
    }
    const auto message = [](const std::string& domain) {
        return "a kernel uses element 1000 of domain '" + domain +
               "', which has 1000 elements; its task may use [0, 1000)";
    };
    EXPECT_EQ(said(job(1, 0, 0, 0)), message("sum"));
    EXPECT_EQ(said(job(0, 1, 0, 0)), message("exact"));
    EXPECT_EQ(said(job(0, 0, 1, 0)), message("most"));
    EXPECT_EQ(said(job(0, 0, 0, 1)), message("scattered"));
}

/// On a device that cannot hold the domains at once: each task has memory for its own part alone.
TEST(BoundsOfWindows, AnElementOutsideOfAWindowIsNamed) {
    constexpr std::uint64_t large = std::uint64_t{1} << 20;
    const Domain<float> from("from", {large}), to("to", {large});
    for (float& element : from.fill()) element = 1;
    const auto said = [&](std::uint64_t halo, std::uint64_t read, std::uint64_t write) -> std::string {
        std::vector<std::unique_ptr<Device>> devices;
        devices.push_back(std::make_unique<SmallDevice>(make_cpu_device(), Bytes{1} << 20));
        Runtime runtime(std::move(devices), {});
        try {
            runtime
                .submit(Job("shift", large).reads(rows(from, halo)).writes(rows(to)).kernel([&](Task& task) {
                    return Shift{task.read(from), task.write(to), read, write};
                }))
                .wait();
            return {};
        } catch (const Error& error) {
            EXPECT_EQ(error.job(), "shift");
            return error.message();
        }
    };
    EXPECT_EQ(said(0, 0, 0), "");
    for (const float element : to.gather()) ASSERT_EQ(element, 1.0F);
    const auto expect_said = [](const std::string& message, const std::string& domain) {
        EXPECT_NE(message.find("of domain '" + domain + "', which has 1048576 elements; its task may use ["),
                  std::string::npos)
            << message;
        EXPECT_EQ(message.find("[0, 1048576)"), std::string::npos) << message;
    };
    expect_said(said(0, 1, 0), "from");
    expect_said(said(1, 0, 1), "to");
    expect_said(said(1, 2, 0), "from");
}

/// In a process of its own: a trap ends a GPU's kernel, and with it all that the process has on the device.
class BoundsOnAGpu : public Bounds {};
INSTANTIATE_TEST_SUITE_P(On, BoundsOnAGpu, testing::Values("cuda:0"), by_list);

TEST_P(BoundsOnAGpu, AreCheckedAndTold) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            dup2(STDERR_FILENO, STDOUT_FILENO); // where the device prints
            const bool is_well = said(shift(from_, to_, 0, 0)).empty() && to_.gather()[size - 1] == size - 1;
            bool is_told = false;
            try {
                runtime().submit(shift(from_, to_, 1, 0)).wait();
            } catch (const Error&) {
                is_told = true;
            }
            std::fflush(stdout);
            std::_Exit(is_well && is_told ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "a kernel uses element 1000 of a domain of 1000 elements; its task may use \\[0, 1000\\)");
}

} // namespace
} // namespace headrace::test
