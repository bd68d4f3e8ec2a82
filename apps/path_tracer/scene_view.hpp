// apps/path_tracer/scene_view.hpp - the scene as kernels see it, and what intersect.h asks of it.
// path_tracer.cl has it in OpenCL C.
#pragma once
#include "gpu_habits.hpp"
#include "layout.h"
#include <headrace/domains/view.hpp>

#define PATH_TRACER_ORIGIN(view) ((view).origin)

namespace path_tracer {

struct WideTree;

struct SceneView {
    headrace::View<const BvhNode> nodes;
    headrace::View<const Triangle> triangles;     ///< in the order of the leaves
    headrace::View<const TriangleDetail> details; ///< of each triangle
    headrace::View<const Material> materials;
    headrace::View<const Light> lights;
    headrace::View<const PunctualLight> punctual_lights;
    headrace::View<const CornerShading>
        corner_shading; ///< of each triangle, if the frame's shading is not flat
    headrace::View<const CornerColours> corner_colours;
    headrace::View<const CornerPlaces> corner_places; ///< of each triangle, if there are textures, and more
    headrace::View<const SurfaceTextures> surface_textures;
    headrace::View<const Texture> textures;
    headrace::View<const TextureLevel> texture_levels;
    headrace::View<const Texel> texels;
    headrace::View<const Finish> finishes; ///< of each material, if the frame's shading is full
    headrace::View<const AlbedoEntry> albedos;
    headrace::View<const EnvironmentCell> environment;
    headrace::View<const Instance> instances; ///< that leaves name
    const WideTree* host_tree = nullptr;      ///< for CPUs, in the host's memory; or null
};

/// For the few rays that walk again: the first walk has checked indices.
HEADRACE_HOST_DEVICE inline SceneView scene_of(const BvhNode* nodes, const Triangle* triangles,
                                               const TriangleDetail* details, const Instance* instances) {
    constexpr headrace::Extent all{{~uint64_t{0}, 1, 1}};
    SceneView scene{};
    scene.nodes = {nodes, all};
    scene.triangles = {triangles, all};
    scene.details = {details, all};
    scene.instances = {instances, all};
    return scene;
}

} // namespace path_tracer
