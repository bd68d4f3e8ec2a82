// tests/domains/pipeline_division_test.cpp - who does what of a stream: what is measured, kept and found, and
// what is told of it.
#include <core/quiet_machine.hpp>
#include <domains/made_up_stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

/// Knows what it is told, until the end.
class Remembers final : public PerformanceModel {
public:
    [[nodiscard]] Estimate estimate(const DeviceInfo& device, const KernelKey& kernel) const override {
        const auto found = rates.find({device.id, kernel.kernel});
        return {.peak = 1,
                .units_per_second = found == rates.end() ? std::nullopt : std::optional(found->second),
                .certain = are_certain};
    }
    void measured(const DeviceInfo& device, const KernelKey& kernel, double units_per_second) override {
        rates[{device.id, kernel.kernel}] = units_per_second;
    }
    void took(std::span<const DeviceInfo* const> devices, const KernelKey& kernel, double seconds) override {
        items[{devices.front()->id, kernel.kernel}] = {.seconds = seconds, .jobs = 1, .last = seconds};
    }
    [[nodiscard]] std::optional<WholeJobs> whole_jobs(std::span<const DeviceInfo* const> devices,
                                                      const KernelKey& kernel) const override {
        const auto found = items.find({devices.front()->id, kernel.kernel});
        return found == items.end() ? std::nullopt : std::optional(found->second);
    }
    bool are_certain = true;
    std::map<std::pair<std::string, std::string>, double> rates;
    std::map<std::pair<std::string, std::string>, WholeJobs> items;
};

TEST(Pipeline, WholeItemsGoToWhoHasRoom) {
    on_a_quiet_machine([] {
        Stream stream(2, 3, 4);
        stream.all_take(0, 200us);
        stream.all_take(1, 20ms);
        stream.pipeline().give_whole_items();
        ASSERT_EQ(stream.run(60, false), 60);
        ASSERT_EQ(stream.ended().size(), 60u);
        std::int64_t slow = 0;
        for (std::int64_t item = 0; item < 60; ++item) {
            EXPECT_EQ(stream.done_by(item, 0), stream.done_by(item, 2));
            slow += stream.done_by(item, 0) == 1;
        }
        EXPECT_GT(slow, 0);
        EXPECT_LT(slow, 25);
    });
}

TEST(Pipeline, WholeItemsInTheirOrderKeepNobodyWaiting) {
    on_a_quiet_machine([] {
        Stream stream(2, 3, 8);
        stream.all_take(0, 2ms);
        stream.all_take(1, 6ms);
        stream.pipeline().give_whole_items();
        ASSERT_EQ(stream.run(48), 48);
        ASSERT_EQ(stream.ended(), in_order(48));
        std::int64_t slow = 0;
        for (std::int64_t item = 0; item < 48; ++item) slow += stream.done_by(item, 0) == 1;
        EXPECT_GE(slow, 3); // 12, on an idle machine
        EXPECT_LE(slow, 20) << "in turns it would have 24";
    });
}

TEST(Pipeline, WholeItemsOrPartsWhateverPromisesMore) {
    on_a_quiet_machine([] {
        for (const bool alike : {true, false}) {
            Stream stream(2, 2, 4);
            Remembers model;
            for (const std::size_t device : {0, 1})
                for (const std::size_t piece : {0, 1}) {
                    const bool suits = alike || device == piece;
                    stream.takes(device, piece, suits ? 4ms : 40ms);
                    model.rates[{"fake:" + std::to_string(device), "piece " + std::to_string(piece)}] =
                        suits ? 250 : 25;
                }
            stream.pipeline().find_division(model);
            for (int run = 0; run < 2; ++run) {
                ASSERT_EQ(stream.run(12), 12);
                ASSERT_EQ(stream.ended(), in_order(12));
                const StreamReport report = stream.pipeline().report();
                EXPECT_EQ(report.parts.size(), alike ? 0u : 2u);
                EXPECT_DOUBLE_EQ(report.expected.value.value(), 2);
                EXPECT_GT(report.speed_up.value.value(), 0);
                EXPECT_EQ(stream.most_under_way(), 4u);
            }
            for (std::int64_t item = 0; item < 12; ++item)
                EXPECT_EQ(stream.done_by(item, 0) == stream.done_by(item, 1), alike);
        }
    });
}

