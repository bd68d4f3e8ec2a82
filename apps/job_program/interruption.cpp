// apps/job_program/interruption.cpp - see interruption.hpp.
#include "interruption.hpp"
#include <headrace/core/error.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string_view>

#include <unistd.h>

namespace job_program {
namespace {

using namespace std::chrono_literals;

/// Of the second that a user is promised: the rest is for whoever has to notice the signal, and for leaving.
constexpr auto patience = 650ms;

/// A batch system may send one signal to mpirun, which passes it on, and to each rank.
constexpr std::chrono::nanoseconds one_signal = 1s;

// Any thread may run the handler, and two at once.
std::atomic<int> signal_seen = 0;
std::atomic<std::int64_t> first_at = 0;                                            // ns of the steady clock
std::atomic<bool> ends_by_itself = false, has_promised = false, has_timer = false; // has: ever since
static_assert(std::atomic<std::int64_t>::is_always_lock_free);                     // as a handler needs it
timer_t timer{};

std::int64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time); // may be called by a handler
    return time.tv_sec * std::chrono::nanoseconds(1s).count() + time.tv_nsec;
}

/// 0: never.
void leave_after(std::chrono::nanoseconds time) {
    if (!has_timer) return;
    itimerspec after{};
    after.it_value.tv_nsec = time.count();
    ::timer_settime(timer, 0, &after, nullptr); // may be called by a handler
}

void say(std::string_view words) {
    for (const std::string_view part : {std::string_view(program_invocation_short_name), words})
        static_cast<void>(!::write(STDERR_FILENO, part.data(), part.size())); // failed: so be it
}

void note(int signal) {
    first_at = now(); // first: another thread that sees the signal reads it
    signal_seen = signal;
}

void remember(int signal) {
    const int error = errno; // of what this interrupts
    if (signal_seen == 0) {
        note(signal);
        if (!ends_by_itself) leave_after(patience);
    } else if (!has_promised || now() >= first_at + one_signal.count()) {
        say(": interrupted twice, leaving at once\n");
        ::_exit(128 + signal);
    }
    errno = error;
}

/// Whatever the program waits for, such as somebody who reads a pipe.
void leave(int) {
    if (ends_by_itself) return; // the promise came while a signal was remembered
    say(": interrupted; leaving without what did not answer in time\n");
    ::_exit(128 + signal_seen);
}

} // namespace

void watch_for_interruption() {
    struct sigaction action {};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART; // drivers are not written for interrupted calls
    sigemptyset(&action.sa_mask);
    struct sigaction ending {};
    ending.sa_handler = leave;
    sigemptyset(&ending.sa_mask);
    sigaction(SIGALRM, &ending, nullptr);
    static std::once_flag once;
    std::call_once(once, [] {
        if (::timer_create(CLOCK_MONOTONIC, nullptr, &timer) != 0) // which sends SIGALRM
            throw headrace::Error{headrace::ErrorKind::io, "no timer for interruptions can be had"};
        has_timer = true;
    });
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

EndsByItself::EndsByItself() {
    ends_by_itself = has_promised = true;
    leave_after(0ns); // a signal that came before has the same promise
}
EndsByItself::~EndsByItself() { ends_by_itself = false; }

void note_interruption(int signal) noexcept { note(signal); }
void forget_interruption() noexcept { signal_seen = 0; }

int interruption() noexcept { return signal_seen; }

void leave_in_time() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::fflush(stdout); // or what was printed so far would be lost
    });
}

} // namespace job_program
