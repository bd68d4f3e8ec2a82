// apps/program/quiet_process.cpp - see quiet_process.hpp.
#include "program/quiet_process.hpp"
#include <headrace/core/error.hpp>

#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace program {
namespace {
bool quiet = false;

FailureTeller& teller_of_process() {
    static FailureTeller teller;
    return teller;
}
} // namespace

void become_quiet() {
    quiet = true;
    std::fflush(stdout);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0)
        throw headrace::Error{headrace::ErrorKind::io, "/dev/null cannot be opened"};
    ::close(nowhere);
}

bool is_quiet() noexcept { return quiet; }

// Standard output of a quiet process leads nowhere.
std::FILE* table_output(bool stdout_is_taken) noexcept { return stdout_is_taken && !quiet ? stderr : stdout; }

void tell_failures_by(FailureTeller teller) { teller_of_process() = std::move(teller); }

void tell_failure(const std::function<void()>& print) {
    if (const FailureTeller& teller = teller_of_process())
        teller(print);
    else
        print();
}

} // namespace program
