// tests/apps/reference_gltf.hpp - reads glTF for the reference tracer, apart from the program's own reader:
// as much of it as the models of khronos_models.hpp have.
#pragma once
#include "apps/reference_scene.hpp"

#include <string>

namespace path_tracer::test {

/// Accessors of floats and of 16-bit indices in one buffer, PNG of 8 bits in data URIs. Throws
/// std::runtime_error or the JSON library's exceptions where there is something else.
[[nodiscard]] ReferenceScene read_reference_gltf(const std::string& text);

} // namespace path_tracer::test
