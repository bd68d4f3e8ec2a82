// tests/domains/pipeline_test.cpp - streams of items through pieces on made-up devices: what comes out is
// what one device makes, whoever does what; and what comes of failures.
#include <core/eventually.hpp>
#include <core/quiet_machine.hpp>
#include <core/seeds.hpp>
#include <domains/made_up_stream.hpp>
#include <headrace/core/trace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

TEST(Pipeline, AnyMappingGivesTheSameItemsInTheirOrder) {
    std::mt19937_64 random(fresh_seed());
    for (int turn = 0; turn < 20; ++turn) {
        const std::size_t devices = 1 + random() % 4, pieces = 1 + random() % 7, slots = 1 + random() % 5;
        Stream stream(devices, pieces, slots, random() % 2 == 0);
        std::vector<std::size_t> order(devices);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::shuffle(order, random);
        std::vector<StreamCut> cuts;
        for (std::size_t begin = 0; begin < pieces;) {
            const bool is_last = cuts.size() + 1 == devices;
            const std::size_t end = is_last ? pieces : begin + 1 + random() % (pieces - begin);
            cuts.push_back({order[cuts.size()], begin, end});
            begin = end;
        }
        stream.pipeline().map(cuts);
        if (random() % 2 == 0) stream.pipeline().submit_apart();
        const auto items = static_cast<std::int64_t>(random() % 30);
        EXPECT_EQ(stream.run(items), items);
        EXPECT_EQ(stream.ended(), in_order(items));
        for (std::int64_t item = 0; item < items; ++item)
            for (const StreamCut& cut : cuts)
                for (std::size_t piece = cut.begin; piece < cut.end; ++piece)
                    ASSERT_EQ(stream.done_by(item, piece), cut.device);
    }
}

TEST(Pipeline, AnItemThatCannotBeSubmittedIsThereNoMoreEither) {
    Stream stream(1, 2, 2);
    stream.breaks_from(0);
    stream.reading_takes(50ms);
    EXPECT_THROW(stream.run(3), Error);
    EXPECT_EQ(stream.being_read(), 0u);
}

TEST(Pipeline, WhoSubmitsToOneDeviceKeepsNobodyWaiting) {
    on_a_quiet_machine([] {
        Stream stream(2, 2, 4);
        stream.pipeline().map_one_to_one();
        stream.submitting_takes(10ms);
        const auto time = [&] {
            const auto begin = std::chrono::steady_clock::now();
            EXPECT_EQ(stream.run(20), 20);
            EXPECT_EQ(stream.ended(), in_order(20));
            return std::chrono::steady_clock::now() - begin;
        };
        const auto by_one = time();
        EXPECT_GE(by_one, 400ms);
        stream.pipeline().submit_apart();
        EXPECT_LT(time(), 0.9 * by_one) << "half of it, on an idle machine";
    });
}

TEST(Pipeline, PartsOfAStreamOverlap) {
    on_a_quiet_machine([] {
        Stream stream(3, 3, 4);
        for (std::size_t device = 0; device < 3; ++device) stream.all_take(device, 5ms);
        stream.pipeline().map({{0, 0, 1}, {1, 1, 2}, {2, 2, 3}});
        stream.pipeline().time_parts();
        stream.run(20);
        const StreamReport report = stream.pipeline().report();
        EXPECT_GE(report.seconds, 22 * 5e-3);
        EXPECT_LT(report.seconds, 55 * 5e-3) << "one after another it would be 60";
        ASSERT_EQ(report.parts.size(), 3u);
        for (const StreamPartReport& part : report.parts) {
            ASSERT_TRUE(part.seconds.value);
            EXPECT_GT(*part.seconds.value, 4e-3);
            EXPECT_FALSE(part.predicted_seconds.value);
        }
        EXPECT_GE(report.fill_seconds, 15e-3);
        EXPECT_GE(report.drain_seconds, 5e-3);
    });
}

