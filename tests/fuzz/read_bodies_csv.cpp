// tests/fuzz/read_bodies_csv.cpp - any bytes as a .csv file of bodies: read, or refused with an Error.
#include "read_bodies.hpp"
#include <fuzz/check_bodies.hpp>
#include <headrace/core/error.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        headrace::fuzz::check_bodies(
            barnes_hut::parse_csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv"));
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
