// devices/simt/event.hpp - native events behind an Event: the end of the work, and its begin if times are
// measured.
#pragma once
#include "simt/completion_poller.hpp"
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/detail/context.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

class NativeEvent;

/// A stream, with all that its events and host functions need after the Stream is destroyed. Its destructor
/// does not run in a thread of its `CompletionPoller`, although the last event may be dropped there.
class HEADRACE_EXPORT SharedStream {
public:
    explicit SharedStream(std::shared_ptr<Context> context);

    [[nodiscard]] Context& context() const noexcept { return *context_; }
    [[nodiscard]] StreamHandle native() const noexcept { return stream_.get(); }
    /// Numbers the points of the stream in order. Threads: only the one that enqueues.
    [[nodiscard]] std::uint64_t next_place() noexcept { return ++place_; }
    /// Makes sure that `event->finish` is called when the event has completed. Threads: any.
    void announce(std::shared_ptr<NativeEvent> event);
    /// Calls `work` with the driver's answer, also an error, once `event`, recorded on this stream, has
    /// completed. `work` may sleep for later work of the stream. Threads: only the one that enqueues.
    void when(EventHandle event, std::function<void(Status)> work) {
        poller_.when(next_place(), event, std::move(work));
    }
    /// Records an event at this point of the stream, without its time.
    [[nodiscard]] PooledEvent record();

    /// Notes that all work up to `place` has succeeded on this device: an error would have lasted.
    void ended(std::uint64_t place) noexcept;
    [[nodiscard]] bool has_ended(std::uint64_t place) const noexcept {
        return place <= ended_.load(std::memory_order_acquire); // acquire: pairs with the release in `ended`
    }

private:
    std::shared_ptr<Context> context_; // first: destroyed after the stream
    StreamOwner stream_;
    std::uint64_t place_ = 0;
    std::atomic<std::uint64_t> ended_ = 0;
    CompletionPoller poller_; // last: it ends before what it watches is destroyed
};

/// Completion of the stream's work up to a native event, or between two native events.
class HEADRACE_EXPORT NativeEvent final : public EventState {
public:
    /// `timed`: the driver measures times. A record with a time takes five times as long as one without.
    /// Between two copies the device takes 3 us more (H200, driver 580).
    NativeEvent(std::shared_ptr<SharedStream> stream, bool timed);

    /// Enqueue the records of begin and end. Call them in this order, before others have the event.
    void record_begin();
    void record_end();
    /// `host_part`: what a thread of this library does for the request in the caller's memory. The stream
    /// waits for it; if the device is lost, the driver does not, so the event must.
    void end_after(Event host_part) { host_part_ = std::move(host_part); }
    /// Makes the event fail if a device of an event in `after` has failed: the driver orders events across
    /// devices but does not pass on their outcome.
    void rely_on(std::span<const Event> after);

    [[nodiscard]] EventHandle end() const noexcept { return end_.get(); }
    [[nodiscard]] std::uint64_t place() const noexcept { return place_; } ///< of the end, on its stream
    [[nodiscard]] const SharedStream& stream() const noexcept { return *stream_; }

    /// One for all devices of the technology, because the driver lets any stream wait for any event.
    [[nodiscard]] const void* family() const noexcept override;
    bool query() override;
    void block() override;
    void arm() override;
    [[nodiscard]] std::optional<EventTimes> times() const override;

    /// Settles the event if the driver's answer is final.
    void finish(Status status);

private:
    std::shared_ptr<SharedStream> stream_; // first: destroyed after the events have gone back
    PooledEvent begin_, end_;              // no begin: not timed
    std::uint64_t place_ = 0;
    std::shared_ptr<const ClockMark> clock_;
    std::vector<std::shared_ptr<Context>> others_; // devices that the outcome depends on
    Event host_part_;
    std::atomic_flag armed_;
};

/// The event as a NativeEvent; null if it belongs to another technology or to the host.
[[nodiscard]] HEADRACE_EXPORT const NativeEvent* as_native(const Event& event);

} // namespace headrace::HEADRACE_ON_SIMT
