// bench/null_device.hpp - a device that does nothing and has always finished: what a request costs on it is
// what the core costs.
#pragma once
#include <headrace/core/device.hpp>

#include <memory>
#include <utility>

namespace headrace {

/// As an event of a driver, it settles when somebody asks.
class NullEvent final : public EventState {
public:
    [[nodiscard]] const void* family() const noexcept override { return &address; }
    bool query() override {
        settle();
        return true;
    }
    void block() override { settle(); }
    void arm() override { settle(); }

private:
    static constexpr char address = 0;
};

class NullMemory final : public Memory {
public:
    explicit NullMemory(Bytes size) : size_(size) {}
    [[nodiscard]] Bytes size() const noexcept override { return size_; }
    [[nodiscard]] void* address() const noexcept override { return nullptr; }

private:
    Bytes size_;
};

class NullStream final : public Stream {
public:
    Event copy_in(Memory&, Bytes, const void*, Bytes, std::span<const Event> after) override {
        return ended(after);
    }
    Event copy_out(void*, const Memory&, Bytes, Bytes, std::span<const Event> after) override {
        return ended(after);
    }
    Event copy_peer(Memory&, Bytes, const Memory&, Bytes, Bytes, std::span<const Event> after) override {
        return ended(after);
    }
    Event fill(Memory&, Bytes, Bytes, Pattern, std::span<const Event> after) override { return ended(after); }
    Event launch(Body, std::span<const Event> after) override { return ended(after); }

private:
    static Event ended(std::span<const Event> after) {
        auto state = std::make_shared<NullEvent>();
        state->inherit(after);
        return Event{std::move(state)};
    }
};

class NullDevice final : public Device {
public:
    NullDevice() {
        info_.id = info_.technology = "nothing";
        info_.name = "a device that does nothing";
        info_.driver = "the core alone";
    }
    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override {
        return std::make_unique<NullMemory>(size);
    }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override {
        return std::make_shared<std::byte[]>(size);
    }
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing) override {
        return std::make_unique<NullStream>();
    }
    [[nodiscard]] bool reaches(const Device&) const override { return false; }
    [[nodiscard]] Bytes free_memory() const override { return Bytes{1} << 40; }

private:
    DeviceInfo info_;
};

} // namespace headrace
