// apps/path_tracer/prepared_scene.hpp - a scene as kernels want it: in leaf order, with chances instead of
// colours.
#pragma once
#include "albedo_tables.hpp"
#include "layout.h"
#include "scene.hpp"
#include "wide_tree.hpp"

#include <cstddef>
#include <vector>

namespace path_tracer {

/// What goes to the devices. The vectors are never empty, as domains must not be; `light_count` may be 0.
struct PreparedScene {
    std::vector<BvhNode> nodes;                ///< of the scene, then of its meshes
    std::vector<Triangle> triangles;           ///< in the order of the leaves
    std::vector<TriangleDetail> details;       ///< of each triangle
    WideTree host_tree;                        ///< the same triangles, for CPUs; may be empty
    std::vector<CornerShading> corner_shading; ///< of each triangle if the shading is not flat, else one
    std::vector<CornerColours> corner_colours;
    std::vector<CornerPlaces> corner_places; ///< of each triangle if there are textures, then other sets
    std::vector<SurfaceTextures> surface_textures;
    std::vector<Texture> textures;
    std::vector<TextureLevel> texture_levels;
    std::vector<Texel> texels;
    std::vector<Finish> finishes; ///< of each material if the shading is full, else one
    std::vector<AlbedoEntry> albedos;
    std::vector<EnvironmentCell> environment; ///< one if there is none
    std::vector<Instance> instances;          ///< one if there is none
    std::vector<Material> materials;
    std::vector<Light> lights;
    std::vector<PunctualLight> punctual_lights;
    uint32_t light_count = 0;
    uint32_t environment_texture = 0, environment_columns = 0, environment_rows = 0; ///< see Frame
    float environment_scale = 0;
    Shading shading = SHADING_FLAT; ///< what it takes to show all that there is
    Holes holes = HOLES_NONE;       ///< of the triangles
    std::size_t hidden = 0;         ///< triangles that are not opaque, and are left out: see join_twins
    bool has_absorption = false;    ///< some glass takes a share of the light
    Placement placement;            ///< of the scene in the coordinates of all these
};

/// Whether a scene gets a tree for CPUs.
enum class HostTree : std::uint8_t { none, build };

/// `environment`: light from far away, or null
/// Errors  invalid_argument for more triangles than a BVH takes, or none with an area
[[nodiscard]] PreparedScene prepare_scene(const Scene& scene, Scattering scattering = Scattering::multiple,
                                          const TextureImage* environment = nullptr,
                                          HostTree host_tree = HostTree::build);

/// Gives a scene its tree for CPUs, unless it has instances or holes.
void add_host_tree(PreparedScene& scene);

/// Gives a frame what is the scene's: how it is shaded, and its lights.
void use_scene(Frame& frame, const PreparedScene& scene);

} // namespace path_tracer
