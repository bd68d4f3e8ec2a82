// tests/fuzz/read_bodies_npy.cpp - any bytes as a .npy file of bodies: read, or refused with an Error.
#include "read_bodies.hpp"
#include <fuzz/check_bodies.hpp>
#include <headrace/core/error.hpp>

#include <cstdint>
#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
        headrace::fuzz::check_bodies(barnes_hut::parse_npy(stream, "fuzz.npy"));
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
