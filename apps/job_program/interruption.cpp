// apps/job_program/interruption.cpp - see interruption.hpp.
#include "interruption.hpp"

#include <cerrno>
#include <csignal>
#include <string_view>

#include <unistd.h>

namespace job_program {
namespace {

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

} // namespace job_program
