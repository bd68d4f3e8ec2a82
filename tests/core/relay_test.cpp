// tests/core/relay_test.cpp - copies between devices that do not reach each other: through the host, in
// pieces.
#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <headrace/core/controller.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

std::byte pattern(Bytes i) { return static_cast<std::byte>(i * 31 + i / 4096); }

void write_pattern(Memory& memory) {
    auto* bytes = static_cast<std::byte*>(memory.address());
    for (Bytes i = 0; i < memory.size(); ++i) bytes[i] = pattern(i);
}
bool has_pattern(const Memory& memory, Bytes begin, Bytes end) {
    const auto* bytes = static_cast<const std::byte*>(memory.address());
    for (Bytes i = begin; i < end; ++i)
        if (bytes[i] != pattern(i)) return false;
    return true;
}

/// A kernel of `from` writes all of the storage; one of `to` then reads it, and `right` says whether it is
/// there.
Event pass_on(Controller& from, Controller& to, Storage& storage, std::atomic<bool>& right) {
    const TileUse write{storage.tile(), Access::write}, read{storage.tile(), Access::read};
    Memory &source = from.memory(storage), &target = to.memory(storage);
    from.launch("write", {&write, 1}, [&](const NativeStream&) { write_pattern(source); });
    return to.launch("read", {&read, 1},
                     [&](const NativeStream&) { right = has_pattern(target, 0, storage.bytes()); });
}

TEST(Relay, BringsEveryByteOnceWhateverTheSize) {
    for (const unsigned family : {0U, 1U}) // the second device's events in the driver's order, and not
        for (const Bytes size : {Bytes{1}, Bytes{1} << 20, (Bytes{1} << 20) + 1, (Bytes{9} << 20) + 4097}) {
            FakeDevice a({.id = "a", .longest_delay = 200us}),
                b({.id = "b", .longest_delay = 200us, .family = family});
            Controller from(a), to(b);
            Storage storage("x", size);
            std::atomic<bool> right = false;
            pass_on(from, to, storage, right).wait();
            EXPECT_TRUE(right) << size;
            EXPECT_EQ(a.bytes_out(), size);
            EXPECT_EQ(b.bytes_in(), size);
            EXPECT_EQ(b.requests(FakeRequest::copy_in), a.requests(FakeRequest::copy_out));
            EXPECT_GE(b.requests(FakeRequest::copy_in), size > Bytes{4} << 20 ? 4U : 1U);
            headrace::gather(storage.tile()).wait(); // the host has it, too
            EXPECT_EQ(a.bytes_out(), size);
        }
}

TEST(Relay, SplitTilesGoTheSameWay) {
    FakeDevice a({.id = "a"}), b({.id = "b"});
    Controller from(a), to(b);
    const Bytes size = Bytes{6} << 20;
    Storage storage("x", size);
    for (Bytes at = 1000; at < size; at += 1'234'567) host_wrote(storage.tile(at, size));
    std::atomic<bool> right = false;
    pass_on(from, to, storage, right).wait();
    EXPECT_TRUE(right);
    EXPECT_EQ(b.bytes_in(), size);
}

/// A device whose copies out wait, from the second on, until somebody says so.
class Hesitant final : public Device {
public:
    Hesitant(FakeDevice& device, const Event& until) : device_(device), until_(until) {}

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return device_.info(); }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override { return device_.allocate(size); }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override {
        return device_.allocate_host(size);
    }
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing timing) override {
        return std::make_unique<Hesitating>(device_.make_stream(timing), until_);
    }
    [[nodiscard]] bool reaches(const Device&) const override { return false; }
    [[nodiscard]] Bytes free_memory() const override { return device_.free_memory(); }

private:
    class Hesitating final : public Stream {
    public:
        Hesitating(std::unique_ptr<Stream> stream, const Event& until)
            : stream_(std::move(stream)), until_(until) {}
        Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                      std::span<const Event> after) override {
            return stream_->copy_in(to, offset, from, size, after);
        }
        Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                       std::span<const Event> after) override {
            std::vector<Event> all(after.begin(), after.end());
            if (copies_++ > 0) all.push_back(until_);
            return stream_->copy_out(to, from, offset, size, all);
        }
        Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                        std::span<const Event> after) override {
            return stream_->copy_peer(to, to_offset, from, from_offset, size, after);
        }
        Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                   std::span<const Event> after) override {
            return stream_->fill(memory, offset, size, pattern, after);
        }
        Event launch(Body body, std::span<const Event> after) override {
            return stream_->launch(std::move(body), after);
        }

    private:
        std::unique_ptr<Stream> stream_;
        Event until_;
        unsigned copies_ = 0;
    };

    FakeDevice& device_;
    Event until_;
};

TEST(Relay, TheFirstPieceArrivesBeforeTheLastOneLeaves) {
    FakeDevice a({.id = "a"}), b({.id = "b", .family = 1});
    Promise arrived;
    Hesitant hesitant(a, arrived.event());
    Controller from(hesitant), to(b);
    Storage storage("x", Bytes{8} << 20);
    std::atomic<bool> right = false;
    const Event read = pass_on(from, to, storage, right);
    // The second piece does not leave `a` before the first has begun to enter `b`.
    EXPECT_TRUE(test::eventually([&] { return b.requests(FakeRequest::copy_in) > 0; }));
    EXPECT_EQ(b.requests(FakeRequest::copy_in), 1U);
    EXPECT_EQ(a.requests(FakeRequest::copy_out), 1U);
    arrived.complete();
    read.wait();
    EXPECT_TRUE(right);
}

TEST(Relay, AFailedPieceFailsTheWhole) {
    for (const bool first_half : {true, false}) {
        FakeDevice a({.id = "a"}), b({.id = "b", .family = 1});
        Controller from(a), to(b);
        Storage storage("x", Bytes{5} << 20);
        (first_half ? a : b).fail_next(first_half ? FakeRequest::copy_out : FakeRequest::copy_in);
        std::atomic<bool> right = false;
        EXPECT_TRUE(pass_on(from, to, storage, right).outcome());
        // What the first device has is as good as before, and can be had again.
        EXPECT_NO_THROW(pass_on(from, to, storage, right).wait());
        EXPECT_TRUE(right);
    }
}

TEST(Relay, NothingIsOvertakenByWhatComesLater) {
    FakeDevice a({.id = "a", .longest_delay = 300us}), b({.id = "b", .longest_delay = 300us, .family = 1});
    Controller from(a), to(b);
    Storage storage("x", Bytes{4} << 20);
    const Tile tile = storage.tile();
    Memory &here = from.memory(storage), &there = to.memory(storage);
    std::atomic<int> wrong = 0;
    for (int round = 0; round < 20;
         ++round) { // back and forth; each finds what the one before left everywhere
        const bool forth = round % 2 == 0;
        Memory& memory = forth ? here : there;
        const TileUse use{tile, round == 0 ? Access::write : Access::update};
        (forth ? from : to).launch("count", {&use, 1}, [&memory, &wrong, round](const NativeStream&) {
            auto* bytes = static_cast<std::uint8_t*>(memory.address());
            for (Bytes i = 0; i < memory.size(); i += 509) {
                if (round > 0 && bytes[i] != round - 1) ++wrong;
                bytes[i] = static_cast<std::uint8_t>(round);
            }
        });
    }
    headrace::wait(tile);
    EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace headrace::test
