// devices/simt/completion_waiter.cpp - see completion_waiter.hpp.
#include <headrace/devices/simt/detail/completion_waiter.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace headrace::HEADRACE_ON_SIMT {

using namespace std::chrono_literals;

namespace {

/// A thread takes some tens of microseconds to wake up. For work of a few times that length it stays awake
/// (`awake`). It polls without pauses at first (`attentive`), then every `glance`.
constexpr std::chrono::microseconds awake = 250us, attentive = 20us, glance = 4us;
/// One thread per device that blocks a caller polls more often and stays awake for longer (`drowsy`). After
/// `awake` it yields its core between polls. A thread that has slept finds its caches cold, and a virtual
/// machine schedules it late: each frame of a synchronous program took 0.1 to 0.6 ms more. For work longer
/// than `drowsy`, that is about one hundredth.
constexpr std::chrono::microseconds first_glance = 1us, drowsy = 20ms, drowsy_glance = 20us;
/// A sleeping thread polls again after 1/`late_by` of the time that it has waited, so it is late by no more
/// than that. `shortest_sleep` is the minimum. `longest_sleep` is the maximum: a thread that waits for hours
/// causes hardly any load with it.
constexpr int late_by = 64;
constexpr std::chrono::nanoseconds shortest_sleep = 50us, longest_sleep = 2ms;

Status query(EventHandle event) {
    const Status status = HEADRACE_RUNTIME(EventQuery)(event);
    if (status != success) static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
    return status;
}

void pause_for(std::chrono::nanoseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

} // namespace

Status CompletionWaiter::until(EventHandle event, bool soon) {
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(ordinal_));
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [begin] { return std::chrono::steady_clock::now() - begin; };
    Status status = query(event);
    if (status != not_ready) return status;
    const bool first = soon && !one_is_first_.test_and_set(std::memory_order_relaxed); // relaxed: a hint
    while (status == not_ready && passed() < awake) {
        if (passed() > attentive) pause_for(first ? first_glance : glance); // queries take the driver's lock
        status = query(event);
    }
    if (first) {
        while (status == not_ready && passed() < drowsy) {
            const auto end = std::chrono::steady_clock::now() + drowsy_glance;
            while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
            status = query(event);
        }
        one_is_first_.clear(std::memory_order_relaxed);
    }
    while (status == not_ready) {
        std::this_thread::sleep_for(
            std::clamp<std::chrono::nanoseconds>(passed() / late_by, shortest_sleep, longest_sleep));
        status = query(event);
    }
    return status;
}

} // namespace headrace::HEADRACE_ON_SIMT
