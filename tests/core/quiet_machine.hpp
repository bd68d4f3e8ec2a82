// tests/core/quiet_machine.hpp - for what is said of how long things take: on a machine that is busy with
// other things it need not hold.
#pragma once
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace headrace::test {

/// How late threads are woken, while this lives: one wants to be, every millisecond.
class Lateness {
public:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] Clock::duration most() const { return most_.load(std::memory_order_relaxed); }

private:
    std::atomic<Clock::duration> most_{}; // relaxed: a figure of its own
    std::jthread thread_{[this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const auto due = Clock::now() + std::chrono::milliseconds(1);
            std::this_thread::sleep_until(due);
            most_.store(std::max(most(), Clock::now() - due), std::memory_order_relaxed);
        }
    }};
};

/// Runs `body`, and again, with a word, if EXPECTs fail: they are what it says of times. They may fail twice,
/// and seven times while threads are woken late. What must hold on any machine it ASSERTs: that fails at
/// once. It does not skip.
inline void on_a_quiet_machine(const std::function<void()>& body) {
    constexpr int few_tries = 3, most_tries = 8;
    constexpr auto late = std::chrono::milliseconds(5);
    for (int tries = 1;; ++tries) {
        ::testing::TestPartResultArray results;
        const Lateness lateness;
        {
            const ::testing::ScopedFakeTestPartResultReporter reporter(
                ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
            body();
        }
        std::vector<::testing::TestPartResult> failures;
        for (int i = 0; i < results.size(); ++i)
            if (results.GetTestPartResult(i).failed()) failures.push_back(results.GetTestPartResult(i));
        if (failures.empty()) return;
        const bool any_fatal =
            std::ranges::any_of(failures, [](const auto& one) { return one.fatally_failed(); });
        const bool is_tried_again = !any_fatal && tries < (lateness.most() > late ? most_tries : few_tries);
        for (const auto& failure : failures)
            if (is_tried_again)
                std::fprintf(stderr, "tried again, since the machine may be busy: %s:%d: %s\n",
                             failure.file_name(), failure.line_number(), failure.message());
            else
                ADD_FAILURE_AT(failure.file_name(), failure.line_number()) << failure.message();
        if (!is_tried_again) return;
    }
}

} // namespace headrace::test
