// devices/simt/watch.hpp - the host's functions at points of a stream, without the driver's callbacks.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/detail/sleepers.hpp>
#include <headrace/internal/devices/errands.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// Threads that sleep until a stream has come to native events, one after another in the stream's order.
///
/// Why not the driver's callbacks: it makes all of them in one thread, in an order of its own, keeps only
/// some hundreds back, and holds locks meanwhile. A thread per stream is what the driver cannot get wrong; it
/// costs next to nothing while it sleeps, and there is none until somebody asks.
///
/// Threads: any. The destructor waits for what was asked, and must not run in a function that was asked for.
class HEADRACE_EXPORT Watch {
public:
    /// `sleepers` stay as long as this.
    explicit Watch(Sleepers& sleepers) : sleepers_(sleepers) {}

    /// Calls `then` with the driver's answer once `event`, which stays until then, has completed or failed.
    /// `place` grows along the stream. `then` must be short and must not throw.
    void when(std::uint64_t place, EventHandle event, std::function<void(Status)> then);

private:
    struct Watcher {
        std::uint64_t last = 0;             ///< place of what it was given last
        std::uint64_t given = 0;            ///< how much
        std::atomic<std::uint64_t> done{0}; ///< how much of that has ended
        Errands thread;                     ///< last: it uses the rest
    };

    Sleepers& sleepers_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Watcher>> watchers_;
};

} // namespace headrace::HEADRACE_ON_SIMT
