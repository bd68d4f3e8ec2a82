// core/event.hpp - completion of one piece of work, with its outcome.
// An Event completes exactly once, with success or an Error; work ordered after it inherits the Error.
#pragma once
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

/// When a piece of work ran, as the device that ran it measured, on the host's steady clock.
struct EventTimes {
    std::chrono::steady_clock::time_point begin, end;
};

/// What stands behind an Event: the host's view of the outcome, and whatever a backend adds to it.
///
/// An event settles no earlier than what it was told to come after, not even with a failure: who waits for it
/// alone may touch what those others were using.
/// A host-made event is settled by the host. A native one (a cudaEvent_t, a cl_event) settles when somebody
/// asks: `query` and `block` ask the driver, `arm` makes the driver tell without being asked. Backends
/// derive, and give all their events one `family`, so that two events of a family are ordered by the driver
/// alone. Threads: any, at any time.
class HEADRACE_EXPORT EventState : public std::enable_shared_from_this<EventState> {
public:
    using Continuation = std::function<void(const ErrorPtr&)>;

    EventState() = default;
    virtual ~EventState() = default;
    EventState(const EventState&) = delete; // shared by address
    EventState& operator=(const EventState&) = delete;

    [[nodiscard]] bool settled() const noexcept { return settled_.load(std::memory_order_acquire); }

    /// The outcome; null while unsettled and after a success.
    [[nodiscard]] ErrorPtr error() const;

    /// Sets the outcome: `own` failure, else the first failure among what this event inherits from, else
    /// success. The first call wins. Runs the continuations in the calling thread; called from a
    /// continuation, after that one.
    void settle(ErrorPtr own = {});

    /// Calls `then` once: at once if settled, else from the thread that settles. `then` must be short, must
    /// not throw, and must not call into controllers, which may be what settles.
    void on_settled(Continuation then);

    /// Makes this event inherit the failure of those in `after`. Called by the backend before anyone else
    /// has the event. Only events that may still fail on the host are kept, so chains do not grow; those that
    /// give order alone (Event::order_only) are not.
    void inherit(std::span<const Event> after);

    /// Which driver orders these events among themselves; null for host-made events.
    [[nodiscard]] virtual const void* family() const noexcept { return nullptr; }
    /// Asks without waiting; a native event settles itself when the driver says so.
    virtual bool query() { return settled(); }
    /// Returns when settled.
    virtual void block();
    /// Returns when settled, or false after `limit`.
    bool block_for(std::chrono::nanoseconds limit);
    /// Sees to it that `settle` will be called although nobody waits.
    virtual void arm() {}
    /// Known after a success where the backend measures.
    [[nodiscard]] virtual std::optional<EventTimes> times() const { return std::nullopt; }

private:
    mutable std::mutex mutex_;
    std::condition_variable settled_signal_;
    std::atomic<bool> settled_ = false;
    ErrorPtr error_;
    std::vector<Continuation> continuations_;
    std::vector<std::shared_ptr<EventState>> roots_; // unsettled host-side or foreign events we inherit from
};

/// Completion of one piece of work; copies share it. Default-constructed: complete, with success.
///
/// Threads: any. Errors: `wait` throws what the work failed with.
class HEADRACE_EXPORT Event {
public:
    Event() = default;
    explicit Event(std::shared_ptr<EventState> state) : state_(std::move(state)) {}

    /// True if complete, with either outcome. May ask the driver; never blocks.
    [[nodiscard]] bool done() const { return !state_ || state_->settled() || state_->query(); }
    /// Blocks until complete; throws the Error if that was the outcome.
    void wait() const;
    /// False: not complete within `limit`. Throws nothing that the work failed with.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const {
        return done() || state_->block_for(limit);
    }
    /// Blocks until complete and returns the outcome; null means success.
    [[nodiscard]] ErrorPtr outcome() const;
    /// See EventState::on_settled.
    void then(EventState::Continuation continuation) const;
    /// When the work ran; empty before completion and where nobody measures: see Timing.
    [[nodiscard]] std::optional<EventTimes> times() const;

    /// For backends. Null: complete, with success.
    [[nodiscard]] const std::shared_ptr<EventState>& state() const noexcept { return state_; }

    /// The same completion without its outcome: whoever comes after this one waits, and inherits no failure.
    /// What must wait for a reader, or for what it will overwrite, is not hurt by how that ended.
    [[nodiscard]] Event order_only() const;
    /// False for what `order_only` returned.
    [[nodiscard]] bool passes_failure() const noexcept { return passes_failure_; }

    /// Completes when all have; fails with the first failure in the order given.
    [[nodiscard]] static Event all(std::span<const Event> events);
    /// A complete event that carries `error`.
    [[nodiscard]] static Event failed(ErrorPtr error);

private:
    std::shared_ptr<EventState> state_;
    bool passes_failure_ = true;
};

/// The writing end of a host-made event. Move-only; dropped unkept, it fails its event, so no one hangs.
class HEADRACE_EXPORT Promise {
public:
    Promise() : state_(std::make_shared<State>()) {}
    ~Promise();
    Promise(Promise&&) noexcept = default;
    Promise& operator=(Promise&& other) noexcept;

    [[nodiscard]] Event event() const { return Event{state_}; }
    void complete() { state_->settle(); }
    /// Work that ran then: see Event::times.
    void complete(EventTimes ran) {
        state_->ran = ran; // before it settles: who has seen that sees the times
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
