// internal/domains/doorbell.hpp - an auto-reset signal: wakes one thread that waits for any change. Internal
// to domains/.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace headrace {

/// Several rings between two waits count as one. Threads: any may ring, one waits.
class Doorbell {
public:
    void ring() {
        {
            const std::scoped_lock lock(mutex_);
            rung_.store(true, std::memory_order_relaxed);
        }
        signal_.notify_one();
    }
    /// Blocks until it has been rung since the last return.
    void wait() {
        std::unique_lock lock(mutex_);
        signal_.wait(lock, [this] { return rung_.exchange(false, std::memory_order_relaxed); });
    }
    /// The same, but at most for `limit`.
    void wait_for(std::chrono::microseconds limit) {
        std::unique_lock lock(mutex_);
        signal_.wait_for(lock, limit, [this] { return rung_.exchange(false, std::memory_order_relaxed); });
    }
    /// The same without sleep: the thread yields its core. For rings that come sooner than a thread wakes up.
    /// Returns false if it was not rung.
    bool rings_within(std::chrono::microseconds limit) {
        // relaxed, both: the lock orders the changes before the ring.
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!rung_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        const std::scoped_lock lock(mutex_);
        return rung_.exchange(false, std::memory_order_relaxed);
    }

private:
    std::mutex mutex_;
    std::condition_variable signal_;
    std::atomic<bool> rung_ = false; ///< set under the lock, so no ring between check and sleep is lost
};

} // namespace headrace
