// tests/core/watch.hpp - ends the process when a test stands still, and says what it was at and where its
// threads are: CTest's own limit would not.
#pragma once
#include "core/thread_stacks.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace headrace::test {

/// Told again and again what the test is at; if that stays the same for `limit`, the process aborts.
/// `once`: what to set beside HEADRACE_SEED to have just that again.
class Watch {
public:
    explicit Watch(const char* once, std::chrono::seconds limit = std::chrono::seconds(50))
        : thread_([this, once, limit](const std::stop_token& stop) { look(stop, once, limit); }) {}

    void now_at(std::uint64_t seed) {
        seed_ = seed;
        ++steps_;
    }

private:
    void look(const std::stop_token& stop, const char* once, std::chrono::seconds limit) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
            const std::uint64_t before = steps_;
            never_.wait_for(lock, stop, limit, [] { return false; });
            if (stop.stop_requested() || steps_ != before) continue;
            std::fprintf(stderr, "HEADRACE_SEED=%llu %s stands still\n",
                         static_cast<unsigned long long>(seed_), once);
            write_thread_stacks();
            std::abort();
        }
    }

    std::atomic<std::uint64_t> seed_ = 0, steps_ = 0;
    std::mutex mutex_;
    std::condition_variable_any never_;
    std::jthread thread_; // last: it uses the rest
};

} // namespace headrace::test