TEST(Pipeline, ASlowDeviceHasNoWholeItems) {
    on_a_quiet_machine([] {
        Stream stream(2, 2, 6);
        stream.all_take(0, 500us);
        stream.all_take(1, 50ms);
        Remembers model;
        stream.pipeline().find_division(model);
        ASSERT_EQ(stream.run(40), 40);
        for (std::int64_t item = 1; item < 40; ++item) EXPECT_EQ(stream.done_by(item, 1), 0u) << item;
    });
}

TEST(Pipeline, NobodyWaitsForAHopelessDeviceToBeMeasured) {
    on_a_quiet_machine([] {
        Stream stream(2, 4, 3);
        stream.all_take(0, 1ms);
        stream.all_take(1, 1s);
        Remembers model;
        stream.pipeline().find_division(model);
        ASSERT_EQ(stream.run(9), 9);
        ASSERT_EQ(stream.ended(), in_order(9));
        EXPECT_TRUE(model.rates.contains({"fake:0", "piece 3"}));
        EXPECT_FALSE(model.rates.contains({"fake:1", "piece 0"})) << "all take 4 s";
        EXPECT_LT(stream.device(1).requests(FakeRequest::launch), 8u) << "the first piece says it";
        EXPECT_EQ(model.items.size(), 1u);
        const StreamReport report = stream.pipeline().report();
        EXPECT_DOUBLE_EQ(report.expected.value.value(), 1);
        ASSERT_EQ(report.left_out.size(), 1u);
        EXPECT_EQ(report.left_out[0].id, "fake:1");
        Stream again(2, 4, 3);
        again.pipeline().find_division(model);
        ASSERT_EQ(again.run(9), 9);
        EXPECT_EQ(again.device(1).requests(FakeRequest::launch), 0u) << "it is known";
        Stream given(2, 4, 3); // so are figures where nothing is measured
        given.pipeline().compare_with(model);
        given.pipeline().map({{0, 0, 4}});
        ASSERT_EQ(given.run(3), 3);
        EXPECT_DOUBLE_EQ(given.pipeline().report().expected.value.value(), 1);
        given.pipeline().map({{1, 0, 1}, {0, 1, 4}}); // it has a part all the same
        given.pipeline().time_parts();
        ASSERT_EQ(given.run(3), 3);
        EXPECT_TRUE(given.pipeline().report().left_out.empty());
        EXPECT_FALSE(given.pipeline().report().parts.front().predicted_seconds.value);
        for (auto& [key, item] : model.items) item.jobs = 0; // long ago
        Stream later(2, 4, 3);
        later.pipeline().find_division(model);
        ASSERT_EQ(later.run(9), 9);
        EXPECT_TRUE(model.rates.contains({"fake:1", "piece 0"})) << "it is as fast as the other now";
    });
}

TEST(Pipeline, LinksAreMeasuredWhereThereIsLittleRoom) {
    on_a_quiet_machine([] {
        Stream stream(2, 3, 4, true, 1 << 20);
        Remembers model;
        stream.pipeline().find_mapping(model);
        ASSERT_EQ(stream.run(9), 9);
        ASSERT_EQ(stream.ended(), in_order(9));
        EXPECT_TRUE(model.rates.contains({"fake:1", "link from fake device fake:0"}));
        EXPECT_TRUE(stream.pipeline().report().left_out.empty());
    });
}

