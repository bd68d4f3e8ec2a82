// domains/streams/pending_callbacks.hpp - continuations that a caller can wait for, before it destroys what
// they use. Internal to domains/streams/.
#pragma once
#include <headrace/core/event.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace headrace {

/// Threads   any
class PendingCallbacks {
public:
    /// `hear(error)` is called when the event has settled, in the thread that settles it.
    template <class Hear>
    void add(const Event& event, Hear hear) {
        left_->fetch_add(1, std::memory_order_relaxed);
        // A reference of its own: `this` may be gone before the waiting thread wakes.
        event.then([left = left_, hear = std::move(hear)](const ErrorPtr& error) {
            hear(error);
            // release: pairs with the acquire in wait(), so the waiting thread sees the effects of `hear`.
            if (left->fetch_sub(1, std::memory_order_release) == 1) left->notify_all();
        });
    }
    /// Blocks until all continuations have run. A wait for an event may return before its continuations run.
    void wait() const {
        for (auto left = left_->load(std::memory_order_acquire); left != 0;
             left = left_->load(std::memory_order_acquire))
            left_->wait(left, std::memory_order_acquire);
    }

private:
    using Count = std::atomic<std::size_t>;
    std::shared_ptr<Count> left_ = std::make_shared<Count>(0);
};

} // namespace headrace
