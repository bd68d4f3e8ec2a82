// tests/domains/pipeline_test.cpp - streams of items through pieces on made-up devices: what comes out is
// what one device makes, whoever does what; and who does what.
#include <core/fake_device.hpp>
#include <headrace/core/trace.hpp>
#include <headrace/domains/streams/pipeline.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using testing::FakeDevice;
using testing::FakeRequest;

/// Knows what it is told, until the end.
class Remembers final : public PerformanceModel {
public:
    [[nodiscard]] Estimate estimate(const DeviceInfo& device, const KernelKey& kernel) const override {
        const auto found = rates.find({device.id, kernel.kernel});
        return {.peak = 1,
                .units_per_second = found == rates.end() ? std::nullopt : std::optional(found->second)};
    }
    void measured(const DeviceInfo& device, const KernelKey& kernel, double units_per_second) override {
        rates[{device.id, kernel.kernel}] = units_per_second;
    }
    void took(std::span<const DeviceInfo* const> devices, const KernelKey& kernel, double seconds) override {
        items[{devices.front()->id, kernel.kernel}] = {.seconds = seconds, .jobs = 1};
    }
    [[nodiscard]] std::optional<WholeJobs> whole_jobs(std::span<const DeviceInfo* const> devices,
                                                      const KernelKey& kernel) const override {
        const auto found = items.find({devices.front()->id, kernel.kernel});
        return found == items.end() ? std::nullopt : std::optional(found->second);
    }
    std::map<std::pair<std::string, std::string>, double> rates;
    std::map<std::pair<std::string, std::string>, WholeJobs> items;
};

/// Items are numbers, which every piece changes in a way of its own, each in the tiles of its place; and the
/// last piece adds up what it sees on its device.
class Stream {
public:
    static constexpr std::uint64_t numbers = 257;

    /// `memory_of_last`: the last device's.
    Stream(std::size_t devices, std::size_t pieces, std::size_t places, bool has_peers = true,
           Bytes memory_of_last = Bytes{1} << 30)
        : pieces_(pieces), delays_(devices, std::vector<std::chrono::microseconds>(pieces)) {
        for (std::size_t i = 0; i < devices; ++i) {
            ::headrace::testing::FakeOptions options{.id = "fake:" + std::to_string(i),
                                                     .has_peers = has_peers,
                                                     .longest_delay = 50us,
                                                     .seed = i + 1};
            if (i + 1 == devices) options.memory = memory_of_last;
            devices_.emplace_back(options);
            controllers_.emplace_back(devices_.back());
        }
        for (std::size_t i = 0; i < places; ++i)
            items_.emplace_back("item " + std::to_string(i), numbers * sizeof(std::uint64_t));
        for (std::size_t i = 0; i < places; ++i) writing_.emplace_back("writing");
        std::vector<Controller*> all;
        for (Controller& each : controllers_) all.push_back(&each);
        std::vector<StreamPiece> made;
        for (std::size_t piece = 0; piece < pieces; ++piece)
            made.push_back({"piece " + std::to_string(piece),
                            [this, piece](const StreamStep& step) { return work(piece, step); },
                            numbers * sizeof(std::uint64_t)});
        pipeline_.emplace(all, made, places);
    }

    Pipeline& pipeline() { return *pipeline_; }
    FakeDevice& device(std::size_t i) { return devices_[i]; }
    /// From now on.
    void takes(std::size_t device, std::size_t piece, std::chrono::microseconds time) {
        const std::scoped_lock lock(mutex_);
        delays_[device][piece] = time;
    }
    void breaks_from(std::int64_t item) { breaks_from_ = item; }
    void first_use_takes(std::size_t device, std::chrono::microseconds time) { first_use_ = {device, time}; }
    void reading_takes(std::chrono::microseconds time) { reading_takes_ = time; }
    [[nodiscard]] std::size_t being_read() const { return being_read_; }
    void kernels_fail(std::int64_t item) { kernels_fail_ = item; }
    void has_no_input(std::int64_t item) { has_no_input_ = item; }
    void submitting_takes(std::chrono::microseconds time) { submitting_takes_ = time; }
    void all_take(std::size_t device, std::chrono::microseconds time) {
        for (std::size_t piece = 0; piece < pieces_; ++piece) takes(device, piece, time);
    }