TEST(Pipeline, TellsHowWellWholeItemsWereDivided) {
    on_a_quiet_machine([] {
        Stream stream(2, 2, 8);
        stream.all_take(0, 5ms);
        stream.all_take(1, 10ms);
        stream.pipeline().give_whole_items();
        ASSERT_EQ(stream.run(1), 1);
        EXPECT_FALSE(stream.pipeline().report().efficiency.value);
        ASSERT_EQ(stream.run(60), 60);
        const StreamReport report = stream.pipeline().report();
        ASSERT_TRUE(report.efficiency.value) << report.efficiency.why_absent;
        EXPECT_GT(*report.expected.value, 1); // 1.5, on an idle machine
        EXPECT_LE(*report.expected.value, 2);
        EXPECT_DOUBLE_EQ(*report.speed_up.value, *report.alone_seconds.value / report.seconds);
        EXPECT_DOUBLE_EQ(*report.efficiency.value, *report.speed_up.value / *report.expected.value);
    });
}

TEST(Pipeline, TellsWhoHadHowManyWholeItems) {
    on_a_quiet_machine([] {
        Stream stream(2, 2, 8);
        Remembers model;
        for (const std::size_t device : {0, 1})
            for (const std::size_t piece : {0, 1}) {
                stream.takes(device, piece, device == 0 ? 5ms : 10ms);
                model.rates[{"fake:" + std::to_string(device), "piece " + std::to_string(piece)}] =
                    device == 0 ? 250 : 100;
            }
        stream.pipeline().find_division(model);
        for (const std::int64_t items : {1, 40}) {
            ASSERT_EQ(stream.run(items), items);
            const StreamReport report = stream.pipeline().report();
            ASSERT_EQ(report.shares.size(), 2u);
            std::int64_t all = 0;
            for (std::size_t device = 0; device < 2; ++device) {
                const StreamShareReport& share = report.shares[device];
                EXPECT_EQ(share.device, "fake:" + std::to_string(device));
                std::int64_t done = 0;
                for (std::int64_t item = 0; item < items; ++item) done += stream.done_by(item, 0) == device;
                EXPECT_EQ(share.items, done);
                all += share.items;
                EXPECT_DOUBLE_EQ(share.predicted_seconds.value.value(), device == 0 ? 0.008 : 0.02);
                EXPECT_EQ(share.seconds.value.has_value(), items > 1) << share.seconds.why_absent;
                EXPECT_GT(share.seconds.value.value_or(1), device == 0 ? 0.009 : 0.019);
            }
            EXPECT_EQ(all, items);
        }
        stream.pipeline().map_one_to_one();
        ASSERT_EQ(stream.run(3), 3);
        EXPECT_TRUE(stream.pipeline().report().shares.empty());
    });
}

TEST(StreamReport, HasALineForPeople) {
    StreamReport report;
    report.items = 40;
    report.seconds = 2.5;
    report.fill_seconds = 0.25;
    report.drain_seconds = 0.125;
    report.efficiency.why_absent = "nobody measured";
    EXPECT_EQ(to_string(report), "40 items in 2.5 s: no S, since nobody measured");
    report.speed_up.value = 1.8;
    report.expected.value = 2;
    report.efficiency.value = 0.9;
    EXPECT_EQ(to_string(report), "40 items in 2.5 s: S = 1.8, Se = 2, efficiency 90.0 %");
    report.parts.resize(2);
    EXPECT_EQ(to_string(report), "40 items in 2.5 s: S = 1.8, Se = 2, efficiency 90.0 %; filled in 0.25 s, "
                                 "drained in 0.125 s");
}

TEST(Pipeline, AFirstUseThatTakesLongIsNoReasonToLeaveADeviceOut) {
    on_a_quiet_machine([] {
        Stream stream(2, 4, 3);
        stream.all_take(0, 10ms);
        stream.all_take(1, 10ms);
        stream.first_use_takes(1, 1000ms); // more than twenty items of the other
        Remembers model;
        stream.pipeline().find_division(model);
        ASSERT_EQ(stream.run(20), 20);
        EXPECT_TRUE(model.rates.contains({"fake:1", "piece 3"}));
    });
}

