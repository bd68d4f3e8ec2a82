// bench/slowed_device.cpp - see slowed_device.hpp.
#include "slowed_device.hpp"
#ifdef BENCH_HAS_CUDA
    #include "brake.hpp"
#endif

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

using headrace::Bytes;
using headrace::Event;
using headrace::Memory;

class SlowedDevice::SlowedStream final : public headrace::Stream {
public:
    SlowedStream(SlowedDevice& device, std::unique_ptr<headrace::Stream> stream)
        : device_(device), stream_(std::move(stream)) {}

    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override {
        return stream_->copy_in(to, offset, from, size, after);
    }
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override {
        return stream_->copy_out(to, from, offset, size, after);
    }
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override {
        return stream_->copy_peer(to, to_offset, from, from_offset, size, after);
    }
    Event add(Memory& to, const Memory& from, Bytes offset, Bytes size, headrace::NumberType type,
              std::span<const Event> after) override {
        return stream_->add(to, from, offset, size, type, after);
    }
    Event take_changes(Memory& to, const Memory& from, Bytes offset, Bytes size,
                       const headrace::Changes& changes, std::span<const Event> after) override {
        return stream_->take_changes(to, from, offset, size, changes, after);
    }
    Event fill(Memory& memory, Bytes offset, Bytes size, headrace::Pattern pattern,
               std::span<const Event> after) override {
        return stream_->fill(memory, offset, size, pattern, after);
    }
    Event launch(Body body, std::span<const Event> after) override {
        return device_.launch(*stream_, std::move(body), after);
    }

private:
    SlowedDevice& device_;
    std::unique_ptr<headrace::Stream> stream_;
};

SlowedDevice::SlowedDevice(std::unique_ptr<headrace::Device> device, double times)
    : device_(std::move(device)), info_(device_->info()), times_(times) {
    info_.fine_grained_host_coherence = false;
    info_.peak_gflops /= times;
    if (times > 1) info_.name += fmt::format(", {} times slower", times);
#ifdef BENCH_HAS_CUDA
    if (info_.technology == "cuda") began_ = device_->allocate(sizeof(std::uint64_t));
#endif
    if (info_.technology != "cpu" && !began_)
        throw headrace::Error{headrace::ErrorKind::unsupported,
                              "only processors and CUDA devices can be made slower"}
            .on_device(info_.id);
}

SlowedDevice::~SlowedDevice() = default;

std::unique_ptr<Memory> SlowedDevice::allocate(Bytes size) { return device_->allocate(size); }
std::shared_ptr<void> SlowedDevice::allocate_host(Bytes size) { return device_->allocate_host(size); }
Bytes SlowedDevice::free_memory() const { return device_->free_memory(); }

std::unique_ptr<headrace::Stream> SlowedDevice::make_stream(headrace::Timing timing) {
    return std::make_unique<SlowedStream>(*this, device_->make_stream(timing));
}

std::unique_ptr<headrace::DeviceTexture> SlowedDevice::make_texture(const Memory& pixels, Bytes offset,
                                                                    int rows, int columns) {
    return device_->make_texture(pixels, offset, rows, columns);
}

bool SlowedDevice::reaches_host(const void* memory) const { return device_->reaches_host(memory); }

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
    return last_ = stream.launch([this, body = std::move(body)](
                                     const headrace::NativeStream& native) { run_slowly(native, body); },
                                 all);
}

void SlowedDevice::run_slowly(const headrace::NativeStream& native,
                              const headrace::Stream::Body& body) const {
    const double times = times_.load();
#ifdef BENCH_HAS_CUDA
    if (began_) { // the body enqueues the work, and so do these
        auto* const began = static_cast<std::uint64_t*>(began_->address());
        start_clock(native.stream, began);
        body(native);
        hold(native.stream, began, times);
        return;
    }
#endif
    const auto begin = std::chrono::steady_clock::now(); // the body is the work
    body(native);
    const auto took = std::chrono::steady_clock::now() - begin;
    std::this_thread::sleep_for((times - 1) * took);
}

} // namespace bench
