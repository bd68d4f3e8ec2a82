// tests/devices/chain_test.cpp - events of one technology order the work of another, with no thread between.
#include <devices/devices_fixture.hpp>
#include <devices/requests.hpp>
#include <headrace/internal/core/changes.hpp>

#include <array>
#include <cstring>
#include <deque>

namespace headrace::test {
namespace {

/// Data that travels from the first device to the second and back, again and again, over host memory.
class Chain : public OnDevices {
protected:
    struct Station {
        std::unique_ptr<Stream> in, out;
        std::unique_ptr<Memory> memory;
    };

    void SetUp() override {
        OnDevices::SetUp();
        for (const auto& device : devices_)
            stations_.push_back({device->make_stream(), device->make_stream(), device->allocate(size)});
    }

    /// Through every station, once; `last` is what the first copy comes after.
    Event travel(Event last, std::vector<std::byte>& data) {
        for (Station& station : stations_) {
            last = station.in->copy_in(*station.memory, 0, data.data(), size, {&last, 1});
            last = station.out->copy_out(data.data(), *station.memory, 0, size, {&last, 1});
            if (&station == &stations_.front()) // a kernel of the host's in between, if this is a CPU
                last = station.in->launch([](const NativeStream&) {}, {&last, 1});
        }
        return last;
    }

