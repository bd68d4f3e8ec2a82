// devices/simt/detail/context.hpp - what all objects of one CUDA or HIP device share and keep alive.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/detail/completion_waiter.hpp>
#include <headrace/devices/simt/detail/timeline_semaphores.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

struct StreamDeleter {
    void operator()(StreamHandle stream) const noexcept {
        static_cast<void>(HEADRACE_RUNTIME(StreamDestroy)(stream));
    }
};
using StreamOwner = std::unique_ptr<std::remove_pointer_t<StreamHandle>, StreamDeleter>;
/// Makes a stream that is independent of all existing streams. The runtime's default stream waits for them.
[[nodiscard]] HEADRACE_EXPORT StreamOwner make_stream();

class EventPool;

/// One event of a pool. The destructor returns it to the pool.
class HEADRACE_EXPORT PooledEvent {
public:
    PooledEvent() = default;
    PooledEvent(EventPool& home, EventHandle event) noexcept : home_(&home), event_(event) {}
    ~PooledEvent();
    PooledEvent(PooledEvent&& other) noexcept
        : home_(other.home_), event_(std::exchange(other.event_, nullptr)) {}
    PooledEvent& operator=(PooledEvent&& other) noexcept {
        std::swap(home_, other.home_);
        std::swap(event_, other.event_);
        return *this;
    }
    [[nodiscard]] EventHandle get() const noexcept { return event_; }

private:
    EventPool* home_ = nullptr; // outlives this object: the owner of the event holds the context
    EventHandle event_ = nullptr;
};

/// Events of one kind that are used again. Threads: any.
class HEADRACE_EXPORT EventPool {
public:
    explicit EventPool(unsigned flags) : flags_(flags) {}
    EventPool(const EventPool&) = delete; // its events hold its address
    EventPool& operator=(const EventPool&) = delete;

    /// Takes an event on the current device.
    [[nodiscard]] PooledEvent take();
    /// Destroys the events. All must be back. A destructor could not know whether the device still exists.
    void destroy() noexcept;

private:
    friend class PooledEvent;

    const unsigned flags_;
    std::mutex mutex_;
    std::vector<EventHandle> free_;
    std::size_t all_ = 0; ///< number of all events, in use or free
};

/// A moment on both clocks: the device's and the host's.
struct ClockMark {
    PooledEvent event;
    std::chrono::steady_clock::time_point host;
};

/// One device. Streams, events and memories hold it by shared pointer.
class HEADRACE_EXPORT Context : public std::enable_shared_from_this<Context> {
public:
    Context(int ordinal, DeviceInfo info);
    ~Context();
    Context(const Context&) = delete; // shared by address
    Context& operator=(const Context&) = delete;

    [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] const DeviceInfo& info() const noexcept { return info_; }
    /// The NUMA node nearest to the device.
    [[nodiscard]] std::optional<unsigned> node() const noexcept { return node_; }
    [[nodiscard]] TimelineSemaphores& semaphores() const noexcept { return *semaphores_; }
    [[nodiscard]] CompletionWaiter& waiter() noexcept { return waiter_; }

    /// Makes this device the calling thread's current device. It does not restore the previous device,
    /// because that would start the previous device even if nothing uses it.
    void make_current() const;

    [[nodiscard]] EventPool& plain_events() noexcept { return plain_events_; }
    [[nodiscard]] EventPool& timed_events() noexcept { return timed_events_; } ///< these record their times

    /// The last comparison of the clocks; compares again if it is older than 60 s. Null if the device was too
    /// busy for the first comparison.
    [[nodiscard]] std::shared_ptr<const ClockMark> clock_mark();

    [[nodiscard]] void* allocate(Bytes size);
    void free(void* memory) noexcept;
    [[nodiscard]] Bytes free_memory() const;
    /// Lets `other` read and write memory allocated here. Returns false if the hardware cannot.
    [[nodiscard]] bool admit(int other);
    [[nodiscard]] bool has_pool() const noexcept { return pool_ != nullptr; }

    /// Pinned host memory that copies of unpinned memory go through, half by half; kept until the device
    /// closes. A half takes 0.2 ms to copy, much longer than to hand over. The whole is small, because the
    /// driver needs 0.5 ms to pin 1 MB (H200, driver 580).
    static constexpr Bytes staging_bytes = 4 << 20;
    [[nodiscard]] std::byte* take_staging();
    void give_back_staging(std::byte* buffer) noexcept;

    /// The device's lasting error, if it has one. Then no result of the device is valid any more.
    [[nodiscard]] ErrorPtr lasting_failure() const noexcept;

private:
    [[nodiscard]] Status try_allocate(void** memory, Bytes size) const;
    void compare_clocks(bool has_mark);

    const int ordinal_;
    const DeviceInfo info_;
    const std::optional<unsigned> node_;
    std::shared_ptr<TimelineSemaphores> semaphores_;
    CompletionWaiter waiter_;
    StreamOwner service_;       // allocations and clock marks; no work that delays them
    PoolHandle pool_ = nullptr; // null: the device has no memory pools
    EventPool plain_events_{
        HEADRACE_RUNTIME(EventDisableTiming)}; // polled, not waited for: see completion_waiter.hpp
    EventPool timed_events_{HEADRACE_RUNTIME(EventDefault)};
    mutable std::mutex mutex_;
    std::vector<int> admitted_;
    std::vector<std::byte*> free_staging_, all_staging_;
    std::shared_ptr<const ClockMark> clock_mark_;
};

} // namespace headrace::HEADRACE_ON_SIMT