TEST(Pipeline, MeasuresPiecesAndLinks) {
    on_a_quiet_machine([] {
        Stream stream(3, 4, 4);
        const std::array each{3ms, 5ms, 15ms};
        for (std::size_t device = 0; device < 3; ++device) stream.all_take(device, each[device]);
        stream.takes(0, 2, 20ms);
        Remembers model;
        stream.pipeline().find_mapping(model);
        ASSERT_EQ(stream.run(3), 3);
        ASSERT_EQ(stream.ended(), in_order(3));
        EXPECT_EQ(model.rates.size(), 3u * 4 + 3 * 2);
        const auto measured = [&](std::size_t device, std::size_t piece) {
            return 1 / model.rates.at({"fake:" + std::to_string(device), "piece " + std::to_string(piece)});
        };
        // From one's end to the next one's, as continuations see it: only the sum is sure.
        for (const auto& [device, least] : {std::pair(0, 29e-3), {1, 20e-3}, {2, 60e-3}}) {
            double all = 0;
            for (std::size_t piece = 0; piece < 4; ++piece) all += measured(device, piece);
            EXPECT_GT(all, 0.99 * least);
            EXPECT_LT(all, least + 0.4);
        }
        EXPECT_GT(measured(0, 2), 8e-3);
    });
}

TEST(Pipeline, FindsWhoShouldDoWhat) {
    on_a_quiet_machine([] {
        Stream stream(3, 4, 4);
        Remembers model;
        for (const auto& [device, rate] :
             {std::pair(0, 100), {1, 300}, {2, 10}}) // the last would hold up all others
            for (std::size_t piece = 0; piece < 4; ++piece)
                model.rates[{"fake:" + std::to_string(device), "piece " + std::to_string(piece)}] = rate;
        stream.pipeline().find_mapping(model);
        stream.run(4);
        const StreamReport report = stream.pipeline().report();
        ASSERT_EQ(report.parts.size(), 2u);
        std::set<std::string> at_work;
        for (const StreamPartReport& part : report.parts) at_work.insert(part.device);
        EXPECT_EQ(at_work, (std::set<std::string>{"fake:0", "fake:1"}));
        std::size_t done_by_slower = 0;
        for (std::size_t piece = 0; piece < 4; ++piece) done_by_slower += stream.done_by(3, piece) == 0;
        EXPECT_EQ(done_by_slower, 1u);
        ASSERT_TRUE(report.expected.value && report.speed_up.value && report.efficiency.value);
        EXPECT_NEAR(*report.expected.value, 1 + 1.0 / 3 + 1.0 / 30, 1e-9);
        EXPECT_DOUBLE_EQ(*report.efficiency.value, *report.speed_up.value / *report.expected.value);
    });
}

TEST(Pipeline, IsMappedForAsManyItemsAsAreExpected) {
    on_a_quiet_machine([] {
        Stream stream(2, 4, 4);
        Remembers model;
        for (const auto& [device, time] :
             {std::pair<std::size_t, std::chrono::microseconds>(0, 5ms), {1, 15ms}}) {
            stream.all_take(device, time);
            const std::string name = "fake:" + std::to_string(device);
            for (std::size_t piece = 0; piece < 4; ++piece)
                model.rates[{name, "piece " + std::to_string(piece)}] =
                    1e6 / static_cast<double>(time.count());
            for (const char* other : {"fake:0", "fake:1"}) // as good as nothing
                model.rates[{name, std::string("link from fake device ") + other}] = 1e15;
        }
        stream.pipeline().find_mapping(model);
        for (const std::int64_t items : {1, 40, 1}) { // alone 20 ms each; in parts 30 ms, and then 15 ms each
            ASSERT_EQ(stream.run(items), items);
            const StreamReport report = stream.pipeline().report();
            EXPECT_EQ(report.remapped, 0u);
            EXPECT_EQ(report.parts.size(), items == 1 ? 1u : 2u);
            stream.pipeline().compare_with(Remembers()); // who knows nothing changes nothing
        }
    });
}

