// devices/simt/completion_poller.cpp - see completion_poller.hpp.
#include "simt/completion_poller.hpp"

#include <algorithm>
#include <utility>

namespace headrace::HEADRACE_ON_SIMT {

void CompletionPoller::when(std::uint64_t place, EventHandle event, std::function<void(Status)> then) {
    const std::scoped_lock lock(mutex_);
    // A thread that sleeps until a later event would be too late for this one. It would sleep for ever if
    // the later event waits for work that follows from this one. So a call against the stream's order gets
    // another thread, which is free again when it is idle.
    const auto in_time = [place](const std::unique_ptr<Thread>& thread) {
        // acquire: pairs with the release of `done`; the work of an idle thread has ended.
        return thread->last < place || thread->done.load(std::memory_order_acquire) == thread->given;
    };
    auto found = std::ranges::find_if(threads_, in_time);
    if (found == threads_.end()) {
        threads_.push_back(std::make_unique<Thread>());
        found = std::prev(threads_.end());
    }
    Thread& thread = **found;
    thread.last = place;
    ++thread.given;
    thread.executor.post([this, &thread, event, then = std::move(then)]() mutable {
        std::exchange(then, nullptr)(waiter_.until(event));
        thread.done.fetch_add(1, std::memory_order_release); // release: pairs with the acquire in `in_time`
    });
}

} // namespace headrace::HEADRACE_ON_SIMT