    /// `in_order`: the host has items in their order; else as they come.
    std::int64_t run(std::int64_t items, bool in_order = true) {
        done_by_.clear();
        ended_.clear();
        under_way_ = most_under_way_ = 0;
        return pipeline_->run(
            {.begin = [this, items](std::int64_t item, std::size_t place) -> std::optional<Event> {
                 if (item == items) return std::nullopt;
                 if (item == has_no_input_) throw Error{ErrorKind::internal, "there is no item"};
                 most_under_way_ = std::max<std::size_t>(most_under_way_, ++under_way_);
                 ++being_read_;
                 return reading_.run("read", std::array{TileUse{tile(place), Access::write}},
                                     [this, item, place] {
                                         std::this_thread::sleep_for(reading_takes_);
                                         --being_read_;
                                         for (std::uint64_t i = 0; i < numbers; ++i)
                                             host(place)[i] = static_cast<std::uint64_t>(item) + i;
                                     });
             },
             .end =
                 [this, in_order](std::int64_t item, std::size_t place) {
                     return writing_[in_order ? 0 : place].run("write",
                                                               std::array{TileUse{tile(place), Access::read}},
                                                               [this, item, place] { check(item, place); });
                 }},
            items + 1);
    }

    /// [item][piece]: the device that did it, the last time.
    std::size_t done_by(std::int64_t item, std::size_t piece) {
        const std::scoped_lock lock(mutex_);
        return done_by_.at({item, piece});
    }
    /// Of the last run.
    [[nodiscard]] std::size_t most_under_way() const { return most_under_way_; }
    std::vector<std::int64_t> ended() {
        const std::scoped_lock lock(mutex_);
        return ended_;
    }

private:
    Tile tile(std::size_t place) { return items_[place].tile(); }
    std::uint64_t* host(std::size_t place) { return static_cast<std::uint64_t*>(items_[place].host()); }
    static std::uint64_t changed(std::uint64_t number, std::size_t piece) { return 31 * number + piece; }

    Event work(std::size_t piece, const StreamStep& step) {
        std::this_thread::sleep_for(submitting_takes_);
        if (step.item >= breaks_from_ && piece == 1)
            throw Error{ErrorKind::internal, "item " + std::to_string(step.item) + " cannot be submitted"};
        Memory& memory = step.controller.memory(items_[step.place]);
        return step.controller.launch("piece", std::array{TileUse{tile(step.place), Access::update}},
                                      [this, piece, &memory, step](const NativeStream&) {
                                          std::chrono::microseconds delay{};
                                          {
                                              const std::scoped_lock lock(mutex_);
                                              done_by_[{step.item, piece}] = step.device;
                                              delay = delays_[step.device][piece];
                                              if (first_use_.first == step.device)
                                                  delay += std::exchange(first_use_.second, 0us);
                                          }
                                          std::this_thread::sleep_for(delay);
                                          if (step.item == kernels_fail_)
                                              throw Error{ErrorKind::kernel, "a kernel fails"};
                                          auto* const all = static_cast<std::uint64_t*>(memory.address());
                                          // What is measured is done several times, and must be the same.
                                          if (piece == 0) std::iota(all, all + numbers, step.item);
                                          for (std::uint64_t i = 0; i < numbers; ++i)
                                              all[i] = changed(all[i], piece);
                                      });
    }

    void check(std::int64_t item, std::size_t place) {
        for (std::uint64_t i = 0; i < numbers; ++i) {
            std::uint64_t expected = static_cast<std::uint64_t>(item) + i;
            for (std::size_t piece = 0; piece < pieces_; ++piece) expected = changed(expected, piece);
            if (host(place)[i] != expected)
                throw Error{ErrorKind::internal, "item " + std::to_string(item) + " is wrong"};
        }
        const std::scoped_lock lock(mutex_);
        ended_.push_back(item);
        --under_way_;
    }

