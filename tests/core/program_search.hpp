// tests/core/program_search.hpp - looks for a program that goes wrong, and cuts it down.
//
// HEADRACE_SEED=n HEADRACE_TEST_PROGRAMS=1 runs the one that a failure names; HEADRACE_TEST_PROGRAMS
// alone asks for more or fewer than usual.
#pragma once
#include <core/program_runner.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace headrace::test {

struct Search {
    std::uint64_t programs; ///< usually
    Mix mix = {};
    /// Of a kind that the seed decides. So many programs with neighbouring seeds share one, and with it
    /// whatever the others have left there.
    std::function<std::unique_ptr<ProgramMachine>(std::uint64_t seed)> machine;
    std::uint64_t programs_per_machine = 16;
    /// At once on one machine, each from a thread of its own and with data of its own.
    unsigned threads = 1;
};

/// Prints the seed of the first program. Returns what went wrong, with the program and the smallest one found
/// that goes wrong too; empty: nothing did.
[[nodiscard]] std::string find_a_failure(const Search& search);

} // namespace headrace::test
