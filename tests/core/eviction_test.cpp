// tests/core/eviction_test.cpp - a device that is full frees what is not needed, and loses nothing by it.
#include <headrace/core/controller.hpp>

#include <core/fake_device.hpp>
#include <core/kernel_bodies.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace headrace {
namespace {

using test::FakeDevice;
using test::FakeOptions;
using test::FakeRequest;
using test::nothing;

/// A device with room for a hundred bytes, and another one with more, which it reaches.
class EvictionTest : public ::testing::Test {
protected:
    Event run_on(Controller& on, Storage& storage, Access access, Stream::Body body = nothing) {
        const TileUse use{storage.tile(), access};
        return on.launch("kernel", {&use, 1}, std::move(body));
    }
    Event read(Storage& storage) { return run_on(controller, storage, Access::read); }
    /// Here alone, and with these bytes.
    void write(Storage& storage, int value) { start_to_write(storage, value).wait(); }
    Event start_to_write(
        Storage& storage, int value, const std::function<void()>& before = [] {}) {
        return run_on(
            controller, storage, Access::write,
            [=, to = controller.memory(storage).address(), size = storage.bytes()](const NativeStream&) {
                before();
                std::memset(to, value, size);
            });
    }
    static std::vector<unsigned char> gathered(Storage& storage) {
        gather(storage.tile()).wait();
        const auto* bytes = static_cast<const unsigned char*>(storage.host());
        return {bytes, bytes + storage.bytes()};
    }
    static std::vector<unsigned char> full_of(unsigned char value, Bytes size) {
        return std::vector<unsigned char>(size, value);
    }

    Event evict(std::initializer_list<Storage*> needed) {
        std::vector<Tile> parts;
        for (Storage* storage : needed) parts.push_back(storage->tile());
        return controller.evict(lack, parts);
    }
    Bytes taken() const { return device.options().memory - device.free_memory(); }

