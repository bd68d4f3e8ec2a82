// devices/simt/detail/completion_waiter.hpp - lets threads wait for native events without keeping a core
// busy.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <atomic>

namespace headrace::HEADRACE_ON_SIMT {

/// A completion waiter for native events. A thread polls in a busy loop first, then sleeps between polls.
///
/// The driver could put a thread to sleep for an event (`EventBlockingSync`). But it takes only 56
/// uncompleted records of such events per stream. A call that records one more then blocks and holds the
/// driver's lock (driver 580). The driver also wakes threads late.
///
/// Threads: any. The device must be open. No thread may wait when this object is destroyed.
class HEADRACE_EXPORT CompletionWaiter {
public:
    explicit CompletionWaiter(int ordinal) : ordinal_(ordinal) {}
    CompletionWaiter(const CompletionWaiter&) = delete; // waiting threads hold its address
    CompletionWaiter& operator=(const CompletionWaiter&) = delete;

    /// Returns the driver's final answer. `soon`: a caller of this library is blocked until then.
    Status until(EventHandle event, bool soon = false);

private:
    const int ordinal_;
    std::atomic_flag one_is_first_; ///< set while one thread with `soon` waits: it polls more often
};

} // namespace headrace::HEADRACE_ON_SIMT
