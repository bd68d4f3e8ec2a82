// apps/path_tracer/gltf_instances.hpp - where a glTF file shows its meshes, and which of them are kept as
// instances.
#pragma once
#include "gltf_file.hpp"
#include "gltf_pose.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace path_tracer {

/// A mesh in one of its places, in the order of the file.
struct ShownMesh {
    std::size_t mesh;
    GltfPose pose;
};

/// Where the node shows its mesh: once, or as EXT_mesh_gpu_instancing says. What joints move is in one place.
/// Errors  invalid_argument for an extension that is wrong
[[nodiscard]] std::vector<Transform> gltf_places(GltfFile& file, const Json& node, const GltfPose& pose,
                                                 NotShown& not_shown);

/// Places of meshes that have several.
[[nodiscard]] std::size_t repetitions_in(std::span<const ShownMesh> shown);

/// A mesh is kept as instances if it would otherwise be so many more triangles, which take some megabytes:
/// rays meet the triangles of a scene sooner than those of instances.
constexpr std::uint64_t worth_an_instance = 1u << 14;

/// Of each, whether it is kept as an instance. It is not where the mesh has a shape of its own there, or is
/// made flat, or nearly so: the way back would be of no use.
/// Errors  invalid_argument where the others are more triangles than a scene can have
[[nodiscard]] std::vector<bool> kept_as_instances(const GltfFile& file, std::span<const ShownMesh> shown);

/// True if no coordinate of what is there is beyond `farthest`.
[[nodiscard]] bool lies_within(const Surroundings& mesh, const Transform& place, double farthest);

} // namespace path_tracer
