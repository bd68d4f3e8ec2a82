// tests/domains/small_device.hpp - a device as one with little memory of its own.
#pragma once
#include <headrace/core/device.hpp>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace headrace::test {

/// Whatever is beyond `memory` bytes at once is refused. Threads: as Device.
class SmallDevice final : public Device {
public:
    SmallDevice(std::unique_ptr<Device> device, Bytes memory)
        : memory_(memory), device_(std::move(device)), info_(device_->info()) {
        info_.memory = info_.largest_allocation = memory;
        info_.shares_host_memory = false;
    }

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override {
        // relaxed: a sum, by which nothing is ordered
        if (taken_->fetch_add(size, std::memory_order_relaxed) + size > memory_) {
            taken_->fetch_sub(size, std::memory_order_relaxed);
            throw Error{ErrorKind::out_of_memory,
                        "asked for " + std::to_string(size) + " bytes of " + std::to_string(free_memory())}
                .on_device(info_.id);
        }
        return std::make_unique<Counted>(device_->allocate(size), taken_);
    }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override {
        return device_->allocate_host(size);
    }
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing timing) override {
        return std::make_unique<UncountingStream>(device_->make_stream(timing));
    }
    [[nodiscard]] bool reaches(const Device&) const override { return false; }
    [[nodiscard]] Bytes free_memory() const override {
        return memory_ - taken_->load(std::memory_order_relaxed); // relaxed: as above
    }

private:
    using Taken = std::shared_ptr<std::atomic<Bytes>>;
    class Counted final : public Memory {
    public:
        Counted(std::unique_ptr<Memory> memory, Taken taken)
            : memory_(std::move(memory)), taken_(std::move(taken)) {}
        ~Counted() override { taken_->fetch_sub(size(), std::memory_order_relaxed); } // relaxed: as above
        [[nodiscard]] Bytes size() const noexcept override { return memory_->size(); }
        [[nodiscard]] void* address() const noexcept override { return memory_->address(); }
        [[nodiscard]] void* handle() const noexcept override { return memory_->handle(); }

        [[nodiscard]] static Memory& inner(Memory& memory) { return *dynamic_cast<Counted&>(memory).memory_; }
        [[nodiscard]] static const Memory& inner(const Memory& memory) {
            return *dynamic_cast<const Counted&>(memory).memory_;
        }

    private:
        std::unique_ptr<Memory> memory_;
        Taken taken_;
    };

    /// Streams take nothing but their device's own memory.
    class UncountingStream final : public Stream {
    public:
        explicit UncountingStream(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

        Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                      std::span<const Event> after) override {
            return stream_->copy_in(Counted::inner(to), offset, from, size, after);
        }
        Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                       std::span<const Event> after) override {
            return stream_->copy_out(to, Counted::inner(from), offset, size, after);
        }
        Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                        std::span<const Event> after) override {
            return stream_->copy_peer(Counted::inner(to), to_offset, Counted::inner(from), from_offset, size,
                                      after);
        }
        Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                   std::span<const Event> after) override {
            return stream_->fill(Counted::inner(memory), offset, size, pattern, after);
        }
        Event launch(Body body, std::span<const Event> after) override {
            return stream_->launch(std::move(body), after);
        }

    private:
        std::unique_ptr<Stream> stream_;
    };

    Bytes memory_;
    Taken taken_ = std::make_shared<std::atomic<Bytes>>(0);
    std::unique_ptr<Device> device_;
    DeviceInfo info_;
};

} // namespace headrace::test
