// domains/execution/doorbell.hpp - wakes one thread that waits for anything to have changed. Private to
// domains/.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace headrace {

/// Rings between two waits count once. Threads: any may ring, one waits.
class Doorbell {
public:
    void ring() {
        {
            const std::scoped_lock lock(mutex_);
            rung_.store(true, std::memory_order_relaxed);
        }
        signal_.notify_one();
    }
    /// Returns when it has been rung since the last return.
    void wait() {
        std::unique_lock lock(mutex_);
        signal_.wait(lock, [this] { return rung_.exchange(false, std::memory_order_relaxed); });
    }
    /// The same, but no later than after `limit`.
    void wait_for(std::chrono::microseconds limit) {
        std::unique_lock lock(mutex_);
        signal_.wait_for(lock, limit, [this] { return rung_.exchange(false, std::memory_order_relaxed); });
    }
    /// The same without going to sleep, for what comes sooner than a thread wakes up; others get the core.
    /// False: it was not rung.
    bool rings_within(std::chrono::microseconds limit) {
        // relaxed, both: the lock orders what it was rung for.
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!rung_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        const std::scoped_lock lock(mutex_);
        return rung_.exchange(false, std::memory_order_relaxed);
    }

private:
    std::mutex mutex_;
    std::condition_variable signal_;
    std::atomic<bool> rung_ = false; ///< set under the lock, or a ring between look and sleep would be lost
};

} // namespace headrace
