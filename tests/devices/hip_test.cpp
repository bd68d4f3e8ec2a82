// tests/devices/hip_test.cpp - what only a fake HIP runtime shows: a device that is lost, and what is left
// behind.
#include <core/eventually.hpp>
#include <devices/devices_fixture.hpp>
#include <devices/fake_hip.hpp>
#include <devices/requests.hpp>
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <cstring>

namespace headrace::test {
namespace {

class LostDevice : public testing::Test {
protected:
    ~LostDevice() override { // a device that is found again may do what it still has to
        memory_.reset();
        stream_.reset();
        device_.reset();
        fake_hip::find_device_again();
    }

    TestDeadline deadline_{"a test of a lost device"};
    std::unique_ptr<Device> device_ = std::move(select_devices("hip:0").devices.front());
    std::unique_ptr<Stream> stream_ = device_->make_stream();
    std::unique_ptr<Memory> memory_ = device_->allocate(1 << 20);
};

TEST_F(LostDevice, FailsWhatWasUnderWayAndTellsThoseWhoDoNotWait) {
    Promise gate;
    const Event open = gate.event();
    Signal told;
    std::vector<std::byte> data(1 << 20);
    const Event copy = stream_->copy_in(*memory_, 0, data.data(), data.size(), {&open, 1});
    const Event fill = stream_->fill_zero(*memory_, 0, 64);
    fill.then([&](const ErrorPtr& error) { told.raise(error && error->kind() == ErrorKind::device); });
    fake_hip::lose_device();
    EXPECT_TRUE(told.wait());
    ASSERT_TRUE(copy.outcome());
    EXPECT_EQ(copy.outcome()->kind(), ErrorKind::device);
    EXPECT_EQ(copy.outcome()->native_code(), 700);
    EXPECT_EQ(copy.outcome()->device(), "hip:0");
    gate.complete();
}

TEST_F(LostDevice, RefusesNewWorkThroughTheEvent) {
    fake_hip::lose_device();
    const Event event = stream_->fill_zero(*memory_, 0, 64);
    ASSERT_TRUE(event.outcome());
    EXPECT_EQ(event.outcome()->kind(), ErrorKind::device);
    EXPECT_EQ(event.outcome()->device(), "hip:0");
    EXPECT_THROW(static_cast<void>(device_->allocate(64)), Error);
}

TEST_F(LostDevice, PoisonsWhatAnotherDeviceMadeOfIt) {
    const auto other = std::move(select_devices("hip:1").devices.front());
    const auto stream = other->make_stream();
    const auto memory = other->allocate(64);
    Promise gate;
    const Event open = gate.event();
    const Event here = stream_->fill_zero(*memory_, 0, 64, {&open, 1});
    // The driver lets this one go on when the other's work has ended, however it ended.
    const Event there = stream->fill_zero(*memory, 0, 64, {&here, 1});
    fake_hip::lose_device();
    gate.complete();
    EXPECT_TRUE(there.outcome());
}

TEST(FakeHip, LargeUnpinnedCopiesGoInSeveralParts) {
    const TestDeadline deadline("a large copy");
    const auto device = std::move(select_devices("hip:0").devices.front());
    const auto in = device->make_stream(), out = device->make_stream();
    const Bytes size = (Bytes{256} << 20) + 4099; // more than the pieces that one part may have
    const auto memory = device->allocate(size);
    std::vector<std::byte> sent(size), received(size);
    for (Bytes page = 0; page < size; page += 4096) // byte by byte would take sanitizers a minute
        std::memset(&sent[page], static_cast<int>(page / 4096 % 251), std::min<Bytes>(4096, size - page));
    Promise gate;
    const Event open = gate.event();
    const Event there = in->copy_in(*memory, 0, sent.data(), size, {&open, 1});
    const Event back = out->copy_out(received.data(), *memory, 0, size, {&there, 1});
    gate.complete();
    back.wait();
    EXPECT_EQ(std::memcmp(sent.data(), received.data(), size), 0);

    Promise broken;
    const Event breaks = broken.event();
    const Event fails = in->copy_in(*memory, 0, sent.data(), size, {&breaks, 1});
    broken.fail(an_error());
    ASSERT_TRUE(fails.outcome()); // the last part knows of the first
    EXPECT_EQ(fails.outcome()->message(), "it broke");
}

TEST(FakeHip, PinnedMemoryIsFreedWhenNoStreamStandsAtAGate) {
    const TestDeadline deadline("freeing pinned memory");
    const auto device = std::move(select_devices("hip:0").devices.front());
    const auto stream = device->make_stream(), other = device->make_stream();
    const auto memory = device->allocate(1 << 20);
    Promise gate;
    const Event open = gate.event();
    const Event stands = stream->fill_zero(*memory, 0, 64, {&open, 1});
    // More than is kept. Who freed it now would keep everybody from the driver until the gate opens.
    std::vector<std::byte> data(1 << 20);
    for (int i = 0; i < 20; ++i) {
        device->allocate_host(Bytes{100 + 40 * static_cast<unsigned>(i)} << 20).reset();
        other->copy_in(*memory, 64, data.data(), 1 << 10).wait();
    }
    const int kept = fake_hip::living().allocations;
    gate.complete();
    EXPECT_NO_THROW(stands.wait());
    EXPECT_TRUE(eventually([&] { return fake_hip::living().allocations <= kept - 10; }))
        << "more than 1 GiB, and nobody asked again";
}

TEST(FakeHip, PinnedMemoryIsUsedAgain) {
    const auto device = std::move(select_devices("hip:0").devices.front());
    for (const Bytes size : {1U, 3200U, 4097U, 13'000U, 1'000'000U}) {
        device->allocate_host(size).reset();
        const int before = fake_hip::living().allocations;
        for (Bytes more = 0; more < size / 50; more += size / 100 + 1) // nearly alike
            std::memset(device->allocate_host(size + more).get(), 1, size + more);
        EXPECT_EQ(fake_hip::living().allocations, before) << size;
    }
    EXPECT_THROW(static_cast<void>(device->allocate_host(~Bytes{0})), Error);
}

TEST(FakeHip, WhatHasEndedBeforeADeviceIsLostHasEnded) {
    const auto device = std::move(select_devices("hip:0").devices.front());
    const auto stream = device->make_stream();
    const auto memory = device->allocate(64);
    const Event asked = stream->fill_zero(*memory, 0, 64), waited_for = stream->fill_zero(*memory, 0, 64);
    stream->fill_zero(*memory, 0, 64).wait();
    fake_hip::lose_device();
    EXPECT_TRUE(asked.done());
    EXPECT_FALSE(asked.outcome());
    EXPECT_FALSE(waited_for.outcome()) << "however it is asked";
    fake_hip::find_device_again();
}

TEST(FakeHip, TimesAreMeasuredForWhoAsks) {
    const auto device = std::move(select_devices("hip:0").devices.front());
    const auto usual = device->make_stream(), measured = device->make_stream(Timing::all);
    const auto memory = device->allocate(64);
    const auto has_times = [&](Stream& stream) {
        const Event event = stream.fill_zero(*memory, 0, 64);
        event.wait();
        return event.times().has_value();
    };
    EXPECT_FALSE(has_times(*usual));
    EXPECT_TRUE(has_times(*measured));
    const Trace trace;
    EXPECT_TRUE(has_times(*usual));
}

TEST(FakeHip, NothingIsLeftBehind) {
    const auto is_all_gone = [] { // another thread may be the last to let go
        return eventually([] { return fake_hip::living() == fake_hip::Living{}; });
    };
    ASSERT_TRUE(is_all_gone()); // of what tests before this one had
    {
        const auto device = std::move(select_devices("hip:0").devices.front());
        const auto stream = device->make_stream();
        const auto memory = device->allocate(1000);
        std::vector<std::byte> data(1000);
        Signal signal;
        Promise gate;
        const Event open = gate.event();
        stream->copy_in(*memory, 0, data.data(), data.size(), {&open, 1}).then([&](const ErrorPtr& error) {
            signal.raise(!error);
        });
        gate.complete();
        EXPECT_TRUE(signal.wait());
    }
    EXPECT_TRUE(is_all_gone());
}

} // namespace
} // namespace headrace::test
