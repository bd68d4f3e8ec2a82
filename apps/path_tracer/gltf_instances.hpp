// apps/path_tracer/gltf_instances.hpp - where a glTF file shows its meshes, and which of them are kept as
// instances.
#pragma once
#include "gltf_file.hpp"
#include "gltf_pose.hpp"

#include <cstdint>
#include <vector>

namespace path_tracer {

/// Where the node shows its mesh: once, or as EXT_mesh_gpu_instancing says. `world`: of the node
/// Errors  invalid_argument for an extension that is wrong
[[nodiscard]] std::vector<Transform> gltf_places(GltfFile& file, const Json& node, const Transform& world,
                                                 NotShown& not_shown);

/// A mesh is kept as instances if it would otherwise be so many more triangles, which take some megabytes:
/// rays meet the triangles of a scene sooner than those of instances.
constexpr std::uint64_t worth_an_instance = 1u << 14;

/// False where the mesh has a shape of its own, and for a map that makes it flat, or nearly so: its inverse
/// would be of no use.
[[nodiscard]] bool is_good_for_instances(const GltfPose& pose);

/// True if no coordinate of what is there is beyond `farthest`.
[[nodiscard]] bool lies_within(const Surroundings& mesh, const Transform& place, double farthest);

} // namespace path_tracer
