// tests/fuzz/read_gltf.cpp - any bytes as glTF: read, or refused with an Error.
#include "scene_readers.hpp"
#include <fuzz/check_scene.hpp>
#include <headrace/core/error.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        const path_tracer::SceneFiles files("no folder/fuzz.gltf", {}); // what it names is not there
        headrace::fuzz::check_scene(path_tracer::read_gltf(files, bytes, 0.5f));
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
