// tests/fuzz/read_mtl.cpp - any bytes as MTL: read, or refused with an Error.
#include "scene_readers.hpp"
#include <headrace/core/error.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        static_cast<void>(path_tracer::read_mtl("fuzz.mtl", bytes, 0.5f));
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
