// tests/devices/contract_test.cpp - what core/device.hpp promises, on every backend.
#include <core/eventually.hpp>
#include <core/quiet_machine.hpp>
#include <core/seeds.hpp>
#include <devices/devices_fixture.hpp>
#include <devices/requests.hpp>
#include <headrace/internal/core/changes.hpp>

#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

class Contract : public OnDevices {
protected:
    void SetUp() override {
        OnDevices::SetUp();
        if (!devices_.empty()) stream_ = device().make_stream();
    }
    Stream& stream() { return *stream_; }

    std::unique_ptr<Stream> stream_; // goes before its device
};

INSTANTIATE_TEST_SUITE_P(Devices, Contract, every_device(), test_name);

TEST_P(Contract, SaysWhatItIs) {
    const DeviceInfo& info = device().info();
    EXPECT_FALSE(info.id.empty());
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.driver.empty());
    EXPECT_FALSE(info.physical_id.empty());
    EXPECT_EQ(info.technology, GetParam().substr(0, GetParam().find(':')));
    EXPECT_GT(info.memory, 100u << 20);
    EXPECT_LE(info.largest_allocation, info.memory);
    EXPECT_GE(info.compute_units, 1u);
    EXPECT_GE(info.lane_group, 1u);
    EXPECT_GT(info.peak_gflops, 1);
    EXPECT_LT(info.peak_gflops, 1e6);
    EXPECT_LE(device().free_memory(), info.memory);
    EXPECT_GT(device().free_memory(), 0u);
}

TEST_P(Contract, CopiesComeBackWhateverSizeAndOffset) {
    // The largest is more than two of the buffers that unpinned memory goes through.
    for (const Bytes size : {1u, 3u, 63u, 64u, 65u, 4097u, (1u << 20) + 1, (9u << 20) + 5})
        for (const Bytes offset : {0u, 1u, 7u, 129u}) {
            const auto memory = device().allocate(size + offset + 1);
            const auto sent = some_bytes(size, offset);
            std::vector<std::byte> received(size);
            const Event in = stream().copy_in(*memory, offset, sent.data(), size);
            stream().copy_out(received.data(), *memory, offset, size, {&in, 1}).wait();
            ASSERT_EQ(sent, received) << size << " bytes at " << offset;
        }
}

TEST_P(Contract, CopiesGoBothWaysAtOnce) {
    // Of unpinned memory, in many pieces, and all of it handed over before anything may begin.
    const Bytes size = (21u << 20) + 13;
    const auto other = device().make_stream();
    const auto here = device().allocate(size), there = device().allocate(size);
    const auto sent = some_bytes(size, 1), kept = some_bytes(size, 2);
    stream().copy_in(*there, 0, kept.data(), size).wait();
    std::vector<std::byte> received(size), back(size);
    Promise gate;
    const Event open = gate.event();
    const Event in = stream().copy_in(*here, 0, sent.data(), size, {&open, 1});
    const Event out = other->copy_out(received.data(), *there, 0, size, {&open, 1});
    const Event again = other->copy_out(back.data(), *here, 0, size, {&in, 1});
    EXPECT_FALSE(in.done() || out.done());
    gate.complete();
    out.wait();
    again.wait();
    EXPECT_EQ(kept, received);
    EXPECT_EQ(sent, back);
}

TEST_P(Contract, CopiesFromAndToItsOwnHostMemory) {
    const Bytes size = (3u << 20) + 11;
    const auto from = device().allocate_host(size), to = device().allocate_host(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(from.get()) % 64, 0u);
    const auto sent = some_bytes(size, 5);
    std::ranges::copy(sent, static_cast<std::byte*>(from.get()));
    const auto memory = device().allocate(size);
    stream().copy_in(*memory, 0, from.get(), size);
    stream().copy_out(to.get(), *memory, 0, size).wait();
    EXPECT_TRUE(std::ranges::equal(sent, std::span(static_cast<const std::byte*>(to.get()), size)));
}

