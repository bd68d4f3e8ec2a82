// devices/simt/completion_poller.hpp - runs host functions at points of a stream, without the driver's
// callbacks.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/detail/completion_waiter.hpp>
#include <headrace/internal/devices/serial_executor.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// A completion poller: threads that sleep until a stream reaches native events, in the stream's order.
///
/// Driver callbacks are not used: the driver runs all of them in one thread, in its own order. It queues only
/// some hundreds and holds locks meanwhile. A thread per stream avoids this. The thread costs almost nothing
/// while it sleeps, and the first call of `when` starts it.
///
/// Threads: any. The destructor waits for all requested functions, and must not run in one of them.
class HEADRACE_EXPORT CompletionPoller {
public:
    /// `waiter` must outlive this.
    explicit CompletionPoller(CompletionWaiter& waiter) : waiter_(waiter) {}

    /// Calls `then` with the driver's answer once `event` has completed or failed; `event` must exist until
    /// then. `place` grows along the stream. `then` must be short and must not throw.
    void when(std::uint64_t place, EventHandle event, std::function<void(Status)> then);

private:
    struct Thread {
        std::uint64_t last = 0;             ///< place of the last function it was given
        std::uint64_t given = 0;            ///< number of functions it was given
        std::atomic<std::uint64_t> done{0}; ///< number of those that have ended
        SerialExecutor executor;            ///< last: it uses the other members
    };

    CompletionWaiter& waiter_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Thread>> threads_;
};

} // namespace headrace::HEADRACE_ON_SIMT
