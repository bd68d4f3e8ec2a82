// devices/simt/event.hpp - a native event behind an Event: where the work ended, and where it
// began if that is to be measured.
#pragma once
#include "simt/watch.hpp"
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

/// A stream, and what its events and the host's functions on it need after the Stream has gone. Destroyed
/// elsewhere than in the threads of its `Watch`: the last event may go in one of them.
class HEADRACE_EXPORT SharedStream {
public:
    explicit SharedStream(std::shared_ptr<Context> context);

    [[nodiscard]] Context& context() const noexcept { return *context_; }
    [[nodiscard]] StreamHandle native() const noexcept { return stream_.get(); }
    /// Counts points of the stream in its order. Threads: the one that enqueues.
    [[nodiscard]] std::uint64_t next_place() noexcept { return ++place_; }
    /// Sees to it that `event->finish` is called when that is complete. Threads: any.
    void announce(std::shared_ptr<NativeEvent> event);
    /// Calls `work` with the driver's answer, errors too, once `event` has completed, which was recorded on
    /// this stream. `work` may sleep for what the stream was given since. Threads: the one that enqueues.
    void when(EventHandle event, std::function<void(Status)> work) {
        watch_.when(next_place(), event, std::move(work));
    }
    /// An event recorded here and now, without its time.
    [[nodiscard]] PooledEvent record();

    /// All up to there has ended, and well on this device: an error would have stayed.
    void ended(std::uint64_t place) noexcept;
    [[nodiscard]] bool has_ended(std::uint64_t place) const noexcept {
        return place <= ended_.load(std::memory_order_acquire); // pairs with `ended`
    }

private:
    std::shared_ptr<Context> context_; // first: the stream goes before it
    StreamOwner stream_;
    std::uint64_t place_ = 0;
    std::atomic<std::uint64_t> ended_ = 0;
    Watch watch_; // last: it ends before what it watches goes
};

/// Completion of what a stream was given up to a native event, or between two.
class HEADRACE_EXPORT NativeEvent final : public EventState {
public:
    /// `timed`: the driver is to measure. Its records of times take five times as long as others do, and
    /// between two copies the device takes 3 us more (H200, driver 580).
    NativeEvent(std::shared_ptr<SharedStream> stream, bool timed);

    /// Begin and end, in this order and before anyone else has the event: enqueue the records.
    void record_begin();
    void record_end();
    /// A thread of ours works for this request on memory that is the caller's. The stream waits for it; but
    /// when the device is lost, the driver does not, and the event must.
    void end_after(Event host_part) { host_part_ = std::move(host_part); }
    /// Makes the event fail if one of those devices has failed: the driver orders events across devices and
    /// loses their outcome.
    void rely_on(std::span<const Event> after);

    [[nodiscard]] EventHandle end() const noexcept { return end_.get(); }
    [[nodiscard]] std::uint64_t place() const noexcept { return place_; } ///< of the end on its stream
    [[nodiscard]] const SharedStream& stream() const noexcept { return *stream_; }

    /// The same for all devices of the technology: the driver lets any stream wait for any event.
    [[nodiscard]] const void* family() const noexcept override;
    bool query() override;
    void block() override;
    void arm() override;
    [[nodiscard]] std::optional<EventTimes> times() const override;

    /// Settles the event if the driver's answer is final.
    void finish(Status status);

private:
    std::shared_ptr<SharedStream> stream_; // first: the events go back before it goes
    PooledEvent begin_, end_;              // no begin: not timed
    std::uint64_t place_ = 0;
    std::shared_ptr<const ClockMark> clock_;
    std::vector<std::shared_ptr<Context>> others_; // devices that this one's outcome depends on
    Event host_part_;
    std::atomic_flag armed_;
};

/// The event as ours; null if it is another technology's or the host's.
[[nodiscard]] HEADRACE_EXPORT const NativeEvent* as_native(const Event& event);

} // namespace headrace::HEADRACE_ON_SIMT
