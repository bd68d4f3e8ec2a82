// tests/core/watch.hpp - ends the process, in words, when a test stands still: CTest's own limit would not
// say where.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace headrace::testing {

/// Told again and again what the test is at; if that stays the same for `limit`, the process aborts.
class Watch {
public:
    explicit Watch(std::chrono::seconds limit = std::chrono::seconds(50))
        : thread_([this, limit](const std::stop_token& stop) { look(stop, limit); }) {}

    void now_at(std::uint64_t seed) {
        seed_ = seed;
        ++steps_;
    }

private:
    void look(const std::stop_token& stop, std::chrono::seconds limit) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
            const std::uint64_t before = steps_;
            never_.wait_for(lock, stop, limit, [] { return false; });
            if (stop.stop_requested() || steps_ != before) continue;
            std::fprintf(stderr, "HEADRACE_TEST_SEED=%llu HEADRACE_TEST_PROGRAMS=1 stands still\n",
                         static_cast<unsigned long long>(seed_));
            std::abort();
        }
    }

    std::atomic<std::uint64_t> seed_ = 0, steps_ = 0;
    std::mutex mutex_;
    std::condition_variable_any never_;
    std::jthread thread_; // last: it uses the rest
};

} // namespace headrace::testing