    const std::size_t pieces_;
    std::chrono::microseconds submitting_takes_{}, reading_takes_{};
    std::atomic<std::size_t> being_read_ = 0;
    std::int64_t breaks_from_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t kernels_fail_ = -1, has_no_input_ = -1;
    std::pair<std::size_t, std::chrono::microseconds> first_use_{}; ///< of whom, while it has not been
    std::atomic<std::size_t> under_way_ = 0;
    std::size_t most_under_way_ = 0;
    std::mutex mutex_;
    std::vector<std::vector<std::chrono::microseconds>> delays_;
    std::map<std::pair<std::int64_t, std::size_t>, std::size_t> done_by_;
    std::vector<std::int64_t> ended_;
    std::deque<FakeDevice> devices_;
    std::deque<Controller> controllers_;
    HostLane reading_{"reading"};
    std::deque<HostLane> writing_;
    std::deque<Storage> items_;
    std::optional<Pipeline> pipeline_;
};

std::vector<std::int64_t> in_order(std::int64_t items) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(items));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

TEST(Pipeline, AnyMappingGivesTheSameItemsInTheirOrder) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (int turn = 0; turn < 20; ++turn) {
        const std::size_t devices = 1 + random() % 4, pieces = 1 + random() % 7, places = 1 + random() % 5;
        Stream stream(devices, pieces, places, random() % 2 == 0);
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
        if (random() % 2 == 0) stream.pipeline().feed_apart();
        const auto items = static_cast<std::int64_t>(random() % 30);
        EXPECT_EQ(stream.run(items), items);
        EXPECT_EQ(stream.ended(), in_order(items));
        for (std::int64_t item = 0; item < items; ++item)
            for (const StreamCut& cut : cuts)
                for (std::size_t piece = cut.begin; piece < cut.end; ++piece)
                    ASSERT_EQ(stream.done_by(item, piece), cut.device);
    }
}

TEST(Pipeline, WholeItemsGoToWhoHasRoom) {
    Stream stream(2, 3, 4);
    stream.all_take(0, 200us);
    stream.all_take(1, 20ms);
    stream.pipeline().give_whole_items();
    EXPECT_EQ(stream.run(60, false), 60);
    EXPECT_EQ(stream.ended().size(), 60u);
    std::int64_t slow = 0;
    for (std::int64_t item = 0; item < 60; ++item) {
        EXPECT_EQ(stream.done_by(item, 0), stream.done_by(item, 2));
        slow += stream.done_by(item, 0) == 1;
    }
    EXPECT_GT(slow, 0);
    EXPECT_LT(slow, 25);
}

TEST(Pipeline, WholeItemsInTheirOrderKeepNobodyWaiting) {
    Stream stream(2, 3, 8);
    stream.all_take(0, 2ms);
    stream.all_take(1, 6ms);
    stream.pipeline().give_whole_items();
    EXPECT_EQ(stream.run(48), 48);
    EXPECT_EQ(stream.ended(), in_order(48));
    std::int64_t slow = 0;
    for (std::int64_t item = 0; item < 48; ++item) slow += stream.done_by(item, 0) == 1;
    EXPECT_GE(slow, 3); // 12, on an idle machine
    EXPECT_LE(slow, 20) << "in turns it would have 24";
}

TEST(Pipeline, WholeItemsOrPartsWhateverPromisesMore) {
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
            EXPECT_EQ(stream.run(12), 12);
            EXPECT_EQ(stream.ended(), in_order(12));
            const StreamReport report = stream.pipeline().report();
            EXPECT_EQ(report.parts.size(), alike ? 0u : 2u);
            EXPECT_DOUBLE_EQ(report.expected.value.value(), 2);
            EXPECT_GT(report.speed_up.value.value(), 0);
            EXPECT_EQ(stream.most_under_way(), 4u);
        }
        for (std::int64_t item = 0; item < 12; ++item)
            EXPECT_EQ(stream.done_by(item, 0) == stream.done_by(item, 1), alike);
    }
}

