// apps/examples/example.hpp - what the examples share: their command line, and how they end.
#pragma once
#include <headrace/headrace.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace example {

/// Reads `[SIZE] [--devices LIST]` and calls `body(size, runtime)`, which returns whether its result is
/// right.
///
/// Returns the exit code: 0 for a right result, 1 for a wrong one, 2 for an error, which it prints.
int run(int argc, char** argv, std::uint64_t size, auto body) try {
    headrace::RuntimeOptions options; // of no devices: all that it finds
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--devices" && i + 1 < argc)
            options.devices = argv[++i];
        else if (word.find_first_not_of("0123456789") == word.npos && word.size() - 1 < 9)
            size = std::stoull(argv[i]);
        else
            throw std::invalid_argument("usage: [SIZE] [--devices LIST]");
    }
    if (size == 0) throw std::invalid_argument("SIZE is at least 1");
    const headrace::cluster::Session session; // several processes, if MPI has started them
    if (!session.is_first() && std::freopen("/dev/null", "w", stdout) == nullptr)
        throw std::runtime_error("/dev/null cannot be opened");
    headrace::Runtime runtime(options);
    const bool is_right = body(size, runtime);
    if (!is_right) std::fprintf(stderr, "%s: the serial version has another result\n", argv[0]);
    if (std::fflush(stdout) != 0) throw std::runtime_error("standard output: writing failed");
    return is_right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
}

} // namespace example
