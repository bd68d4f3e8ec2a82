// devices/simt/watch.cpp - see watch.hpp.
#include "simt/watch.hpp"

#include <algorithm>
#include <utility>

namespace headrace::HEADRACE_ON_SIMT {

void Watch::when(std::uint64_t place, EventHandle event, std::function<void(Status)> then) {
    const std::scoped_lock lock(mutex_);
    // A watcher that sleeps until a later event would be too late for this one. It would sleep for ever if
    // the later event waits for work that follows from this one. So a call against the stream's order gets
    // another thread, which is free again when it is idle.
    const auto in_time = [place](const std::unique_ptr<Watcher>& watcher) {
        // acquire: pairs with the release of `done`; the work of an idle watcher has ended.
        return watcher->last < place || watcher->done.load(std::memory_order_acquire) == watcher->given;
    };
    auto found = std::ranges::find_if(watchers_, in_time);
    if (found == watchers_.end()) {
        watchers_.push_back(std::make_unique<Watcher>());
        found = std::prev(watchers_.end());
    }
    Watcher& watcher = **found;
    watcher.last = place;
    ++watcher.given;
    watcher.thread.post([this, &watcher, event, then = std::move(then)]() mutable {
        std::exchange(then, nullptr)(sleepers_.until(event));
        watcher.done.fetch_add(1, std::memory_order_release); // release: pairs with the acquire in `in_time`
    });
}

} // namespace headrace::HEADRACE_ON_SIMT