TEST(Pipeline, MeasuresNothingThatIsKnown) {
    Stream stream(2, 2, 2);
    Remembers model;
    for (const char* device : {"fake:0", "fake:1"})
        for (const char* piece :
             {"piece 0", "piece 1", "link from fake device fake:0", "link from fake device fake:1"})
            model.rates[{device, piece}] = 1000;
    stream.all_take(0, 50ms); // not so, but it is not asked
    stream.pipeline().find_mapping(model);
    stream.run(1);
    for (const auto& [key, rate] : model.rates) EXPECT_EQ(rate, 1000);
}

TEST(Pipeline, IsCutAnewWhenADeviceBecomesSlow) {
    on_a_quiet_machine([] {
        Stream stream(2, 8, 4);
        stream.all_take(0, 2ms);
        stream.all_take(1, 2ms);
        Remembers model;
        stream.pipeline().find_mapping(model);
        stream.at_item(50, [&stream] { stream.all_take(1, 14ms); });
        ASSERT_EQ(stream.run(120), 120);
        const StreamReport report = stream.pipeline().report();
        EXPECT_GE(report.remapped, 1u);
        std::size_t done_by_slow = 0;
        for (std::size_t piece = 0; piece < 8; ++piece) done_by_slow += stream.done_by(119, piece) == 1;
        EXPECT_LE(done_by_slow, 2u);
    });
}

TEST(Pipeline, BeginsAsTheLastStreamEnded) {
    on_a_quiet_machine([] {
        Remembers model;
        const auto done_by_slow = [](Stream& stream, std::int64_t item) {
            std::size_t pieces = 0;
            for (std::size_t piece = 0; piece < 8; ++piece) pieces += stream.done_by(item, piece) == 1;
            return pieces;
        };
        {
            Stream stream(2, 8, 4);
            for (const std::size_t device : {0, 1}) stream.all_take(device, 2ms);
            stream.pipeline().find_mapping(model);
            ASSERT_EQ(stream.run(2), 2);
            EXPECT_GE(done_by_slow(stream, 1), 2u) << "it is not slow yet, and four on an idle machine";
            stream.all_take(1, 14ms);
            ASSERT_EQ(stream.run(80), 80);
            EXPECT_GE(stream.pipeline().report().remapped, 1u);
        }
        const auto again = [&] {
            Stream stream(2, 8, 4);
            stream.all_take(0, 2ms);
            stream.all_take(1, 14ms);
            stream.pipeline().find_mapping(model);
            EXPECT_EQ(stream.run(40), 40);
            EXPECT_LE(done_by_slow(stream, 39), 2u);
            return done_by_slow(stream, 1);
        };
        EXPECT_LE(again(), 1u);
        for (auto& [key, item] : model.items) item.seconds_ago = 1e5; // the day before yesterday
        EXPECT_GE(again(), 2u);
    });
}

/// The median of what it is told.
class Collects final : public PerformanceModel {
public:
    [[nodiscard]] Estimate estimate(const DeviceInfo& device, const KernelKey& kernel) const override {
        const auto found = rates.find({device.id, kernel.kernel});
        if (found == rates.end()) return {};
        std::vector<double> all = found->second;
        std::ranges::sort(all);
        return {.units_per_second = all[all.size() / 2], .certain = all.size() >= 3};
    }
    void measured(const DeviceInfo& device, const KernelKey& kernel, double units_per_second) override {
        rates[{device.id, kernel.kernel}].push_back(units_per_second);
    }
    void took(std::span<const DeviceInfo* const> devices, const KernelKey& kernel, double seconds) override {
        items[{devices.front()->id, kernel.kernel}].push_back(seconds);
    }
    /// Of the four that there are.
    void know_pieces(const std::string& device, const std::vector<double>& each) {
        for (std::size_t piece = 0; piece < 4; ++piece)
            rates[{device, "piece " + std::to_string(piece)}] = each;
    }
    [[nodiscard]] const std::vector<double>& of_piece(const std::string& device) const {
        return rates.at({device, "piece 0"});
    }
    std::map<std::pair<std::string, std::string>, std::vector<double>> rates, items;
};

