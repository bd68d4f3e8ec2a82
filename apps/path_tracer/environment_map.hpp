// apps/path_tracer/environment_map.hpp - a picture of the light from far away, from its file to the arrays of
// kernels.
#pragma once
#include "prepared_scene.hpp"
#include "scene_files.hpp"
#include "texture_image.hpp"

#include <filesystem>

namespace path_tracer {

/// Reads Radiance HDR (.hdr) or OpenEXR, longitudes by latitudes. Notes: what of it had to be changed.
///
/// Errors  not_found, io, invalid_argument: another format, broken, too large, or black all over
[[nodiscard]] TextureImage load_environment(const std::filesystem::path& file, const FileRules& rules);

/// Puts it into a scene, whose shading has to be full, as where rays go that leave it.
void add_environment(const TextureImage& image, PreparedScene& scene);

} // namespace path_tracer