TEST(Pipeline, ASlowDeviceHasNoWholeItems) {
    Stream stream(2, 2, 6);
    stream.all_take(0, 500us);
    stream.all_take(1, 50ms);
    Remembers model;
    stream.pipeline().find_division(model);
    EXPECT_EQ(stream.run(40), 40);
    for (std::int64_t item = 1; item < 40; ++item) EXPECT_EQ(stream.done_by(item, 1), 0u) << item;
}

TEST(Pipeline, NobodyWaitsForAHopelessDeviceToBeMeasured) {
    Stream stream(2, 4, 3);
    stream.all_take(0, 1ms);
    stream.all_take(1, 1s);
    Remembers model;
    stream.pipeline().find_division(model);
    EXPECT_EQ(stream.run(9), 9);
    EXPECT_EQ(stream.ended(), in_order(9));
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
    EXPECT_EQ(again.run(9), 9);
    EXPECT_EQ(again.device(1).requests(FakeRequest::launch), 0u) << "it is known";
    Stream given(2, 4, 3); // so are figures where nothing is measured
    given.pipeline().compare_with(model);
    given.pipeline().map({{0, 0, 4}});
    EXPECT_EQ(given.run(3), 3);
    EXPECT_DOUBLE_EQ(given.pipeline().report().expected.value.value(), 1);
    given.pipeline().map({{1, 0, 1}, {0, 1, 4}}); // it has a part all the same
    given.pipeline().time_parts();
    EXPECT_EQ(given.run(3), 3);
    EXPECT_TRUE(given.pipeline().report().left_out.empty());
    EXPECT_FALSE(given.pipeline().report().parts.front().predicted_seconds.value);
    for (auto& [key, item] : model.items) item.jobs = 0; // long ago
    Stream later(2, 4, 3);
    later.pipeline().find_division(model);
    EXPECT_EQ(later.run(9), 9);
    EXPECT_TRUE(model.rates.contains({"fake:1", "piece 0"})) << "it is as fast as the other now";
}

TEST(Pipeline, LinksAreMeasuredWhereThereIsLittleRoom) {
    Stream stream(2, 3, 4, true, 1 << 20);
    Remembers model;
    stream.pipeline().find_mapping(model);
    EXPECT_EQ(stream.run(9), 9);
    EXPECT_EQ(stream.ended(), in_order(9));
    EXPECT_TRUE(model.rates.contains({"fake:1", "link from fake device fake:0"}));
    EXPECT_TRUE(stream.pipeline().report().left_out.empty());
}

TEST(Pipeline, AnItemThatCannotBeSubmittedIsThereNoMoreEither) {
    Stream stream(1, 2, 2);
    stream.breaks_from(0);
    stream.reading_takes(50ms);
    EXPECT_THROW(stream.run(3), Error);
    EXPECT_EQ(stream.being_read(), 0u);
}

TEST(Pipeline, TellsHowWellWholeItemsWereDivided) {
    Stream stream(2, 2, 8);
    stream.all_take(0, 5ms);
    stream.all_take(1, 10ms);
    stream.pipeline().give_whole_items();
    EXPECT_EQ(stream.run(1), 1);
    EXPECT_FALSE(stream.pipeline().report().efficiency.value);
    EXPECT_EQ(stream.run(60), 60);
    const StreamReport report = stream.pipeline().report();
    ASSERT_TRUE(report.efficiency.value) << report.efficiency.why_absent;
    EXPECT_GT(*report.expected.value, 1); // 1.5, on an idle machine
    EXPECT_LE(*report.expected.value, 2);
    EXPECT_DOUBLE_EQ(*report.speed_up.value, *report.alone_seconds.value / report.seconds);
    EXPECT_DOUBLE_EQ(*report.efficiency.value, *report.speed_up.value / *report.expected.value);
}

