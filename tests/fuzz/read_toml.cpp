// tests/fuzz/read_toml.cpp - any bytes as a TOML file of headrace-fluorescence: read, or refused with an
// Error.
#include "problem.hpp"
#include <fuzz/check_problem.hpp>
#include <headrace/core/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        headrace::fuzz::check_problem(
            fluorescence::parse_toml({reinterpret_cast<const char*>(data), size}, "fuzz.toml"));
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
