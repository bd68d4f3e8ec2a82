// apps/path_tracer/interruption.cpp - see interruption.hpp.
#include "interruption.hpp"

#include <csignal>
#include <string_view>

#include <unistd.h>

namespace path_tracer {
namespace {

volatile std::sig_atomic_t signal_seen = 0;

void remember(int signal) {
    if (signal_seen != 0) {
        constexpr std::string_view words = "headrace-path-tracer: interrupted twice, leaving at once\n";
        static_cast<void>(
            !::write(STDERR_FILENO, words.data(), words.size())); // nothing to do about a failure
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

} // namespace path_tracer