TEST(Pipeline, AFirstUseThatTakesLongIsNoReasonToLeaveADeviceOut) {
    Stream stream(2, 4, 3);
    stream.all_take(0, 10ms);
    stream.all_take(1, 10ms);
    stream.first_use_takes(1, 1000ms); // more than twenty items of the other
    Remembers model;
    stream.pipeline().find_division(model);
    EXPECT_EQ(stream.run(20), 20);
    EXPECT_TRUE(model.rates.contains({"fake:1", "piece 3"}));
}

TEST(Pipeline, WhoSubmitsToOneDeviceKeepsNobodyWaiting) {
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
    stream.pipeline().feed_apart();
    EXPECT_LT(time(), 0.9 * by_one) << "half of it, on an idle machine";
}

TEST(Pipeline, PartsOfAStreamOverlap) {
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
}

TEST(Pipeline, TracesShowPartsOfItems) {
    const auto count = [](Trace& trace, const std::string& name) {
        const std::string text = trace.json();
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    const auto expect = [&](Trace& trace, const std::string& name, std::size_t items) {
        const auto end =
            std::chrono::steady_clock::now() + 10s; // who waits may hear of it before continuations
        while (count(trace, name) < items && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(1ms);
        EXPECT_EQ(count(trace, name), items) << name;
    };
    for (const bool apart : {false, true}) {
        Stream stream(2, 3, 4);
        if (apart) stream.pipeline().feed_apart();
        Trace trace;
        stream.pipeline().map({{1, 0, 1}, {0, 1, 3}});
        stream.run(7);
        expect(trace, "part 1 of 2 of an item", 7);
        expect(trace, "part 2 of 2 of an item", 7);
        stream.pipeline().give_whole_items();
        stream.run(5);
        expect(trace, R"("an item")", 5);
    }
}

TEST(Pipeline, MeasuresPiecesAndLinks) {
    Stream stream(3, 4, 4);
    const std::array each{3ms, 5ms, 15ms};
    for (std::size_t device = 0; device < 3; ++device) stream.all_take(device, each[device]);
    stream.takes(0, 2, 20ms);
    Remembers model;
    stream.pipeline().find_mapping(model);
    EXPECT_EQ(stream.run(3), 3);
    EXPECT_EQ(stream.ended(), in_order(3));
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
}

TEST(Pipeline, FindsWhoShouldDoWhat) {
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
    Stream stream(2, 8, 4);
    stream.all_take(0, 2ms);
    stream.all_take(1, 2ms);
    Remembers model;
    stream.pipeline().find_mapping(model);
    std::thread later([&stream] {
        std::this_thread::sleep_for(400ms);
        stream.all_take(1, 14ms);
    });
    EXPECT_EQ(stream.run(120), 120);
    later.join();
    const StreamReport report = stream.pipeline().report();
    EXPECT_GE(report.remapped, 1u);
    std::size_t done_by_slow = 0;
    for (std::size_t piece = 0; piece < 8; ++piece) done_by_slow += stream.done_by(119, piece) == 1;
    EXPECT_LE(done_by_slow, 2u);
}

TEST(Pipeline, AFailureEndsTheStreamAndNothingIsUnderWayThen) {
    for (const int how : {0, 1, 2, 3}) {
        const bool whole = how % 2 == 1;
        Stream stream(2, 2, 3);
        if (how > 1) stream.pipeline().feed_apart();
        if (whole)
            stream.pipeline().give_whole_items();
        else
            stream.pipeline().map({{1, 0, 1}, {0, 1, 2}});
        stream.all_take(0, 1ms); // so that both have items
        stream.all_take(1, 1ms);
        stream.run(5);
        stream.device(1).fail_next(FakeRequest::launch);
        EXPECT_THROW(stream.run(50), Error);
        EXPECT_LT(stream.ended().size(), 50u);
        EXPECT_EQ(stream.run(5), 5) << "the next run is as if nothing had been";
    }
}

TEST(Pipeline, TheFirstFailureIsTheFirstItems) {
    for (const bool apart : {false, true}) {
        Stream stream(2, 2, 3);
        stream.pipeline().map_one_to_one();
        if (apart) stream.pipeline().feed_apart();
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
