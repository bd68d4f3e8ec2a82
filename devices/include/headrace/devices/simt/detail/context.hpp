// devices/simt/detail/context.hpp - what all objects of one CUDA or HIP device share, and keep alive.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/detail/gates.hpp>
#include <headrace/devices/simt/detail/sleepers.hpp>

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
/// Waits for none of the streams that exist already, as the runtime's default stream would.
[[nodiscard]] HEADRACE_EXPORT StreamOwner make_stream();

class EventPool;

/// One of a pool's events, which goes back there.
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
    EventPool* home_ = nullptr; // whoever has the event also holds the context
    EventHandle event_ = nullptr;
};

/// Events that were made alike and are used again. Threads: any.
class HEADRACE_EXPORT EventPool {
public:
    explicit EventPool(unsigned flags) : flags_(flags) {}
    EventPool(const EventPool&) = delete; // its events know its address
    EventPool& operator=(const EventPool&) = delete;

    /// On the device that is current.
    [[nodiscard]] PooledEvent take();
    /// When all are back. A pool's own destructor would not know whether the device is still there.
    void destroy() noexcept;

private:
    friend class PooledEvent;

    const unsigned flags_;
    std::mutex mutex_;
    std::vector<EventHandle> free_;
    std::size_t all_ = 0; ///< in use or not
};

/// A moment that the device and the host both know.
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
    /// The NUMA node that it is near.
    [[nodiscard]] std::optional<unsigned> node() const noexcept { return node_; }
    [[nodiscard]] Gates& gates() const noexcept { return *gates_; }
    [[nodiscard]] Sleepers& sleepers() noexcept { return sleepers_; }

    /// Makes this device the calling thread's. It stays so: setting back what was there before would start
    /// that device, whether anybody uses it or not.
    void make_current() const;

    [[nodiscard]] EventPool& plain_events() noexcept { return plain_events_; }
    [[nodiscard]] EventPool& timed_events() noexcept { return timed_events_; } ///< that tell when they came

    /// The last moment at which the clocks were compared, not long ago. Null if the device was too busy to
    /// say.
    [[nodiscard]] std::shared_ptr<const ClockMark> clock_mark();

    [[nodiscard]] void* allocate(Bytes size);
    void free(void* memory) noexcept;
    [[nodiscard]] Bytes free_memory() const;
    /// Lets `other` read and write what is allocated here; false if the hardware cannot.
    [[nodiscard]] bool admit(int other);
    [[nodiscard]] bool has_pool() const noexcept { return pool_ != nullptr; }

    /// Pinned host memory that unpinned copies go through; kept until the device is closed. Large enough that
    /// handing over its halves costs little beside copying them (0.2 ms), and small because to pin it takes
    /// the driver half a millisecond for each megabyte (H200, driver 580).
    static constexpr Bytes staging_bytes = 4 << 20;
    [[nodiscard]] std::byte* take_staging();
    void give_back_staging(std::byte* buffer) noexcept;

    /// An error that stays, if the device has one: nothing that ran on it may be believed any more.
    [[nodiscard]] ErrorPtr lasting_failure() const noexcept;

private:
    [[nodiscard]] Status try_allocate(void** memory, Bytes size) const;
    void compare_clocks(bool has_mark);

    const int ordinal_;
    const DeviceInfo info_;
    const std::optional<unsigned> node_;
    std::shared_ptr<Gates> gates_;
    Sleepers sleepers_;
    StreamOwner service_;       // allocations and clock marks; no work that could hold them up
    PoolHandle pool_ = nullptr; // null: the device has no pools
    EventPool plain_events_{HEADRACE_RUNTIME(EventDisableTiming)}; // who waits asks: see sleepers.hpp
    EventPool timed_events_{HEADRACE_RUNTIME(EventDefault)};
    mutable std::mutex mutex_;
    std::vector<int> admitted_;
    std::vector<std::byte*> free_staging_, all_staging_;
    std::shared_ptr<const ClockMark> clock_mark_;
};

} // namespace headrace::HEADRACE_ON_SIMT
