// tests/core/takes.hpp - work that takes a known time.
#pragma once
#include <chrono>
#include <thread>

namespace headrace::test {

/// Stands for work of that duration, on a simulated device or in a host task. Only for tests whose subject is
/// time: rates, budgets, patience. Where order is the subject, a `Flag` makes it certain.
inline void takes(std::chrono::nanoseconds time) {
    if (time > std::chrono::nanoseconds::zero()) std::this_thread::sleep_for(time);
}

} // namespace headrace::test
