// domains/doorbell.hpp - wakes one thread that waits for anything to have changed. Private to domains/.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

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
        signal_.wait(lock, [this] { return rung_; });
        rung_ = false;
    }
    /// The same, but no later than after `limit`.
    void wait_for(std::chrono::microseconds limit) {
        std::unique_lock lock(mutex_);
        signal_.wait_for(lock, limit, [this] { return rung_; });
        rung_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable signal_;
    bool rung_ = false;
};

} // namespace headrace
