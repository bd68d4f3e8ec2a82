// tests/fuzz/read_snapshot.cpp - any bytes as a snapshot: read, or refused with an Error.
#include "snapshot.hpp"
#include <headrace/core/error.hpp>

#include <cstdint>
#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
        static_cast<void>(barnes_hut::parse_snapshot(stream, "fuzz.snapshot"));
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
