// devices/simt/event.hpp - a pair of native events behind an Event: where the work began and where it ended.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/devices/simt/context.hpp>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

class NativeEvent;

/// A stream, and one beside it in which callbacks wait for its events without holding up its work.
class StreamPair {
public:
    explicit StreamPair(std::shared_ptr<Context> context);

    [[nodiscard]] Context& context() const noexcept { return *context_; }
    [[nodiscard]] StreamHandle work() const noexcept { return work_.get(); }
    /// Sees to it that the notifier's thread calls `event->finish` when that is complete.
    void announce(std::shared_ptr<NativeEvent> event);

private:
    std::shared_ptr<Context> context_; // first: streams go before it
    StreamOwner work_;
    std::mutex mutex_;
    StreamOwner beside_; // one per stream, so that events come in order there too
};

/// Completion of what a stream was given between two native events.
class NativeEvent final : public EventState {
public:
    explicit NativeEvent(std::shared_ptr<StreamPair> stream);

    /// Begin and end, in this order and before anyone else has the event: enqueue the records.
    void record_begin();
    void record_end();
    /// Makes the event fail if one of those devices has failed: the driver orders events across devices and
    /// loses their outcome.
    void rely_on(std::span<const Event> after);

    [[nodiscard]] EventHandle end() const noexcept { return end_.get(); }
    [[nodiscard]] const StreamPair& stream() const noexcept { return *stream_; }

    /// The same for all devices of the technology: the driver lets any stream wait for any event.
    [[nodiscard]] const void* family() const noexcept override;
    bool query() override;
    void block() override;
    void arm() override;
    [[nodiscard]] std::optional<EventTimes> times() const override;

    /// Settles the event if the driver's answer is final.
    void finish(Status status);

private:
    std::shared_ptr<StreamPair> stream_; // first: the events go back before it goes
    PooledEvent begin_, end_;
    std::shared_ptr<const ClockMark> clock_;
    std::vector<std::shared_ptr<Context>> others_; // devices that this one's outcome depends on
    std::atomic_flag armed_;
};

/// The event as ours; null if it is another technology's or the host's.
[[nodiscard]] const NativeEvent* as_native(const Event& event);

} // namespace headrace::HEADRACE_ON_SIMT
