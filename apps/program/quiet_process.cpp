// apps/program/quiet_process.cpp - see quiet_process.hpp.
#include "program/quiet_process.hpp"
#include <headrace/core/error.hpp>

#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace program {
namespace {
bool quiet = false;
}

void become_quiet() {
    quiet = true;
    std::fflush(stdout);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0)
        throw headrace::Error{headrace::ErrorKind::io, "/dev/null cannot be opened"};
    ::close(nowhere);
}

bool is_quiet() noexcept { return quiet; }

} // namespace program
