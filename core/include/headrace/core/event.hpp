// core/event.hpp - completion of one piece of work, with its outcome.
// An Event completes exactly once, with success or an Error; work ordered after it inherits the Error.
#pragma once
#include <headrace/core/detail/process_mark.hpp>
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace headrace {

class Event;

/// When a piece of work ran: measured by its device, on the steady clock of the host.
struct EventTimes {
    std::chrono::steady_clock::time_point begin, end;
};

/// The state behind an Event: its outcome on the host, and the data that a backend adds in a derived class.
///
/// An event never settles before the events that it comes after, not even with a failure. So a caller that
/// waits for this event alone may then use the data of those earlier events.
/// The host settles a host-made event. A native event (a cudaEvent_t, a cl_event) settles when the driver is
/// asked: `query` and `block` ask it, and `arm` lets the driver report by itself. A backend gives all its
/// events the same `family`: the driver alone orders two events of one family.
/// What would settle an event is not there in a child of fork(). So an event that had not settled when the
/// process forked is settled in the child, with the outcome that `left_behind` returns.
/// Threads: any, at any time.
class HEADRACE_EXPORT EventState : public std::enable_shared_from_this<EventState> {
public:
    using Continuation = std::function<void(const ErrorPtr&)>;

    EventState() = default;
    virtual ~EventState() = default;
    EventState(const EventState&) = delete; // other objects hold its address
    EventState& operator=(const EventState&) = delete;

    [[nodiscard]] bool settled() const noexcept {
        return settled_.load(std::memory_order_acquire) || !process_.is_of_this_process();
    }

    /// The outcome; null while unsettled and after a success.
    [[nodiscard]] ErrorPtr error() const;

    /// Sets the outcome: `own` failure, else the first inherited failure, else success. Only the first call
    /// has an effect. Runs the continuations in the calling thread. If a continuation calls `settle`, the
    /// new continuations run after that one.
    void settle(ErrorPtr own = {});

    /// Calls `then` once: now if settled, else later in the thread that settles. `then` must be short and
    /// must not throw. It must not call a controller, because a controller may be the code that settles. Nor
    /// may it wait, for example as the last owner of a datum: this thread may have what would settle next.
    void on_settled(Continuation then);
    /// True in a thread that runs continuations of an event, for what they destroy.
    [[nodiscard]] static bool runs_continuations() noexcept;

    /// Makes this event inherit failures of the events in `after`. The backend calls it before other code
    /// has the event. Keeps only events that may still fail on the host, so chains do not grow. Ignores
    /// events that give only order (Event::order_only).
    void inherit(std::span<const Event> after);

    /// Identifies the driver that orders these events among each other; null for host-made events.
    [[nodiscard]] virtual const void* family() const noexcept { return nullptr; }
    /// Asks without waiting. A native event settles itself if the driver reports completion.
    virtual bool query() { return settled(); }
    /// Blocks until settled.
    virtual void block();
    /// Blocks until settled, at most for `limit`; false if it did not settle in this time.
    virtual bool block_for(std::chrono::nanoseconds limit);
    /// Ensures that `settle` is called even if no thread waits.
    virtual void arm() {}
    /// When the work ran. Known only after a success, and only if the backend measures times.
    [[nodiscard]] virtual std::optional<EventTimes> times() const { return std::nullopt; }

protected:
    /// The outcome in a child of fork(), if the event had not settled in the parent: an Error that says so.
    [[nodiscard]] virtual ErrorPtr left_behind() const;

private:
    const ProcessMark process_;
    mutable std::mutex mutex_;
    std::condition_variable settled_signal_;
    std::atomic<bool> settled_ = false;
    ErrorPtr error_;
    std::vector<Continuation> continuations_;
    std::vector<std::shared_ptr<EventState>> roots_; // of the host or other drivers: failures are inherited
};

/// The completion of one piece of work. Copies share it. The default is complete, with success.
///
/// Threads: any. Errors: `wait` throws the Error of the failed work.
class HEADRACE_EXPORT Event {
public:
    Event() = default;
    explicit Event(std::shared_ptr<EventState> state) : state_(std::move(state)) {}

    /// True if complete, with success or failure. May ask the driver; never blocks.
    [[nodiscard]] bool done() const { return !state_ || state_->settled() || state_->query(); }
    /// Blocks until complete; throws the Error if that was the outcome.
    void wait() const;
    /// False if not complete within `limit`. Does not throw the Error of the work.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const {
        return done() || state_->block_for(limit);
    }
    /// Blocks until complete and returns the outcome; null means success. Throws only of a job:
    /// JobHandle::event.
    [[nodiscard]] ErrorPtr outcome() const;
    /// See EventState::on_settled.
    void then(EventState::Continuation continuation) const;
    /// When the work ran. Empty before completion, and if no times are measured: see Timing.
    [[nodiscard]] std::optional<EventTimes> times() const;

    /// For backends. Null: complete, with success.
    [[nodiscard]] const std::shared_ptr<EventState>& state() const noexcept { return state_; }

    /// The same completion without its failure: work after it waits, but inherits no failure. Use it for work
    /// that must wait for a reader, or for data that it will overwrite. How those end does not matter.
    [[nodiscard]] Event order_only() const;
    /// False for an event that `order_only` returned.
    [[nodiscard]] bool passes_failure() const noexcept { return passes_failure_; }

    /// Completes when all `events` have completed. Fails with the first failure, in the order of `events`.
    [[nodiscard]] static Event all(std::span<const Event> events);
    /// A complete event that carries `error`.
    [[nodiscard]] static Event failed(ErrorPtr error);

private:
    std::shared_ptr<EventState> state_;
    bool passes_failure_ = true;
};

/// Settles one host-made event. Move-only. The destructor fails an unsettled event, so no thread hangs.
class HEADRACE_EXPORT Promise {
public:
    Promise() : state_(std::make_shared<State>()) {}
    ~Promise();
    Promise(Promise&&) noexcept = default;
    Promise& operator=(Promise&& other) noexcept;

    [[nodiscard]] Event event() const { return Event{state_}; }
    void complete() { state_->settle(); }
    /// Completes, with the times at which the work ran: see Event::times.
    void complete(EventTimes ran) {
        state_->ran = ran; // before it settles: a thread that sees it settled also sees the times
        state_->settle();
    }
    void fail(ErrorPtr error) { state_->settle(std::move(error)); }

private:
    struct HEADRACE_EXPORT State final : EventState {
        std::optional<EventTimes> ran;
        [[nodiscard]] std::optional<EventTimes> times() const override { return ran; }
    };
    std::shared_ptr<State> state_;
};

} // namespace headrace
