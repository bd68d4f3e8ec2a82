// apps/path_tracer/scene_checks.hpp - what must hold before the importer sees a file.
// Assimp takes much on trust: it may read past a buffer, loop over a count that no file could hold, or
// quietly show half of a truncated mesh. So the structure is walked here first, and what is wrong is said
// with its place.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace path_tracer {

/// Throws invalid_argument: `file`, where in it, what is wrong, what to do.
[[noreturn]] void refuse_scene(const std::filesystem::path& file, const std::string& what);

/// Vertices are finite, and faces name vertices that exist.
void check_obj(const std::filesystem::path& file, std::string_view text);

/// The header is one, the body is as long as it says, vertices are finite, and faces name vertices that
/// exist.
void check_ply(const std::filesystem::path& file, std::string_view bytes);

/// What the importer gets of a glTF file.
struct CheckedGltf {
    /// .gltf or .glb, with nothing in it but triangles and materials. The names of materials and nodes are
    /// their numbers.
    std::string bytes;
    std::vector<std::string> material_names; ///< as in the file
    std::vector<float> emissive_strength;    ///< per material; the importer does not know this extension
    std::vector<float> vertical_fov;         ///< per node [radians]; 0: it has no perspective camera
    bool has_other_cameras = false;
};

/// Every index, offset and count of a .gltf or .glb leads to something that exists, and the nodes are trees.
[[nodiscard]] CheckedGltf check_gltf(const std::filesystem::path& file, std::string_view bytes);

} // namespace path_tracer
