// bench/slowed_device.cpp - see slowed_device.hpp.
#include "slowed_device.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

using headrace::Bytes;
using headrace::ErrorPtr;
using headrace::Event;
using headrace::Memory;

/// What comes after a launch waits until that has ended, as on any stream.
class SlowedDevice::SlowedStream final : public headrace::Stream {
public:
    SlowedStream(SlowedDevice& device, std::unique_ptr<headrace::Stream> stream)
        : device_(device), stream_(std::move(stream)) {}

    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override {
        return stream_->copy_in(to, offset, from, size, behind_launch(after));
    }
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override {
        return stream_->copy_out(to, from, offset, size, behind_launch(after));
    }
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override {
        return stream_->copy_peer(to, to_offset, from, from_offset, size, behind_launch(after));
    }
    Event add(Memory& to, const Memory& from, Bytes size, headrace::NumberType type,
              std::span<const Event> after) override {
        return stream_->add(to, from, size, type, behind_launch(after));
    }
    Event fill_zero(Memory& memory, Bytes offset, Bytes size, std::span<const Event> after) override {
        return stream_->fill_zero(memory, offset, size, behind_launch(after));
    }
    Event launch(Body body, std::span<const Event> after) override {
        last_ = device_.launch(*stream_, std::move(body), behind_launch(after));
        return last_;
    }

private:
    [[nodiscard]] std::vector<Event> behind_launch(std::span<const Event> after) const {
        std::vector<Event> all(after.begin(), after.end());
        all.push_back(last_.order_only());
        return all;
    }

    SlowedDevice& device_;
    std::unique_ptr<headrace::Stream> stream_;
    Event last_;
};

SlowedDevice::SlowedDevice(std::unique_ptr<headrace::Device> device, double times)
    : device_(std::move(device)), info_(device_->info()), times_(times) {
    info_.hears_host = false;
    info_.peak_gflops /= times;
    if (times > 1) info_.name += fmt::format(", {} times slower", times);
    timer_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

SlowedDevice::~SlowedDevice() = default;

std::unique_ptr<Memory> SlowedDevice::allocate(Bytes size) { return device_->allocate(size); }
std::shared_ptr<void> SlowedDevice::allocate_host(Bytes size) { return device_->allocate_host(size); }
Bytes SlowedDevice::free_memory() const { return device_->free_memory(); }

std::unique_ptr<headrace::Stream> SlowedDevice::make_stream(headrace::Timing) {
    return std::make_unique<SlowedStream>(*this, device_->make_stream(headrace::Timing::all));
}

/// The device itself, slowed or not.
const headrace::Device& SlowedDevice::inner(const Device& device) {
    const auto* const slowed = dynamic_cast<const SlowedDevice*>(&device);
    return slowed ? *slowed->device_ : device;
}

bool SlowedDevice::reaches(const Device& other) const { return device_->reaches(inner(other)); }

bool SlowedDevice::adds_from(const Device& other) const { return device_->adds_from(inner(other)); }

Event SlowedDevice::launch(headrace::Stream& stream, headrace::Stream::Body body,
                           std::span<const Event> after) {
    if (lost_.load())
        throw headrace::Error{headrace::ErrorKind::device, "lost, as was asked for"}.on_device(info_.id);
    const std::scoped_lock lock(launching_);
    std::vector<Event> all(after.begin(), after.end());
    all.push_back(last_.order_only());
    const Event real = stream.launch(std::move(body), all);
    auto promise = std::make_shared<headrace::Promise>();
    real.then([this, promise, state = real](const ErrorPtr& error) {
        if (error) return promise->fail(error);
        auto times = state.times();
        if (!times) // it would be as fast as ever, and nobody would know
            return promise->fail(std::make_shared<const headrace::Error>(
                headrace::Error(headrace::ErrorKind::internal,
                                "a launch of a device that is to be slower has no times")
                    .on_device(info_.id)));
        times->end = times->begin +
                     std::chrono::duration_cast<Clock::duration>(times_.load() * (times->end - times->begin));
        at(times->end, [promise, times = *times] { promise->complete(times); });
    });
    return last_ = promise->event();
}

void SlowedDevice::at(Clock::time_point when, std::function<void()> call) {
    const std::scoped_lock lock(mutex_);
    due_.emplace_back(when, std::move(call));
    changed_.notify_one();
}

void SlowedDevice::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !due_.empty(); })) {
        auto [when, call] = std::move(due_.front());
        due_.pop_front();
        lock.unlock();
        std::this_thread::sleep_until(when);
        call();
        lock.lock();
    }
}

} // namespace bench
