// tests/fuzz/read_mtl.cpp - any bytes as MTL: read, or refused with an Error.
#include "scene_readers.hpp"
#include <fuzz/check_scene.hpp>
#include <headrace/core/error.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        path_tracer::Scene scene;
        for (const auto& one : path_tracer::read_mtl("fuzz.mtl", bytes, 0.5f))
            if (one.fault.empty()) path_tracer::add_material(scene, "fuzz.mtl", one.name, one.surface);
        headrace::fuzz::check_scene(scene);
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
