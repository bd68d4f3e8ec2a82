// apps/job_program/interruption.cpp - see interruption.hpp.
#include "interruption.hpp"
#include "program/exit_code.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <thread>

#include <unistd.h>

namespace job_program {
namespace {

using namespace std::chrono_literals;

volatile std::sig_atomic_t signal_seen = 0;

void remember(int signal) {
    if (signal_seen != 0) {
        const auto say = [](std::string_view words) {
            static_cast<void>(!::write(STDERR_FILENO, words.data(), words.size())); // failed: so be it
        };
        say(program_invocation_short_name);
        say(": interrupted twice, leaving at once\n");
        ::_exit(128 + signal);
    }
    signal_seen = signal;
}

/// Of the second that a user is promised: the rest is for whoever has to notice the signal, and for leaving.
constexpr auto patience = 650ms;

[[noreturn]] void leave_after_patience() {
    std::this_thread::sleep_for(patience);
    ::_exit(program::complain(program_invocation_short_name,
                              "interrupted; leaving without what did not answer in time", 128 + signal_seen));
}

} // namespace

void watch_for_interruption() {
    struct sigaction action {};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART; // drivers are not written for interrupted calls
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

int interruption() noexcept { return signal_seen; }

void leave_in_time() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::thread(leave_after_patience).detach();
        std::fflush(stdout); // or what was printed so far would be lost
    });
}

} // namespace job_program
