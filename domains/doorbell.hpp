// domains/doorbell.hpp - wakes one thread that waits for anything to have changed. Private to domains/.
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
            rung_ = true;
        }
        signal_.notify_one();
    }
    /// Returns when it has been rung since the last return.
    void wait() {
        std::unique_lock lock(mutex_);
        signal_.wait(lock, [this] { return rung_.load(); });
        rung_ = false;
    }
    /// The same, but no later than after `limit`.
    void wait_for(std::chrono::microseconds limit) {
        std::unique_lock lock(mutex_);
        signal_.wait_for(lock, limit, [this] { return rung_.load(); });
        rung_ = false;
    }
    /// The same without going to sleep, for what comes sooner than a thread wakes up; others get the core.
    void stay_awake_for(std::chrono::microseconds limit) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!rung_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        wait_for(std::chrono::microseconds(0));
    }

private:
    std::mutex mutex_;
    std::condition_variable signal_;
    std::atomic<bool> rung_ = false; ///< set under the lock, or a ring between look and sleep would be lost
};

} // namespace headrace