TEST(Pipeline, WhatAPartIsBelievedToTakeIsKeptOnceAStream) {
    on_a_quiet_machine([] {
        Collects model;
        Stream stream(2, 4, 4);
        for (const std::size_t device : {0, 1}) stream.all_take(device, 2ms);
        stream.pipeline().find_mapping(model);
        for (const auto& [items, measurements] : {std::pair(4, 0u), {12, 1u}, {12, 1u}, {70, 1u}}) {
            model.items.clear();
            ASSERT_EQ(stream.run(items), items);
            const auto& kept = model.items[{"fake:0", "piece 0 to piece 3, in a stream"}];
            EXPECT_EQ(kept.size(), measurements) << items;
            for (const double seconds : kept) EXPECT_NEAR(seconds, 8e-3, 4e-3);
        }
    });
}

TEST(Pipeline, OneMeasurementIsNotBelievedForEver) {
    on_a_quiet_machine([] {
        Collects model;
        model.know_pieces("fake:0", {2000, 2000, 2000});
        model.know_pieces("fake:1", {200}); // it was disturbed
        const auto run = [&](std::int64_t items, std::chrono::microseconds second) {
            Stream stream(2, 4, 4);
            stream.all_take(0, 500us);
            stream.all_take(1, second);
            stream.pipeline().find_mapping(model);
            ASSERT_EQ(stream.run(items), items);
        };
        run(3, 500us);
        EXPECT_EQ(model.of_piece("fake:1").size(), 1u) << "that would take as long as the stream";
        for (int time = 0; time < 4; ++time) run(300, 500us);
        ASSERT_EQ(model.of_piece("fake:1").size(), 3u) << "several are known then";
        EXPECT_GT(model.of_piece("fake:1").back(), 400);
        EXPECT_EQ(model.of_piece("fake:0").size(), 3u);
        EXPECT_EQ((model.rates.at({"fake:1", "link from fake device fake:0"}).size()), 3u);
    });
}

TEST(Pipeline, WhoIsKnownToBeSlowIsNotMeasuredToTheEndAgain) {
    on_a_quiet_machine([] {
        Collects model;
        model.know_pieces("fake:0", {2000, 2000, 2000});
        model.know_pieces("fake:1", {120});
        for (int time = 0; time < 3; ++time) {
            Stream stream(2, 4, 4);
            stream.all_take(0, 500us);
            stream.all_take(1, 8300us);
            stream.pipeline().find_mapping(model);
            ASSERT_EQ(stream.run(300), 300);
            // A piece twice, and two requests of links.
            EXPECT_LE(stream.device(1).requests(FakeRequest::launch), 6u);
            EXPECT_EQ(model.of_piece("fake:1").size(), 1u) << "that it is slow says not how slow";
        }
    });
}

/// It is slower than the fastest thrice over, but by far not as slow as was measured.
TEST(Pipeline, WhoIsNotAsSlowAsWasMeasuredIsMeasuredAgain) {
    on_a_quiet_machine([] {
        Collects model;
        model.know_pieces("fake:0", {2000, 2000, 2000});
        model.know_pieces("fake:1", {120}); // it was disturbed
        Stream stream(2, 4, 4);
        stream.all_take(0, 500us);
        stream.all_take(1, 800us);
        stream.pipeline().find_mapping(model);
        ASSERT_EQ(stream.run(300), 300);
        EXPECT_EQ(model.of_piece("fake:1").size(), 2u);
    });
}