    FakeDevice device{FakeOptions{.id = "small", .has_peers = true, .memory = 100}};
    FakeDevice large{FakeOptions{.id = "large", .has_peers = true}};
    Controller controller{device}, other{large};
    std::vector<std::byte> words = std::vector<std::byte>(100);
    const Error lack{ErrorKind::out_of_memory, "asked for 60 bytes"};
};

TEST_F(EvictionTest, WhatWasNotUsedForLongestGoesFirst) {
    Storage a("a", 30, words.data()), b("b", 31, words.data()), c("c", 32, words.data());
    for (Storage* storage : {&a, &b, &c, &a}) read(*storage).wait();
    EXPECT_TRUE(evict({}).done());
    EXPECT_EQ(taken(), 30U + 32);
    EXPECT_TRUE(evict({}).done());
    EXPECT_EQ(taken(), 30U);
    read(b).wait(); // comes back
    EXPECT_EQ(taken(), 30U + 31);
}

TEST_F(EvictionTest, WhatIsElsewhereTooGoesBeforeWhatIsHereAlone) {
    Storage dirty("dirty", 30), clean("clean", 31, words.data());
    write(dirty, 7);
    read(clean).wait();
    EXPECT_TRUE(evict({}).done());
    EXPECT_EQ(taken(), 30U);
    EXPECT_EQ(device.bytes_out(), 0U);
}

TEST_F(EvictionTest, WhatIsHereAloneGoesToTheHostFirst) {
    Storage dirty("dirty", 30);
    write(dirty, 7);
    const Event on_its_way = evict({});
    on_its_way.wait();
    EXPECT_EQ(taken(), 30U) << "it is freed when the host has it";
    EXPECT_TRUE(evict({}).done());
    EXPECT_EQ(taken(), 0U);
    EXPECT_EQ(gathered(dirty), full_of(7, 30));
}

TEST_F(EvictionTest, OnlyThePartsThatAreHereAloneGoToTheHost) {
    Storage datum("datum", 30, words.data());
    read(datum).wait();
    const TileUse part{datum.tile(10, 14), Access::write};
    auto* here = static_cast<std::byte*>(controller.memory(datum).address());
    controller.launch("kernel", {&part, 1}, [=](const NativeStream&) { std::memset(here + 10, 9, 4); });
    controller.wait_all();
    evict({}).wait();
    EXPECT_TRUE(evict({}).done());
    EXPECT_EQ(device.bytes_out(), 4U);
    auto expected = full_of(0, 30);
    std::fill_n(expected.begin() + 10, 4, 9);
    EXPECT_EQ(gathered(datum), expected);
}

TEST_F(EvictionTest, WhatAKernelUsesIsWaitedFor) {
    Storage a("a", 30), b("b", 31);
    Promise first, second;
    start_to_write(a, 1, [end = first.event()] { end.wait(); });
    std::unique_ptr<Stream> stream = device.make_stream(); // beside the other one
    const TileUse use{b.tile(), Access::write};
    const Event ended = controller.submit("kernel", {&use, 1}, [&](std::span<const Event> after) {
        return stream->launch([end = second.event()](const NativeStream&) { end.wait(); }, after);
    });
    const Event room = evict({});
    EXPECT_FALSE(room.done());
    EXPECT_EQ(taken(), 61U);
    second.complete();
    EXPECT_FALSE(!room.wait_for(std::chrono::seconds(100))) << "the first that ends may make room";
    EXPECT_TRUE(ended.done());
    first.complete();
}

TEST_F(EvictionTest, WhatAnotherDeviceIsCopyingStaysUntilItHasIt) {
    Storage datum("datum", 30);
    Promise gate;
    start_to_write(datum, 5, [end = gate.event()] { end.wait(); });
    std::vector<std::byte> seen(30);
    const Event copied =
        run_on(other, datum, Access::read, [&, from = other.memory(datum).address()](const NativeStream&) {
            std::memcpy(seen.data(), from, seen.size());
        });
    const Event room = evict({});
    EXPECT_FALSE(room.done());
    gate.complete();
    while (taken() > 0) evict({}).wait();
    copied.wait();
    EXPECT_EQ(large.bytes_peer(), 30U);
    EXPECT_EQ(seen, std::vector<std::byte>(30, std::byte{5}));
    EXPECT_EQ(gathered(datum), full_of(5, 30));
    EXPECT_EQ(device.bytes_out(), 0U) << "the other device has it, too";
}

TEST_F(EvictionTest, ACopyElsewhereThatHasFailedIsNone) {
    Storage datum("datum", 30);
    write(datum, 5);
    large.fail_next(FakeRequest::copy_peer);
    EXPECT_NE(run_on(other, datum, Access::read).outcome(), nullptr);
    while (taken() > 0) evict({}).wait();
    EXPECT_EQ(gathered(datum), full_of(5, 30));
}

TEST_F(EvictionTest, WhatCannotBeBroughtToTheHostStays) {
    Storage datum("datum", 30);
    write(datum, 5);
    device.fail_next(FakeRequest::copy_out);
    const Event room = evict({});
    EXPECT_NE(room.outcome(), nullptr);
    EXPECT_EQ(taken(), 30U);
    EXPECT_EQ(gathered(datum), full_of(5, 30));
}

TEST_F(EvictionTest, WhatIsNeededStaysAndTheErrorSaysWhatIsInTheWay) {
    Storage needed("needed", 40, words.data()), wanted("wanted", 70, words.data());
    Storage scratch("scratch", 20, internal);
    read(needed).wait();
    write(scratch, 1);
    try {
        static_cast<void>(evict({&needed, &wanted}));
        ADD_FAILURE() << "there was nothing to free";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        EXPECT_EQ(error.device(), "small");
        for (const char* part : {"asked for 60 bytes", "'needed' (40 bytes)", "'wanted' (70 bytes)",
                                 "'scratch' (20 bytes)", "100 bytes", "40 are free"})
            EXPECT_NE(error.message().find(part), std::string::npos) << part << " in " << error.message();
    }
    EXPECT_EQ(taken(), 60U);
}

TEST_F(EvictionTest, InternalDataGoOnlyWhereAnotherDeviceHasThem) {
    Storage scratch("scratch", 20, internal);
    write(scratch, 3);
    EXPECT_THROW(static_cast<void>(evict({})), Error);
    run_on(other, scratch, Access::read).wait();
    EXPECT_TRUE(evict({}).done());
    EXPECT_EQ(taken(), 0U);
    const std::byte* here = static_cast<const std::byte*>(controller.memory(scratch).address());
    std::vector<std::byte> seen(20);
    run_on(controller, scratch, Access::read, [&](const NativeStream&) {
        std::memcpy(seen.data(), here, seen.size());
    }).wait();
    EXPECT_EQ(seen, std::vector<std::byte>(20, std::byte{3}));
}

TEST_F(EvictionTest, OneMayMakeRoomWhileOthersUseAndEndTheirData) {
    std::atomic<bool> ends = false;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 2; ++thread)
        threads.emplace_back([&] {
            while (!ends) {
                std::array<std::byte, 25> here{};
                Storage datum("datum", here.size(), here.data());
                try {
                    read(datum).wait();
                    gather(datum.tile()).wait();
                } catch (const Error& error) {
                    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
                }
            }
        });
    for (int i = 0; i < 500; ++i) {
        Storage datum("mine", 30);
        write(datum, i & 0x7f);
        try {
            while (taken() > 60) evict({}).wait();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what(); // nothing is here any more
        }
        EXPECT_EQ(gathered(datum), full_of(static_cast<unsigned char>(i & 0x7f), 30));
    }
    ends = true;
}

} // namespace
} // namespace headrace
