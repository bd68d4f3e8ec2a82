// tests/domains/slot_reductions_test.cpp - reductions of values that no atomic operation replaces: of 24
// bytes and of 3, on every device list, beside a loop on the host.
#include "slot_reductions.cl.hpp"

#include <domains/device_lists.hpp>
#include <domains/opencl_form.hpp>
#include <domains/slot_reductions.kernels.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

class SlotReductions : public OnDeviceLists {
protected:
    static constexpr std::uint64_t size = 30'011, cells = 7; // primes: no task size divides them

    void take_up(std::uint64_t i, std::uint64_t word) {
        Summary& summary = summaries_expected_[i % cells];
        summary = Merge{}(summary, Summary::of(word));
        Colour& colour = colours_expected_[i % cells];
        colour = Brightest{}(colour, Colour::of(word));
    }
    JobHandle submit(std::uint64_t units) {
        const Domain<std::uint64_t> words("words", {std::max<std::uint64_t>(units, 1)});
        for (std::uint64_t& word : words.fill()) word = random_();
        const auto all = words.gather();
        for (std::uint64_t i = 0; i < units; ++i) take_up(i, all[i]);
        Job job("summarise", units);
        job.reads(words)
            .reduces<Merge>(summaries_)
            .reduces<Brightest>(colours_)
            .kernel([=, this](Task& task) {
                return Summarise{task.read(words), task.reduce<Merge>(summaries_),
                                 task.reduce<Brightest>(colours_)};
            })
            .opencl(
                opencl_form("SUMMARISE", embedded::slot_reductions_cl),
                [=, this](Task& task, OpenClArguments& arguments) {
                    const auto summaries = task.reduce<Merge>(summaries_).slots;
                    const auto colours = task.reduce<Brightest>(colours_).slots;
                    arguments.buffer(task.memory(words)).value(cells);
                    arguments.buffer(task.memory(summaries_)).value(summaries.count).value(summaries.bytes);
                    arguments.buffer(task.memory(colours_)).value(colours.count).value(colours.bytes);
                });
        return runtime().submit(job);
    }
    void expect_right() {
        const auto summaries = summaries_.gather();
        const auto colours = colours_.gather();
        for (std::uint64_t cell = 0; cell < cells; ++cell) {
            EXPECT_EQ(summaries[cell], summaries_expected_[cell]) << cell;
            EXPECT_EQ(colours[cell], colours_expected_[cell]) << cell;
        }
    }

    const Domain<Summary> summaries_{"summaries", {cells}};
    const Domain<Colour> colours_{"colours", {cells}};
    std::vector<Summary> summaries_expected_ = std::vector<Summary>(cells, Merge::identity());
    std::vector<Colour> colours_expected_ = std::vector<Colour>(cells, Brightest::identity());
};
INSTANTIATE_TEST_SUITE_P(On, SlotReductions, device_lists(), by_list);

TEST_P(SlotReductions, OfAllDevicesComeTogether) {
    submit(size);
    submit(1); // fewer than devices
    submit(size / 3);
    expect_right();
    submit(size); // after replicas were joined
    expect_right();
}

TEST_P(SlotReductions, BeginWithTheIdentityOrWithWhatWasThere) {
    submit(0);
    expect_right();
    for (std::uint64_t cell = 0; cell < cells; ++cell) {
        summaries_.fill()[cell] = summaries_expected_[cell] = {cell, random_(), -5, 5};
        colours_.fill()[cell] = colours_expected_[cell] = {1, 2, static_cast<std::uint8_t>(cell)};
    }
    submit(size);
    expect_right();
}

/// The same domain, read by the next job.
TEST_P(SlotReductions, ArePassedToReaders) {
    submit(size);
    const Domain<Summary> copy("copy", {cells});
    runtime().submit(Job("copy", cells)
                         .reads(summaries_)
                         .writes(rows(copy))
                         .kernel([=, this](Task& task) {
                             return CopySummaries{task.read(summaries_), task.write(copy)};
                         })
                         .opencl(opencl_form("COPY_SUMMARIES", embedded::slot_reductions_cl),
                                 [=, this](Task& task, OpenClArguments& arguments) {
                                     arguments.buffer(task.memory(summaries_)).buffer(task.memory(copy));
                                 }));
    const auto copies = copy.gather();
    for (std::uint64_t cell = 0; cell < cells; ++cell) EXPECT_EQ(copies[cell], summaries_expected_[cell]);
}

/// Many more threads than slots have been made for them, all of which want one element.
TEST(SlotReductionsOfThreads, LoseNothing) {
    Runtime runtime({.devices = "cpu"});
    const Domain<Summary> one("one", {1});
    constexpr std::uint64_t threads = 300, terms = 200;
    runtime.submit(
        Job("threads", 1).reduces<Merge>(one).host_function("cpu", [=](Task& task, const NativeStream&) {
            const auto view = task.reduce<Merge>(one);
            std::vector<std::thread> all;
            for (std::uint64_t thread = 0; thread < threads; ++thread)
                all.emplace_back([=] {
                    for (std::uint64_t i = 0; i < terms; ++i)
                        view.combine(0, Summary::of(thread * terms + i));
                });
            for (std::thread& thread : all) thread.join();
        }));
    Summary expected = Merge::identity();
    for (std::uint64_t i = 0; i < threads * terms; ++i) expected = Merge{}(expected, Summary::of(i));
    EXPECT_EQ(one.gather()[0], expected);
}

TEST(SlotReductionsOfLargeDomains, AreRefusedByNameAndSize) {
    const Domain<Summary> large("large", {171}); // 4104 bytes
    try {
        static_cast<void>(Job("job", 1).reduces<Merge>(large));
        FAIL() << "nothing was said";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        for (const char* part : {"'large'", "4104", "24", "4096"})
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    static_cast<void>(Job("job", 1).reduces<Merge>(Domain<Summary>("small", {170})));
}

} // namespace
} // namespace headrace::test