/// A device that was left out may have been seen in a stream since, with other devices.
TEST(Pipeline, WhoIsLeftOutStaysSoWhateverStreamsTook) {
    Stream stream(2, 4, 4);
    Remembers model;
    for (std::size_t piece = 0; piece < 4; ++piece)
        model.rates[{"fake:0", "piece " + std::to_string(piece)}] = 1000;
    model.items[{"fake:1", "piece 0 to piece 3"}] = {.seconds = 1, .jobs = 1, .last = 1, .seconds_ago = 1};
    model.items[{"fake:1", "piece 0 to piece 3, in a stream"}] = {
        .seconds = 0.01, .jobs = 1, .last = 0.01, .seconds_ago = 1};
    stream.pipeline().find_division(model);
    EXPECT_EQ(stream.run(20), 20);
    EXPECT_EQ(stream.device(1).requests(FakeRequest::launch), 0u);
}

/// Some pieces suit one device and others the other, with 0.6 ms on the way between them: one item has 2.2 ms
/// on either, and 1.8 in parts, which follow each other in 0.6. (Of five none is seen to drift.)
TEST(Pipeline, AnotherNumberOfItemsIsDividedAnew) {
    Stream stream(2, 4, 4);
    Remembers model;
    for (const std::string device : {"fake:0", "fake:1"}) {
        for (std::size_t piece = 0; piece < 4; ++piece)
            model.rates[{device, "piece " + std::to_string(piece)}] =
                (device == "fake:0") == (piece < 2) ? 1 / 0.3e-3 : 1 / 0.8e-3;
        for (const char* other : {"fake:0", "fake:1"})
            model.rates[{device, std::string("link from fake device ") + other}] =
                Stream::numbers * sizeof(std::uint64_t) / 0.6e-3;
    }
    stream.pipeline().find_division(model);
    for (const auto& [items, parts] : {std::pair(1, 0u), {5, 2u}, {1, 0u}}) {
        ASSERT_EQ(stream.run(items), items);
        EXPECT_EQ(stream.pipeline().report().parts.size(), parts) << items;
    }
}

TEST(Pipeline, ADeviceThatCannotHoldAnItemHasNone) {
    Stream stream(2, 3, 4, true, 100);
    Remembers model;
    stream.pipeline().find_division(model);
    stream.run(20);
    EXPECT_EQ(stream.ended().size(), 20u);
    EXPECT_EQ(stream.device(1).requests(FakeRequest::launch), 0u);
}

TEST(Pipeline, ComparesAGivenMappingWithWhatIsKnown) {
    Stream stream(2, 4, 3);
    Remembers model;
    stream.pipeline().compare_with(model);
    stream.pipeline().map({{1, 0, 3}, {0, 3, 4}});
    stream.run(3);
    EXPECT_FALSE(stream.pipeline().report().speed_up.value) << "nothing is known";
    for (const char* piece : {"piece 0", "piece 1", "piece 2", "piece 3"}) {
        model.rates[{"fake:0", piece}] = 100;
        model.rates[{"fake:1", piece}] = 400;
    }
    stream.pipeline().compare_with(model);
    stream.run(3);
    const StreamReport report = stream.pipeline().report();
    EXPECT_DOUBLE_EQ(report.alone_seconds.value.value(), 3 * 4 / 400.0);
    EXPECT_DOUBLE_EQ(report.expected.value.value(), 1.25);
    ASSERT_EQ(report.parts.size(), 2u);
    EXPECT_DOUBLE_EQ(report.parts[0].predicted_seconds.value.value(), 3 / 400.0);
    EXPECT_DOUBLE_EQ(report.parts[1].predicted_seconds.value.value(), 1 / 100.0);
}

} // namespace
} // namespace headrace::test
