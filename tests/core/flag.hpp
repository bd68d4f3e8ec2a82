// tests/core/flag.hpp - a flag that threads wait for: something has happened, or held work may go on.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace headrace::test {

/// Down at first. Threads: any.
class Flag {
public:
    void raise() {
        const std::scoped_lock lock(mutex_);
        is_raised_ = true;
        ++raised_;
        changed_.notify_all(); // with the mutex held: the thread that waits may destroy the flag
    }
    void lower() {
        const std::scoped_lock lock(mutex_);
        is_raised_ = false;
    }
    [[nodiscard]] bool is_raised() const {
        const std::scoped_lock lock(mutex_);
        return is_raised_;
    }
    /// Blocks until it is raised, even if it is lowered soon after. After 100 s the test fails and the thread
    /// goes on.
    void wait() const {
        std::unique_lock lock(mutex_);
        const auto is_free = [this, before = raised_] { return is_raised_ || raised_ != before; };
        if (!changed_.wait_for(lock, std::chrono::seconds(100), is_free))
            ADD_FAILURE() << "a flag was not raised within 100 s";
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool is_raised_ = false;
    std::uint64_t raised_ = 0; ///< how often
};

} // namespace headrace::test
