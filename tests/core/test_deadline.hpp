// tests/core/test_deadline.hpp - ends what hangs, in words.
#pragma once
#include "core/hang_limit.hpp"
#include "core/thread_stacks.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace headrace::test {

/// Ends the process if a test hangs, and says where its threads stand: CTest's own limit would not.
class TestDeadline {
public:
    explicit TestDeadline(std::string what, std::chrono::seconds limit = hang_limit)
        : thread_([this, what = std::move(what), limit](const std::stop_token& stop) {
              std::unique_lock lock(mutex_);
              if (never_.wait_for(lock, stop, limit, [] { return false; }) || stop.stop_requested()) return;
              std::fprintf(stderr, "deadline: %s did not end within %lld s\n", what.c_str(),
                           static_cast<long long>(limit.count()));
              write_thread_stacks();
              std::abort();
          }) {}

private:
    std::mutex mutex_;
    std::condition_variable_any never_;
    std::jthread thread_; // last: it uses the rest
};

} // namespace headrace::test
