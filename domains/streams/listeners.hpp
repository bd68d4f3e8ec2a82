// domains/streams/listeners.hpp - continuations that are waited for, so that what they refer to may go then.
// Private to domains/streams/.
#pragma once
#include <headrace/core/event.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace headrace {

/// Threads   any
class Listeners {
public:
    /// `hear(error)` is called when the event has settled, in whatever thread settles it.
    template <class Hear>
    void listen(const Event& event, Hear hear) {
        left_->fetch_add(1, std::memory_order_relaxed);
        // Its own reference: who waits may have gone before it is woken.
        event.then([left = left_, hear = std::move(hear)](const ErrorPtr& error) {
            hear(error);
            // release: who waits sees what it did.
            if (left->fetch_sub(1, std::memory_order_release) == 1) left->notify_all();
        });
    }
    /// Blocks until all have heard: who waits for an event may be woken before its continuations are called.
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
