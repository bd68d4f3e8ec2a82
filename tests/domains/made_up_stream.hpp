// tests/domains/made_up_stream.hpp - a stream of numbers on made-up devices, that says whether each item is
// right and who did it.
#pragma once
#include <core/fake_device.hpp>
#include <core/takes.hpp>
#include <headrace/domains/streams/pipeline.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {

using namespace std::chrono_literals;

/// Items are numbers, which every piece changes in a way of its own, each in the tiles of its slot; and the
/// last piece adds up what it sees on its device.
class Stream {
public:
    static constexpr std::uint64_t numbers = 257;

    /// `memory_of_last`: the last device's.
    Stream(std::size_t devices, std::size_t pieces, std::size_t slots, bool has_peers = true,
           Bytes memory_of_last = Bytes{1} << 30)
        : pieces_(pieces), delays_(devices, std::vector<std::chrono::microseconds>(pieces)) {
        for (std::size_t i = 0; i < devices; ++i) {
            FakeOptions options{.id = "fake:" + std::to_string(i),
                                .has_peers = has_peers,
                                .longest_delay = 50us,
                                .seed = i + 1};
            if (i + 1 == devices) options.memory = memory_of_last;
            devices_.emplace_back(options);
            controllers_.emplace_back(devices_.back());
        }
        for (std::size_t i = 0; i < slots; ++i)
            items_.emplace_back("item " + std::to_string(i), numbers * sizeof(std::uint64_t));
        for (std::size_t i = 0; i < slots; ++i) writing_.emplace_back("writing");
        std::vector<Controller*> all;
        for (Controller& each : controllers_) all.push_back(&each);
        std::vector<StreamPiece> made;
        for (std::size_t piece = 0; piece < pieces; ++piece)
            made.push_back({"piece " + std::to_string(piece),
                            [this, piece](const StreamStep& step) { return work(piece, step); },
                            numbers * sizeof(std::uint64_t)});
        pipeline_.emplace(all, made, slots);
    }

    Pipeline& pipeline() { return *pipeline_; }
    FakeDevice& device(std::size_t i) { return devices_[i]; }
    /// From now on.
    void takes(std::size_t device, std::size_t piece, std::chrono::microseconds time) {
        const std::scoped_lock lock(mutex_);
        delays_[device][piece] = time;
    }
    /// Calls `change` when that item begins.
    void at_item(std::int64_t item, std::function<void()> change) { at_item_ = {item, std::move(change)}; }
    void breaks_from(std::int64_t item) { breaks_from_ = item; }
    void first_use_takes(std::size_t device, std::chrono::microseconds time) { first_use_ = {device, time}; }
    void reading_takes(std::chrono::microseconds time) { reading_takes_ = time; }
    [[nodiscard]] std::size_t being_read() const { return being_read_; }
    /// -1: of no item.
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
            {.begin = [this, items](std::int64_t item, std::size_t slot) -> std::optional<Event> {
                 if (item == items) return std::nullopt;
                 if (item == at_item_.first) at_item_.second();
                 if (item == has_no_input_) throw Error{ErrorKind::internal, "there is no item"};
                 most_under_way_ = std::max<std::size_t>(most_under_way_, ++under_way_);
                 ++being_read_;
                 return reading_.run("read", std::array{TileUse{tile(slot), Access::write}},
                                     [this, item, slot] {
                                         test::takes(reading_takes_);
                                         --being_read_;
                                         for (std::uint64_t i = 0; i < numbers; ++i)
                                             host(slot)[i] = static_cast<std::uint64_t>(item) + i;
                                     });
             },
             .end =
                 [this, in_order](std::int64_t item, std::size_t slot) {
                     return writing_[in_order ? 0 : slot].run("write",
                                                              std::array{TileUse{tile(slot), Access::read}},
                                                              [this, item, slot] { check(item, slot); });
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
    Tile tile(std::size_t slot) { return items_[slot].tile(); }
    std::uint64_t* host(std::size_t slot) { return static_cast<std::uint64_t*>(items_[slot].host()); }
    static std::uint64_t changed(std::uint64_t number, std::size_t piece) { return 31 * number + piece; }

    Event work(std::size_t piece, const StreamStep& step) {
        test::takes(submitting_takes_);
        if (step.item >= breaks_from_ && piece == 1)
            throw Error{ErrorKind::internal, "item " + std::to_string(step.item) + " cannot be submitted"};
        Memory& memory = step.controller.memory(items_[step.slot]);
        return step.controller.launch("piece", std::array{TileUse{tile(step.slot), Access::update}},
                                      [this, piece, &memory, step](const NativeStream&) {
                                          std::chrono::microseconds delay{};
                                          {
                                              const std::scoped_lock lock(mutex_);
                                              done_by_[{step.item, piece}] = step.device;
                                              delay = delays_[step.device][piece];
                                              if (first_use_.first == step.device)
                                                  delay += std::exchange(first_use_.second, 0us);
                                          }
                                          test::takes(delay);
                                          if (step.item == kernels_fail_)
                                              throw Error{ErrorKind::kernel, "a kernel fails"};
                                          auto* const all = static_cast<std::uint64_t*>(memory.address());
                                          // What is measured is done several times, and must be the same.
                                          if (piece == 0) std::iota(all, all + numbers, step.item);
                                          for (std::uint64_t i = 0; i < numbers; ++i)
                                              all[i] = changed(all[i], piece);
                                      });
    }

    void check(std::int64_t item, std::size_t slot) {
        for (std::uint64_t i = 0; i < numbers; ++i) {
            std::uint64_t expected = static_cast<std::uint64_t>(item) + i;
            for (std::size_t piece = 0; piece < pieces_; ++piece) expected = changed(expected, piece);
            if (host(slot)[i] != expected)
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
    std::pair<std::int64_t, std::function<void()>> at_item_{-1, {}};
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

inline std::vector<std::int64_t> in_order(std::int64_t items) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(items));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

} // namespace headrace::test
