// devices/simt/stream.hpp - a CUDA or HIP stream as Stream.
#pragma once
#include <headrace/devices/simt/event.hpp>

#include <functional>
#include <memory>
#include <span>

namespace headrace::HEADRACE_ON_SIMT {

class DeviceMemory final : public Memory {
public:
    DeviceMemory(std::shared_ptr<Context> context, Bytes size)
        : context_(std::move(context)), address_(context_->allocate(size)), size_(size) {}
    ~DeviceMemory() override { context_->free(address_); }

    [[nodiscard]] Bytes size() const noexcept override { return size_; }
    [[nodiscard]] void* address() const noexcept override { return address_; }
    [[nodiscard]] const Context& context() const noexcept { return *context_; }
    [[nodiscard]] std::byte* at(Bytes offset) const noexcept {
        return static_cast<std::byte*>(address_) + offset;
    }

private:
    std::shared_ptr<Context> context_;
    void* address_;
    Bytes size_;
};

struct PinnedDeleter {
    void operator()(void* memory) const noexcept { static_cast<void>(free_pinned(memory)); }
};

/// Destroying it waits until its requests have ended.
class SimtStream final : public Stream {
public:
    explicit SimtStream(const std::shared_ptr<Context>& context);
    ~SimtStream() override;

    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override;
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override;
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override;
    Event fill_zero(Memory& memory, Bytes offset, Bytes size, std::span<const Event> after) override;
    Event launch(Body body, std::span<const Event> after) override;

private:
    /// Enqueues the waits and then `work`; whatever that throws becomes the event's failure.
    Event enqueue(std::span<const Event> after, const std::function<void()>& work);
    void wait_for(const Event& event);
    /// The two halves of a copy from or to memory that is not pinned, through a buffer that is.
    void stage_in(std::byte* to, const std::byte* from, Bytes size);
    void stage_out(std::byte* to, const std::byte* from, Bytes size);
    [[nodiscard]] std::byte* staging();
    [[nodiscard]] const DeviceMemory& own(const Memory& memory, Bytes offset, Bytes size) const;
    [[nodiscard]] const DeviceInfo& info() const { return pair_->context().info(); }

    std::shared_ptr<StreamPair> pair_;
    std::unique_ptr<void, PinnedDeleter> staging_;
    Event last_; // what a request that could not be enqueued must still not complete before
};

} // namespace headrace::HEADRACE_ON_SIMT