TEST_P(Contract, ReachesNoHostMemoryButWhatIsMappedForIt) {
    const DeviceInfo& info = device().info();
    const bool maps = info.technology == "cuda" || info.technology == "hip";
    const std::vector<std::byte> plain(4096);
    auto own = device().allocate_host(4096);
    const auto* const begin = static_cast<const std::byte*>(own.get());
    EXPECT_EQ(device().reaches_host(plain.data()), info.shares_host_memory);
    EXPECT_EQ(device().reaches_host(begin), info.shares_host_memory || maps);
    EXPECT_EQ(device().reaches_host(begin + 4095), info.shares_host_memory || maps);
    own.reset();
    EXPECT_EQ(device().reaches_host(begin), info.shares_host_memory);
}

TEST_P(Contract, CopiesOfNothingComplete) {
    const auto memory = device().allocate(64);
    std::byte byte{};
    EXPECT_NO_THROW(stream().copy_in(*memory, 64, &byte, 0).wait());
    EXPECT_NO_THROW(stream().copy_out(&byte, *memory, 0, 0).wait());
    EXPECT_NO_THROW(stream().fill_zero(*memory, 3, 0).wait());
}

/// The pattern's bytes, in what lies between others.
template <class T>
void expect_fill(Device& device, Stream& stream, T value) {
    for (const std::size_t count : {0U, 1U, 2U, 1000U, 300'007U}) {
        const Bytes begin = 3 * sizeof(T), size = (count + 4) * sizeof(T);
        const auto memory = device.allocate(size);
        auto expected = some_bytes(size, count);
        stream.copy_in(*memory, 0, expected.data(), size);
        stream.fill(*memory, begin, count * sizeof(T), Pattern(value));
        std::vector<std::byte> received(size);
        stream.copy_out(received.data(), *memory, 0, size).wait();
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(expected.data() + begin + i * sizeof(T), &value, sizeof(T));
        ASSERT_EQ(expected, received) << count << " of " << sizeof(T) << " bytes";
    }
}

TEST_P(Contract, FillsWithPatterns) {
    expect_fill(device(), stream(), std::uint8_t{0x5a});
    expect_fill(device(), stream(), std::uint64_t{0x4343434343434343}); // all bytes are equal
#if defined(HEADRACE_TEST_FAKE_HIP)
    GTEST_SKIP() << "the runtime of host threads runs no kernels";
#endif
    expect_fill(device(), stream(), std::uint16_t{0x1234});
    expect_fill(device(), stream(), std::numeric_limits<float>::infinity());
    expect_fill(device(), stream(), -1.5);
    expect_fill(device(), stream(), std::uint64_t{0xabcd1234abcd1234}); // the halves are equal
    const auto memory = device().allocate(64);
    EXPECT_THROW(stream().fill(*memory, 4, 56, Pattern(-1.5)), Error);
    EXPECT_THROW(stream().fill(*memory, 8, 52, Pattern(-1.5)), Error);
    EXPECT_THROW(stream().fill(*memory, 8, 64, Pattern(-1.5)), Error);
    EXPECT_NO_THROW(stream().fill(*memory, 8, 56, Pattern(-1.5)).wait());
}

TEST_P(Contract, FillsExactlyWhatItWasToldTo) {
    const Bytes size = 1031;
    for (const auto& [begin, end] :
         {std::pair<Bytes, Bytes>{0, size}, {1, 2}, {7, 1000}, {64, 128}, {1030, 1031}}) {
        const auto memory = device().allocate(size);
        auto expected = some_bytes(size, begin);
        stream().copy_in(*memory, 0, expected.data(), size);
        stream().fill_zero(*memory, begin, end - begin);
        std::vector<std::byte> received(size);
        stream().copy_out(received.data(), *memory, 0, size).wait();
        std::fill(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                  expected.begin() + static_cast<std::ptrdiff_t>(end), std::byte{});
        ASSERT_EQ(expected, received) << begin << " to " << end;
    }
}

TEST_P(Contract, RequestsOfAStreamRunInTheirOrder) {
    const auto memory = device().allocate(sizeof(int));
    std::vector<int> values(200), seen(200);
    std::iota(values.begin(), values.end(), 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        stream().copy_in(*memory, 0, &values[i], sizeof(int));
        stream().copy_out(&seen[i], *memory, 0, sizeof(int));
    }
    stream().launch([](const NativeStream&) {}).wait();
    EXPECT_EQ(values, seen);
}

TEST_P(Contract, StreamsWaitForEachOther) {
    const auto other = device().make_stream();
    const auto memory = device().allocate(1 << 20);
    std::vector<std::byte> received(1 << 20);
    Event last;
    for (std::size_t round = 0; round < 50; ++round) {
        const auto sent = some_bytes(1 << 20, round);
        const Event in = stream().copy_in(*memory, 0, sent.data(), sent.size(), {&last, 1});
        last = other->copy_out(received.data(), *memory, 0, received.size(), {&in, 1});
        last.wait();
        ASSERT_EQ(sent, received) << round;
    }
}

TEST_P(Contract, WhatOneStreamBringsToTheHostAnotherTakesFromThere) {
    // Something large before it, so that the second copy is submitted long before the first one is done.
    const Bytes size = 264;
    const auto other = device().make_stream();
    const auto large = device().allocate(64 << 20), here = device().allocate(size),
               there = device().allocate(size);
    const auto much = some_bytes(large->size(), 0);
    std::vector<std::byte> on_the_way(size), received(size);
    for (std::size_t round = 1; round < 10; ++round) {
        const auto sent = some_bytes(size, round);
        stream().copy_in(*here, 0, sent.data(), size);
        stream().copy_in(*large, 0, much.data(), much.size());
        const Event out = stream().copy_out(on_the_way.data(), *here, 0, size);
        const Event in = other->copy_in(*there, 0, on_the_way.data(), size, {&out, 1});
        other->copy_out(received.data(), *there, 0, size, {&in, 1}).wait();
        ASSERT_EQ(sent, received) << round;
    }
}

TEST_P(Contract, AStreamStartsWhenTheHostSaysSo) {
    WorkBeside beside(device());
    Promise gate;
    const Event open = gate.event();
    const auto memory = device().allocate(8 << 20);
    std::vector<std::byte> sent(8 << 20), received(8 << 20, std::byte{1});
    // Large and unpinned: these calls return at once all the same.
    const Event in = stream().copy_in(*memory, 0, sent.data(), sent.size(), {&open, 1});
    const Event out = stream().copy_out(received.data(), *memory, 0, received.size());
    beside.wait();
    EXPECT_FALSE(in.done());
    EXPECT_FALSE(out.done());
    std::ranges::copy(some_bytes(8 << 20, 3), sent.begin()); // it has not been read yet
    gate.complete();
    out.wait();
    EXPECT_EQ(sent, received);
}

TEST_P(Contract, AFailureIsInheritedAndNeverASuccess) {
    Promise gate;
    const Event open = gate.event();
    const auto other = device().make_stream();
    const auto memory = device().allocate(64), apart = device().allocate(64);
    int value = 0;
    const Event first = stream().copy_in(*memory, 0, &value, sizeof value, {&open, 1});
    const Event second = other->copy_out(&value, *memory, 0, sizeof value, {&first, 1});
    const Event bystander =
        stream().fill_zero(*apart, 0, 64); // after `first` on its stream, but not because of it
    gate.fail(an_error());
    for (const Event& event : {first, second}) {
        ASSERT_TRUE(event.outcome());
        EXPECT_EQ(event.outcome()->message(), "it broke");
    }
    EXPECT_NO_THROW(bystander.wait());

    const Event late = stream().launch([](const NativeStream&) {}, {&second, 1}); // it has failed already
    ASSERT_TRUE(late.outcome());
    EXPECT_EQ(late.outcome()->message(), "it broke");
}

TEST_P(Contract, WorkAfterAKnownFailureIsNotDone) {
    const Event failed = Event::failed(an_error());
    bool called = false;
    const Event event = stream().launch([&](const NativeStream&) { called = true; }, {&failed, 1});
    EXPECT_TRUE(event.outcome());
    EXPECT_FALSE(called);
}

TEST_P(Contract, AFailureComesNoEarlierThanWhatItIsOrderedAfter) {
    WorkBeside beside(device());
    Promise gate;
    const std::vector<Event> after{Event::failed(an_error()), gate.event()};
    const Event event = stream().launch([](const NativeStream&) {}, after);
    beside.wait();
    EXPECT_FALSE(event.done());
    gate.complete();
    ASSERT_TRUE(event.outcome());
}

TEST_P(Contract, OrderAlonePassesNoFailure) {
    Promise gate;
    const Event order = gate.event().order_only();
    const auto memory = device().allocate(64);
    const Event event = stream().fill_zero(*memory, 0, 64, {&order, 1});
    EXPECT_FALSE(event.done());
    gate.fail(an_error());
    EXPECT_NO_THROW(event.wait());
}

TEST_P(Contract, ContinuationsRunAlthoughNobodyWaits) {
    Promise gate;
    const Event open = gate.event();
    const auto memory = device().allocate(64);
    Signal succeeded, failed;
    const auto other = device().make_stream();
    Promise broken;
    const Event breaks = broken.event();
    stream().fill_zero(*memory, 0, 64, {&open, 1}).then([&](const ErrorPtr& error) {
        succeeded.raise(!error);
    });
    other->fill_zero(*memory, 0, 64, {&breaks, 1}).then([&](const ErrorPtr& error) {
        failed.raise(error != nullptr);
    });
    broken.fail(an_error()); // though asked for later: one stream's continuations do not wait for another's
    EXPECT_TRUE(failed.wait());
    EXPECT_FALSE(succeeded.is_raised());
    gate.complete();
    EXPECT_TRUE(succeeded.wait());
}

TEST_P(Contract, ContinuationsOfEarlierWorkDoNotWaitForThoseOfLaterWork) {
    const auto memory = device().allocate(64);
    Promise first, second;
    const Event opens = first.event(), goes_on = second.event();
    const Event earlier = stream().fill_zero(*memory, 0, 64, {&opens, 1});
    const Event later = stream().fill_zero(*memory, 0, 64, {&goes_on, 1});
    Signal signal;
    // Asked for against the stream's order; and the later one waits for what follows from the earlier.
    later.then([&](const ErrorPtr& error) { signal.raise(!error); });
    earlier.then([&](const ErrorPtr&) { second.complete(); });
    first.complete();
    EXPECT_TRUE(signal.wait());
}

TEST_P(Contract, CopiesBetweenItsOwnMemories) {
    if (!device().reaches(device())) GTEST_SKIP() << "it does not reach itself";
    const auto from = device().allocate(5000), to = device().allocate(5000);
    const auto sent = some_bytes(5000, 9);
    std::vector<std::byte> received(4000);
    stream().copy_in(*from, 0, sent.data(), sent.size());
    stream().copy_peer(*to, 3, *from, 77, 4000);
    stream().copy_out(received.data(), *to, 3, 4000).wait();
    EXPECT_TRUE(std::ranges::equal(received, std::span(sent).subspan(77, 4000)));
}

template <class T>
void expect_sums(Device& device, Stream& stream) {
    constexpr std::size_t count = 100'003;
    std::mt19937_64 random(fresh_seed());
    std::vector<T> sums(count), amounts(count), received(count);
    for (T& one : sums) one = static_cast<T>(random() % 1'000'000);
    for (T& one : amounts) one = static_cast<T>(random() % 1'000'000);
    const Bytes size = count * sizeof(T), begin = 3 * sizeof(T), end = size - sizeof(T);
    const auto to = device.allocate(size), from = device.allocate(size);
    stream.copy_in(*to, 0, sums.data(), size);
    stream.copy_in(*from, 0, amounts.data(), size);
    stream.add(*to, *from, begin, end - begin, number_type<T>());
    stream.copy_out(received.data(), *to, 0, size).wait();
    for (std::size_t i = 0; i < count; ++i) {
        const bool is_within = i >= begin / sizeof(T) && i < end / sizeof(T);
        ASSERT_EQ(received[i], is_within ? static_cast<T>(sums[i] + amounts[i]) : sums[i]) << i;
    }
}

TEST_P(Contract, AddsWhatIsInItsOwnMemory) {
#if defined(HEADRACE_TEST_FAKE_HIP)
    GTEST_SKIP() << "the runtime of host threads runs no kernels";
#endif
    if (!device().adds_from(device())) {
        const auto memory = device().allocate(64);
        EXPECT_THROW(stream().add(*memory, *memory, 0, 64, NumberType::uint32), Error);
        return;
    }
    expect_sums<std::uint32_t>(device(), stream());
    expect_sums<std::int64_t>(device(), stream());
    expect_sums<float>(device(), stream());
    expect_sums<double>(device(), stream());
    const auto memory = device().allocate(64);
    EXPECT_THROW(stream().add(*memory, *memory, 0, 65, NumberType::uint32), Error);
    EXPECT_THROW(stream().add(*memory, *memory, 4, 64, NumberType::uint32), Error);
    EXPECT_THROW(stream().add(*memory, *memory, 0, 64, NumberType::none), Error);
}

/// Of elements of so many bytes, and of three in a thousand of them: written in one replica, in the other, in
/// both. Compared with the host's version.
void expect_changes_taken(Device& device, Stream& stream, Bytes element) {
    const std::size_t count = 100'003;
    const Bytes size = count * element, begin = 3 * element, within = size - 4 * element;
    std::mt19937_64 random(fresh_seed());
    std::vector<std::byte> before(size), received(size);
    for (std::byte& one : before) one = static_cast<std::byte>(random());
    std::vector<std::byte> changed = before, other = before;
    const auto change = [&](std::vector<std::byte>& in, std::size_t index, int by) {
        std::byte& last = in[(index + 1) * element - 1];
        last = static_cast<std::byte>(std::to_integer<int>(last) + by);
    };
    for (const bool has_conflict : {false, true}) {
        for (std::size_t i = 0; i < 100; ++i) {
            change(changed, 3 * (random() % (count / 3)), 1);
            change(other, 3 * (random() % (count / 3)) + 1, 1);
            const std::size_t both = 3 * (random() % (count / 3)) + 2;
            change(changed, both, 3);
            change(other, both, has_conflict ? 5 : 3);
        }
        const auto to = device.allocate(size), from = device.allocate(size), was = device.allocate(within),
                   conflict = device.allocate(sizeof no_conflict);
        stream.copy_in(*to, 0, changed.data(), size);
        stream.copy_in(*from, 0, other.data(), size);
        stream.copy_in(*was, 0, before.data() + begin, within);
        stream.fill(*conflict, 0, sizeof no_conflict, Pattern(no_conflict));
        stream.take_changes(*to, *from, begin, within, {*was, element, *conflict});
        std::uint64_t found = 0;
        stream.copy_out(&found, *conflict, 0, sizeof found);
        stream.copy_out(received.data(), *to, 0, size).wait();
        std::vector<std::byte> expected = changed;
        const std::uint64_t first = take_changes(expected.data() + begin, other.data() + begin,
                                                 before.data() + begin, within, element);
        ASSERT_TRUE(received == expected) << element;
        ASSERT_EQ(found, first == no_conflict ? first : begin / element + first) << element;
        ASSERT_EQ(found != no_conflict, has_conflict) << element;
    }
}

TEST_P(Contract, TakesWhatHasChangedFromItsOwnMemory) {
#if defined(HEADRACE_TEST_FAKE_HIP)
    GTEST_SKIP() << "the runtime of host threads runs no kernels";
#endif
    const auto memory = device().allocate(64);
    const Changes words{*memory, 4, *memory};
    if (!device().adds_from(device())) {
        EXPECT_THROW(stream().take_changes(*memory, *memory, 0, 64, words), Error);
        return;
    }
    for (const Bytes element : {1, 2, 3, 4, 6, 8, 12, 16, 20, 56})
        expect_changes_taken(device(), stream(), element);
    EXPECT_THROW(stream().take_changes(*memory, *memory, 0, 63, words), Error);
    EXPECT_THROW(stream().take_changes(*memory, *memory, 2, 60, words), Error);
    EXPECT_THROW(stream().take_changes(*memory, *memory, 4, 64, words), Error);
    EXPECT_THROW(stream().take_changes(*memory, *memory, 0, 64, {*memory, 0, *memory}), Error);
}

TEST_P(Contract, TimesLieWhereTheWorkDid) {
    on_a_quiet_machine([this] {
        stream_ = device().make_stream(Timing::all);
        const auto memory = device().allocate(16 << 20);
        const std::vector<std::byte> sent(16 << 20);
        stream().copy_in(*memory, 0, sent.data(), sent.size()).wait(); // warm
        const auto before = std::chrono::steady_clock::now();
        const Event first = stream().copy_in(*memory, 0, sent.data(), sent.size());
        const Event second = stream().fill_zero(*memory, 0, memory->size());
        second.wait();
        const auto after = std::chrono::steady_clock::now();
        first.wait();
        const auto a = first.times(), b = second.times();
        ASSERT_TRUE(a && b);
        const auto slack = 2ms; // clocks of two chips, compared over a bus
        EXPECT_GE(a->begin, before - slack);
        ASSERT_LT(a->begin, a->end);
        EXPECT_LE(a->end, b->begin + slack);
        ASSERT_LE(b->begin, b->end);
        EXPECT_LE(b->end, after + slack);
        ASSERT_GT(a->end - a->begin, 16ms / 100); // 16 MiB at no more than 100 GB/s
    });
}

TEST_P(Contract, ManyThousandEventsLeaveNothingBehind) {
    const auto memory = device().allocate(64);
    const auto rounds = [&] {
        Event last;
        for (int i = 0; i < 10'000; ++i) {
            last = stream().fill_zero(*memory, 0, 64, {&last, 1});
            if (i % 500 == 0) last.wait();
        }
        last.wait();
    };
    rounds();
    rounds();
    const Bytes before = resident_memory();
    rounds();
    rounds();
    EXPECT_LT(resident_memory(), before + (4u << 20)); // 200 bytes an event, if each left some
}

TEST_P(Contract, AnAllocationThatCannotBeSaysHowLargeItWas) {
    for (const Bytes size : {Bytes{1} << 60, ~Bytes{0}, device().info().memory + 1}) {
        try {
            const auto memory = device().allocate(size);
            FAIL() << size << " bytes were given";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
            EXPECT_NE(std::string(error.what()).find(std::to_string(size)), std::string::npos)
                << error.what();
            EXPECT_EQ(error.device(), device().info().id);
        }
    }
    EXPECT_THROW(static_cast<void>(device().allocate(0)), Error);
    const auto memory = device().allocate(1 << 20); // it still works
    EXPECT_NO_THROW(stream().fill_zero(*memory, 0, memory->size()).wait());
}

TEST_P(Contract, ABodyThatThrowsFailsItsEventAlone) {
    const Event broken =
        stream().launch([](const NativeStream&) { throw std::runtime_error("no such luck"); });
    const Event told = stream().launch([](const NativeStream&) {
        throw Error{ErrorKind::unsupported, "not here"};
    });
    const Event inherits = stream().launch([](const NativeStream&) {}, {&broken, 1});
    const Event fine = stream().launch([](const NativeStream&) {});
    ASSERT_TRUE(broken.outcome());
    EXPECT_EQ(broken.outcome()->kind(), ErrorKind::kernel);
    EXPECT_EQ(broken.outcome()->message(), "no such luck");
    EXPECT_EQ(broken.outcome()->device(), device().info().id);
    ASSERT_TRUE(told.outcome());
    EXPECT_EQ(told.outcome()->kind(), ErrorKind::unsupported);
    ASSERT_TRUE(inherits.outcome());
    EXPECT_EQ(inherits.outcome()->message(), "no such luck");
    EXPECT_NO_THROW(fine.wait());
}

TEST_P(Contract, BodiesGetTheNativeStream) {
    NativeStream seen;
    stream().launch([&](const NativeStream& native) { seen = native; }).wait();
    EXPECT_EQ(seen.technology, device().info().technology);
    EXPECT_NE(seen.stream, nullptr);
}

TEST_P(Contract, RangesOutsideAreRefused) {
    const auto memory = device().allocate(100);
    std::byte bytes[200]{};
    const auto kind_of = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.kind();
        }
        return ErrorKind::internal;
    };
    EXPECT_EQ(kind_of([&] { stream().copy_in(*memory, 0, bytes, 101); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { stream().copy_out(bytes, *memory, 101, 0); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { stream().fill_zero(*memory, 1, ~Bytes{0}); }), ErrorKind::invalid_argument);
    EXPECT_EQ(kind_of([&] { stream().copy_peer(*memory, 0, *memory, 60, 50); }), ErrorKind::invalid_argument);
}

TEST_P(Contract, EventsOutliveTheirStreamAndDevice) {
    stream_ = device().make_stream(Timing::all);
    auto memory = device().allocate(1 << 20);
    const Event waited_for = stream().fill_zero(*memory, 0, memory->size());
    const Event armed = stream().fill_zero(*memory, 0, memory->size());
    Signal signal;
    stream_.reset();
    memory.reset();
    devices_.clear();
    EXPECT_NO_THROW(waited_for.wait());
    armed.then([&](const ErrorPtr& error) { signal.raise(!error); });
    EXPECT_TRUE(signal.wait());
    EXPECT_TRUE(waited_for.times());
}

TEST_P(Contract, ForgottenEventsDoTheirWork) {
    const auto memory = device().allocate(64);
    Promise gate;
    int sent = 7, received = 0;
    {
        const Event open = gate.event();
        stream().copy_in(*memory, 0, &sent, sizeof sent, {&open, 1});
    }
    gate.complete();
    stream().copy_out(&received, *memory, 0, sizeof received).wait();
    EXPECT_EQ(received, 7);
}

TEST_P(Contract, ThreadsWorkBesideEachOther) {
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (int number = 1; number <= 4; ++number)
            threads.emplace_back([&, number] {
                const auto own = device().make_stream();
                const auto memory = device().allocate(sizeof(int));
                Event last;
                for (int i = 0; i < 100; ++i) {
                    const int sent = 1000 * number + i;
                    int received = 0;
                    last = own->copy_in(*memory, 0, &sent, sizeof sent, {&last, 1});
                    last = own->copy_out(&received, *memory, 0, sizeof received, {&last, 1});
                    last.wait();
                    if (received != sent) ++wrong;
                }
            });
    }
    EXPECT_EQ(wrong, 0);
}

TEST_P(Contract, StreamsLeaveNoThreadBehind) {
    {
        const auto warm = device().make_stream();
        warm->launch([](const NativeStream&) {}).wait();
    }
    const std::size_t before = threads_of_this_process();
    for (int i = 0; i < 20; ++i) {
        const auto one = device().make_stream();
        one->launch([](const NativeStream&) {});
    }
    // Who was joined is still listed for a moment.
    EXPECT_TRUE(eventually([&] { return threads_of_this_process() <= before; })) << threads_of_this_process();
}

} // namespace
} // namespace headrace::test