    static constexpr Bytes size = 100'003;
    /// A stream takes so many requests before the first has ended (devices/README.md). A round is two of one.
    static constexpr int rounds = 45;
    std::vector<Station> stations_;
};

#if defined(HEADRACE_TEST_FAKE_HIP)
const auto chains = testing::Values("cpu,hip:0", "hip:0,hip:1", "hip:0,opencl:pocl", "cpu,hip:0,opencl:pocl");
#else
const auto chains = testing::Values("cpu,opencl:pocl", "cpu,cuda:0", "cpu,opencl:nvidia",
                                    "cuda:0,opencl:pocl", "cuda:0,opencl:nvidia", "cpu,cuda:0,opencl:pocl",
                                    "cuda:0,cuda:1", "cpu,hip:0", "hip:0,hip:1");
#endif
INSTANTIATE_TEST_SUITE_P(Lists, Chain, chains, test_name);

TEST_P(Chain, DataSurvivesManyRounds) {
    const auto sent = some_bytes(size, 1);
    auto data = sent;
    std::deque<WorkBeside> beside;
    for (const auto& device : devices_) beside.emplace_back(*device);
    Promise gate;
    const Event first = travel(gate.event(), data);
    Event last = first;
    for (int i = 1; i < rounds; ++i) last = travel(last, data);
    for (WorkBeside& work : beside) work.wait();
    EXPECT_FALSE(first.done() || last.done()); // all of it was handed over before anything could begin
    gate.complete();
    last.wait();
    EXPECT_EQ(sent, data);
}

TEST_P(Chain, EachStepSeesTheOneBefore) {
    std::vector<std::byte> data;
    for (std::size_t round = 0; round < 20; ++round) {
        const auto sent = some_bytes(size, round);
        data = sent;
        for (Station& station : stations_) // nothing of an earlier round may be taken for this one's
            station.in->fill_zero(*station.memory, 0, size).wait();
        travel({}, data).wait();
        ASSERT_EQ(sent, data) << round;
    }
}

TEST_P(Chain, AFailureTravelsToTheEnd) {
    std::vector<std::byte> data(size);
    Promise gate;
    Event last = gate.event();
    for (int i = 0; i < 10; ++i) last = travel(last, data);
    gate.fail(an_error());
    ASSERT_TRUE(last.outcome());
    EXPECT_EQ(last.outcome()->message(), "it broke");
    EXPECT_NO_THROW(travel({}, data).wait()); // and hurts nothing that does not depend on it
}

TEST_P(Chain, ABodyThatFailsPoisonsTheOtherDevice) {
    std::vector<std::byte> data(size);
    const Event broken = stations_.front().in->launch([](const NativeStream&) {
        throw Error{ErrorKind::kernel, "it broke"};
    });
    const Event last =
        stations_.back().in->copy_in(*stations_.back().memory, 0, data.data(), size, {&broken, 1});
    ASSERT_TRUE(last.outcome());
    EXPECT_EQ(last.outcome()->message(), "it broke");
}

TEST_P(Chain, WhereDevicesReachEachOtherTheHostIsNotNeeded) {
    if (!device(1).reaches(device(0))) GTEST_SKIP() << "they do not reach each other";
    const auto sent = some_bytes(size, 4);
    std::vector<std::byte> received(size - 10);
    const Event in = stations_[0].in->copy_in(*stations_[0].memory, 0, sent.data(), size);
    const Event there =
        stations_[1].in->copy_peer(*stations_[1].memory, 3, *stations_[0].memory, 7, size - 10, {&in, 1});
    stations_[1].out->copy_out(received.data(), *stations_[1].memory, 3, size - 10, {&there, 1}).wait();
    EXPECT_TRUE(std::ranges::equal(received, std::span(sent).subspan(7, size - 10)));
}

TEST_P(Chain, WhereADeviceAddsFromAnotherTheHostIsNotNeeded) {
#if defined(HEADRACE_TEST_FAKE_HIP)
    GTEST_SKIP() << "the runtime of host threads runs no kernels";
#endif
    if (!device(1).adds_from(device(0))) GTEST_SKIP() << "it does not add from the other one";
    const auto amounts = some_bytes(size, 5), before = some_bytes(size, 6);
    const Bytes added = size / 4 * 4;
    std::vector<std::byte> received(size);
    const Event in = stations_[0].in->copy_in(*stations_[0].memory, 0, amounts.data(), size);
    const Event in_too = stations_[1].in->copy_in(*stations_[1].memory, 0, before.data(), size);
    const Event both[] = {in, in_too};
    const Event sum =
        stations_[1].in->add(*stations_[1].memory, *stations_[0].memory, 0, added, NumberType::uint32, both);
    stations_[1].out->copy_out(received.data(), *stations_[1].memory, 0, size, {&sum, 1}).wait();
    for (Bytes i = 0; i < added; i += 4) {
        std::uint32_t amount = 0, was = 0, is = 0;
        std::memcpy(&amount, &amounts[i], 4);
        std::memcpy(&was, &before[i], 4);
        std::memcpy(&is, &received[i], 4);
        ASSERT_EQ(is, was + amount) << i;
    }
}

TEST_P(Chain, WhereADeviceTakesChangesFromAnotherTheHostIsNotNeeded) {
#if defined(HEADRACE_TEST_FAKE_HIP)
    GTEST_SKIP() << "the runtime of host threads runs no kernels";
#endif
    if (!device(1).adds_from(device(0))) GTEST_SKIP() << "it does not add from the other one";
    constexpr Bytes element = 4, whole = size / element * element;
    const auto before = some_bytes(size, 7);
    auto changed = before;
    changed[5 * element] ^= std::byte{1};
    std::vector<std::byte> received(size);
    Stream& stream = *stations_[1].in;
    const auto was = device(1).allocate(size), conflict = device(1).allocate(sizeof no_conflict);
    const Event in = stations_[0].in->copy_in(*stations_[0].memory, 0, changed.data(), size);
    stream.copy_in(*stations_[1].memory, 0, before.data(), size);
    stream.copy_in(*was, 0, before.data(), size);
    stream.fill(*conflict, 0, sizeof no_conflict, Pattern(no_conflict));
    stream.take_changes(*stations_[1].memory, *stations_[0].memory, 0, whole, {*was, element, *conflict},
                        {&in, 1});
    stream.copy_out(received.data(), *stations_[1].memory, 0, size).wait();
    EXPECT_EQ(received, changed);
}

} // namespace
} // namespace headrace::test
