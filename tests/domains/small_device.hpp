// tests/domains/small_device.hpp - the processors as a device with little memory of its own.
#pragma once
#include <headrace/devices/cpu/cpu.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace headrace::test {

/// Whatever is beyond `memory` bytes at once is refused. Threads: as Device.
class SmallDevice final : public Device {
public:
    explicit SmallDevice(Bytes memory) : memory_(memory), info_(device_->info()) {
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
        return device_->make_stream(timing);
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

    private:
        std::unique_ptr<Memory> memory_;
        Taken taken_;
    };

    Bytes memory_;
    Taken taken_ = std::make_shared<std::atomic<Bytes>>(0);
    std::unique_ptr<Device> device_ = make_cpu_device();
    DeviceInfo info_;
};

} // namespace headrace::test
