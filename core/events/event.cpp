// core/events/event.cpp - see event.hpp.
#include <headrace/core/event.hpp>

#include <algorithm>
#include <deque>
#include <utility>

namespace headrace {

namespace {

using Batch = std::pair<std::vector<EventState::Continuation>, ErrorPtr>;
/// What this thread has yet to run, while it runs continuations.
thread_local std::deque<Batch>* under_way = nullptr;

/// Runs continuations in the calling thread. If a continuation settles another event, the continuations of
/// that event run afterwards and not inside it. Otherwise a long chain of events would need a deep stack.
void run(std::vector<EventState::Continuation> continuations, const ErrorPtr& error) {
    if (continuations.empty()) return;
    if (under_way != nullptr) {
        under_way->emplace_back(std::move(continuations), error);
        return;
    }
    std::deque<Batch> batches;
    batches.emplace_back(std::move(continuations), error);
    under_way = &batches;
    while (!batches.empty()) {
        const Batch batch = std::move(batches.front());
        batches.pop_front();
        for (const auto& continuation : batch.first) continuation(batch.second);
    }
    under_way = nullptr;
}

} // namespace

bool EventState::runs_continuations() noexcept { return under_way != nullptr; }

ErrorPtr EventState::error() const {
    if (settled_.load(std::memory_order_acquire)) return error_; // it does not change any more
    return process_.is_of_this_process() ? nullptr : left_behind();
}

ErrorPtr EventState::left_behind() const {
    return std::make_shared<const Error>(ProcessMark::error("work that had not ended"));
}

void EventState::settle(ErrorPtr own) {
    if (settled()) return; // also in a forked child, where nothing changes how it ended
    // A waiting thread may see the outcome and drop the last reference before this call has ended.
    const std::shared_ptr<EventState> alive = weak_from_this().lock();
    std::vector<Continuation> continuations;
    std::vector<std::shared_ptr<EventState>> roots;
    {
        const std::scoped_lock lock(mutex_);
        if (settled_.load(std::memory_order_relaxed)) return;
        error_ = std::move(own);
        for (const auto& root : roots_) {
            if (error_) break;
            error_ = root->error();
        }
        roots.swap(roots_); // released outside the lock: this may be the last reference to a root
        continuations.swap(continuations_);
        // release: pairs with the acquire in settled(), after which error_ is read.
        settled_.store(true, std::memory_order_release);
    }
    settled_signal_.notify_all();
    run(std::move(continuations), error_);
}

void EventState::on_settled(Continuation then) {
    if (!settled()) {
        std::unique_lock lock(mutex_);
        if (!settled_.load(std::memory_order_relaxed)) {
            continuations_.push_back(std::move(then));
            lock.unlock();
            arm();
            return;
        }
    }
    then(error());
}

void EventState::inherit(std::span<const Event> after) {
    const auto keep = [this](const std::shared_ptr<EventState>& root) {
        if (root->settled() && !root->error()) return;
        if (std::ranges::find(roots_, root) == roots_.end()) roots_.push_back(root);
    };
    for (const Event& event : after) {
        const auto& state = event.state();
        if (!state || !event.passes_failure()) continue;
        if (!state->settled() && state->family() && state->family() == family()) {
            // The driver orders the two events. It does not know the failures that the other event inherits.
            std::vector<std::shared_ptr<EventState>> roots;
            {
                const std::scoped_lock lock(state->mutex_);
                roots = state->roots_;
            }
            for (const auto& root : roots) keep(root);
            // If it has settled in between, its roots are gone, and its own outcome includes them.
            if (state->settled()) keep(state);
        } else {
            keep(state);
        }
    }
}

void EventState::block() {
    std::unique_lock lock(mutex_);
    settled_signal_.wait(lock, [this] { return settled_.load(std::memory_order_relaxed); });
}

bool EventState::block_for(std::chrono::nanoseconds limit) {
    constexpr std::chrono::hours long_enough{24 * 365}; // now + limit must not overflow
    arm();                                              // so that it is settled while this thread sleeps
    std::unique_lock lock(mutex_);
    return settled_signal_.wait_for(lock, std::min<std::chrono::nanoseconds>(limit, long_enough),
                                    [this] { return settled_.load(std::memory_order_relaxed); });
}

void Event::wait() const {
    if (const ErrorPtr error = outcome()) throw Error{*error};
}

ErrorPtr Event::outcome() const {
    if (!state_) return {};
    if (!state_->settled()) state_->block();
    return passes_failure_ ? state_->error() : nullptr;
}

void Event::then(EventState::Continuation continuation) const {
    if (!state_)
        continuation({});
    else if (passes_failure_)
        state_->on_settled(std::move(continuation));
    else
        state_->on_settled([continuation = std::move(continuation)](const ErrorPtr&) { continuation({}); });
}

std::optional<EventTimes> Event::times() const {
    return state_ && state_->settled() ? state_->times() : std::nullopt;
}

Event Event::order_only() const {
    Event ordered = *this;
    ordered.passes_failure_ = false;
    return ordered;
}

Event Event::all(std::span<const Event> events) {
    std::vector<Event> open;
    for (const Event& event : events)
        // Does not ask a driver: this could settle events, and run continuations, while the caller holds
        // locks or works on its state.
        if (event.state() && (!event.state()->settled() || event.outcome())) open.push_back(event);
    if (open.empty()) return {};
    if (open.size() == 1) return open.front();
    auto joined = std::make_shared<EventState>();
    joined->inherit(open);
    auto left = std::make_shared<std::atomic<std::size_t>>(open.size());
    for (const Event& event : open)
        event.then([joined, left](const ErrorPtr&) {
            // acq_rel: pairs with itself in the other continuations. The last one sees all others settled.
            if (left->fetch_sub(1, std::memory_order_acq_rel) == 1) joined->settle();
        });
    return Event{joined};
}

Event Event::failed(ErrorPtr error) {
    auto state = std::make_shared<EventState>();
    state->settle(std::move(error));
    return Event{state};
}

Promise::~Promise() {
    if (state_)
        state_->settle(
            std::make_shared<const Error>(ErrorKind::internal, "work was dropped before it ended"));
}

Promise& Promise::operator=(Promise&& other) noexcept {
    const Promise dropped = std::move(*this); // fails its event, so that no thread hangs
    state_ = std::move(other.state_);
    return *this;
}

} // namespace headrace
