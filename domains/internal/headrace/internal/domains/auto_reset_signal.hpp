// internal/domains/auto_reset_signal.hpp - an auto-reset signal: wakes one thread that waits for any change.
// Internal to domains/.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace headrace {

/// Several notifications between two waits count as one. Threads: any may notify, one waits.
class AutoResetSignal {
public:
    void notify() {
        {
            const std::scoped_lock lock(mutex_);
            is_set_.store(true, std::memory_order_relaxed);
        }
        condition_.notify_one();
    }
    /// Blocks until a notification has come since the last return.
    void wait() {
        std::unique_lock lock(mutex_);
        condition_.wait(lock, [this] { return is_set_.exchange(false, std::memory_order_relaxed); });
    }
    /// The same, but at most for `limit`.
    void wait_for(std::chrono::microseconds limit) {
        std::unique_lock lock(mutex_);
        condition_.wait_for(lock, limit,
                            [this] { return is_set_.exchange(false, std::memory_order_relaxed); });
    }
    /// The same without sleep: the thread yields its core. For notifications that come sooner than a thread
    /// wakes up. Returns false if none came.
    bool is_set_within(std::chrono::microseconds limit) {
        // relaxed, both: the lock orders the changes before the notification.
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!is_set_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        const std::scoped_lock lock(mutex_);
        return is_set_.exchange(false, std::memory_order_relaxed);
    }

private:
    std::mutex mutex_;
    std::condition_variable condition_;
    std::atomic<bool> is_set_ =
        false; ///< set under the lock, so no notification between check and sleep is lost
};

} // namespace headrace
