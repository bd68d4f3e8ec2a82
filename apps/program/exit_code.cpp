// apps/program/exit_code.cpp - see exit_code.hpp.
#include "program/exit_code.hpp"
#include "program/command_line.hpp"
#include "program/printable.hpp"
#include "program/quiet_process.hpp"
#include <headrace/core/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

namespace program {

int complain(const std::string& program, const std::string& what, int exit_code) {
    tell_failure([&] { std::fprintf(stderr, "%s: %s\n", program.c_str(), printable(what).c_str()); });
    return exit_code;
}

/// What was printed is on its way, or this says why not: a full disk shows when the buffer is written.
void flush_standard_output() {
    std::cout.flush();
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return;
    throw headrace::Error{headrace::ErrorKind::io,
                          std::string("standard output: writing failed: ") +
                              (errno != 0 ? std::strerror(errno) : "is the disk full?")};
}

int exit_code_of(const std::string& program, const std::function<void()>& work) {
    try {
        try {
            work();
        } catch (const Answered&) { // the answer may not have arrived
        }
        flush_standard_output();
        return 0;
    } catch (const headrace::Error& error) {
        return complain(program, error.what(), error.is_users_mistake() ? 2 : 1);
    } catch (const std::bad_alloc&) {
        return complain(program, "the host ran out of memory; ask for less", 1);
    } catch (const std::exception& error) {
        return complain(program, error.what(), 1);
    }
}

} // namespace program
