// tests/fuzz/read_mci.cpp - any bytes as an MCML file: read, or refused with an Error.
#include "problem.hpp"
#include <fuzz/check_problem.hpp>
#include <headrace/core/error.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        for (const auto& problem :
             fluorescence::parse_mci({reinterpret_cast<const char*>(data), size}, "fuzz.mci"))
            headrace::fuzz::check_problem(problem);
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