TEST(Pipeline, TracesShowPartsOfItems) {
    const auto count = [](Trace& trace, const std::string& name) {
        const std::string text = trace.json();
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    const auto expect = [&](Trace& trace, const std::string& name, std::size_t items) {
        // A thread that waits may hear of it before continuations.
        EXPECT_TRUE(eventually([&] { return count(trace, name) >= items; }));
        EXPECT_EQ(count(trace, name), items) << name;
    };
    for (const bool apart : {false, true}) {
        Stream stream(2, 3, 4);
        if (apart) stream.pipeline().submit_apart();
        Trace trace;
        stream.pipeline().map({{1, 0, 1}, {0, 1, 3}});
        stream.run(7);
        expect(trace, "part 1 of 2 of item ", 7);
        expect(trace, "part 2 of 2 of item ", 7);
        for (int item = 0; item < 7; ++item)
            for (const char* part : {"part 1 of 2 of item ", "part 2 of 2 of item "})
                expect(trace, part + std::to_string(item) + "\"", 1);
        stream.pipeline().give_whole_items();
        stream.run(5);
        expect(trace, "whole item ", 5);
        for (int item = 0; item < 5; ++item) expect(trace, "\"whole item " + std::to_string(item) + "\"", 1);
    }
}

TEST(Pipeline, AFailureEndsTheStreamAndNothingIsUnderWayThen) {
    for (const int how : {0, 1, 2, 3}) {
        const bool whole = how % 2 == 1;
        Stream stream(2, 2, 3);
        if (how > 1) stream.pipeline().submit_apart();
        if (whole)
            stream.pipeline().give_whole_items();
        else
            stream.pipeline().map({{1, 0, 1}, {0, 1, 2}});
        stream.all_take(0, 1ms); // so that both have items
        stream.all_take(1, 1ms);
        stream.run(5);
        stream.kernels_fail(20); // not a device: where the machine is busy, one of them may get no item
        EXPECT_THROW(stream.run(50), Error);
        EXPECT_LT(stream.ended().size(), 50u);
        stream.kernels_fail(-1);
        EXPECT_EQ(stream.run(5), 5) << "the next run is as if nothing had been";
    }
}

TEST(Pipeline, TheFirstFailureIsTheFirstItems) {
    for (const bool apart : {false, true}) {
        Stream stream(2, 2, 3);
        stream.pipeline().map_one_to_one();
        if (apart) stream.pipeline().submit_apart();
        for (const std::int64_t broken : {2, 3, 4, 5, 6}) {
            stream.breaks_from(broken);
            try {
                stream.run(7);
                ADD_FAILURE() << "nothing was thrown";
            } catch (const Error& error) {
                EXPECT_EQ(error.message(), "item " + std::to_string(broken) + " cannot be submitted");
            }
            EXPECT_EQ(stream.ended(), in_order(broken));
        }
    }
}

TEST(Pipeline, AFailureIsToldAlthoughALaterItemHasNoInput) {
    for (const bool whole : {false, true}) {
        Stream stream(2, 2, 4);
        if (whole) stream.pipeline().give_whole_items();
        stream.all_take(0, 20ms);
        stream.all_take(1, 20ms);
        stream.kernels_fail(2);
        stream.has_no_input(4);
        try {
            stream.run(7, !whole);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.message(), "a kernel fails");
        }
    }
}

TEST(Pipeline, OfTwoFailuresThatOfTheFirstItemIsTold) {
    Stream stream(2, 2, 4);
    stream.pipeline().give_whole_items();
    stream.all_take(0, 30ms); // the first item's; the second has the other device
    stream.kernels_fail(0);
    stream.breaks_from(1);
    try {
        stream.run(7, false);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "a kernel fails");
    }
}

TEST(Pipeline, ReportsNothingOfAMappingThatHasNotRun) {
    Stream stream(2, 2, 2);
    stream.run(3);
    stream.pipeline().map_one_to_one();
    stream.pipeline().time_parts();
    EXPECT_TRUE(stream.pipeline().report().parts.empty());
}

TEST(Pipeline, SaysWhatIsWrongWithAMapping) {
    Stream stream(2, 3, 1);
    for (const std::vector<StreamCut>& wrong : {std::vector<StreamCut>{},
                                                {{0, 0, 2}},
                                                {{0, 1, 3}},
                                                {{0, 0, 2}, {1, 1, 3}},
                                                {{2, 0, 3}},
                                                {{0, 0, 1}, {0, 1, 3}},
                                                {{0, 0, 4}},
                                                {{0, 0, 0}, {1, 0, 3}}})
        EXPECT_THROW(stream.pipeline().map(wrong), Error);
    EXPECT_EQ(stream.run(2), 2) << "as it was before";
}

} // namespace
} // namespace headrace::test
