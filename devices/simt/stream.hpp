// devices/simt/stream.hpp - a CUDA or HIP stream as Stream.
#pragma once
#include "simt/event.hpp"
#include "simt/staging.hpp"
#include <headrace/core/export.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <span>

namespace headrace::HEADRACE_ON_SIMT {

class HEADRACE_EXPORT DeviceMemory final : public Memory {
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

/// The destructor waits until its requests have ended. A call waits until the request `most_unfinished`
/// before its own has ended. CUDA's driver takes 1020 commands of a stream that waits at a semaphore. Then
/// the caller blocks and holds a lock that the thread which signals the semaphore may need.
class HEADRACE_EXPORT SimtStream final : public Stream {
public:
    static constexpr std::size_t most_unfinished = 100;
    /// Commands of a usual request beside its own work: two records and this many waits. A request with more
    /// waits counts as several.
    static constexpr std::size_t usual_waits = 6;

    SimtStream(const std::shared_ptr<Context>& context, Timing timing);
    ~SimtStream() override;

    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override;
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override;
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override;
    Event add(Memory& to, const Memory& from, Bytes offset, Bytes size, NumberType type,
              std::span<const Event> after) override;
    Event take_changes(Memory& to, const Memory& from, Bytes offset, Bytes size, const Changes& changes,
                       std::span<const Event> after) override;
    Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
               std::span<const Event> after) override;
    Event launch(Body body, std::span<const Event> after) override;

private:
    /// Enqueues the waits and then `work`. An exception of `work` becomes the event's failure. `requests`:
    /// how many usual requests have as many commands.
    Event enqueue(std::span<const Event> after, const std::function<void()>& work, std::size_t requests = 1);
    void wait_for(const Event& event);
    void make_room(std::size_t requests);
    Event staged(const StagedCopy& copy, std::span<const Event> after);
    [[nodiscard]] const DeviceMemory& own(const Memory& memory, Bytes offset, Bytes size) const;
    [[nodiscard]] const DeviceInfo& info() const { return stream_->context().info(); }

    const Timing timing_;
    std::shared_ptr<SharedStream> stream_;
    std::deque<std::shared_ptr<NativeEvent>> unfinished_; // or not known to have ended
    std::byte* staging_ = nullptr;                        // the context's; taken at first use
    Event host_part_; // of the request that is now being enqueued: see NativeEvent::end_after
    Event last_;      // the last event: a request that fails to enqueue completes after it
};

} // namespace headrace::HEADRACE_ON_SIMT
