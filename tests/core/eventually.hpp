// tests/core/eventually.hpp - waits for what the product tells no thread about.
#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace headrace::test {

/// Asks again and again, at first every 20 us and later every 2 ms, until `holds()`; false if it does not
/// within `limit`. Where an event, a `Flag` or an atomic says the same, wait for that.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& holds,
                              std::chrono::steady_clock::duration limit = std::chrono::seconds(100)) {
    using Clock = std::chrono::steady_clock;
    constexpr Clock::duration shortest = std::chrono::microseconds(20),
                              longest = std::chrono::milliseconds(2);
    for (const auto begin = Clock::now();;) {
        const auto passed = Clock::now() - begin; // before it is asked: a busy machine may stop us in between
        if (holds()) return true;
        if (passed > limit) return false;
        std::this_thread::sleep_for(std::clamp(passed / 16, shortest, longest));
    }
}

} // namespace headrace::test
