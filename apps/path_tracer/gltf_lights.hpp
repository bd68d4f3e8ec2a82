// apps/path_tracer/gltf_lights.hpp - lights without extent, as the extension KHR_lights_punctual has them.
#pragma once
#include "gltf_file.hpp"
#include "scene_readers.hpp"

namespace path_tracer {

/// Appends the light of a node, if it has one that shines.
///
/// Errors  invalid_argument for a light that the file does not have, or with numbers that none can have
void add_light(const GltfFile& file, const Json& node, const Transform& world, Scene& scene);

} // namespace path_tracer
