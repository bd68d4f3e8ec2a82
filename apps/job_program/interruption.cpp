// apps/job_program/interruption.cpp - see interruption.hpp.
#include "interruption.hpp"
#include <headrace/core/error.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
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

volatile std::sig_atomic_t signal_seen = 0, ends_by_itself = 0;
timer_t timer{};

void say(std::string_view words) {
    for (const std::string_view part : {std::string_view(program_invocation_short_name), words})
        static_cast<void>(!::write(STDERR_FILENO, part.data(), part.size())); // failed: so be it
}

void remember(int signal) {
    if (signal_seen != 0) {
        say(": interrupted twice, leaving at once\n");
        ::_exit(128 + signal);
    }
    signal_seen = signal;
    if (ends_by_itself != 0) return;
    itimerspec after{};
    after.it_value.tv_nsec = std::chrono::nanoseconds(patience).count();
    ::timer_settime(timer, 0, &after, nullptr); // may be called here
}

/// Whatever the program waits for, such as somebody who reads a pipe.
void leave(int) {
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
    });
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

EndsByItself::EndsByItself() { ends_by_itself = 1; }
EndsByItself::~EndsByItself() { ends_by_itself = 0; }

void note_interruption(int signal) noexcept { signal_seen = signal; }
void forget_interruption() noexcept { signal_seen = 0; }

int interruption() noexcept { return signal_seen; }

void leave_in_time() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::fflush(stdout); // or what was printed so far would be lost
    });
}

} // namespace job_program
