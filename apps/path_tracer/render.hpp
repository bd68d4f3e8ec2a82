// apps/path_tracer/render.hpp - the job: a prepared scene on its way to a film.
#pragma once
#include "options.hpp"
#include "prepared_scene.hpp"
#include <headrace/headrace.hpp>

namespace path_tracer {

/// What kernels need to know besides the scene, from what the user and the scene say.
[[nodiscard]] Frame make_frame(const Options& options, const PreparedScene& scene, const CameraPose& view);

/// The scene's arrays as domains. Borrows them from the PreparedScene for as long as it lives.
struct SceneDomains {
    explicit SceneDomains(PreparedScene& scene);
    headrace::Domain<BvhNode> nodes;
    headrace::Domain<Triangle> triangles;
    headrace::Domain<TriangleDetail> details;
    headrace::Domain<Material> materials;
    headrace::Domain<Light> lights;
    headrace::Domain<PunctualLight> punctual_lights;
    headrace::Domain<CornerShading> corner_shading;
    headrace::Domain<CornerColours> corner_colours;
    headrace::Domain<CornerPlaces> corner_places;
    headrace::Domain<SurfaceTextures> surface_textures;
    headrace::Domain<Texture> textures;
    headrace::Domain<TextureLevel> texture_levels;
    headrace::Domain<Texel> texels;
    headrace::Domain<Finish> finishes;
    headrace::Domain<AlbedoEntry> albedos;
    headrace::Domain<EnvironmentCell> environment;
    headrace::Domain<Instance> instances;
    /// For CPUs, which read it where it is, in the PreparedScene: one copy for all of them. Null: they walk
    /// through `nodes`, as other devices do.
    const WideTree* host_tree;
};

/// Adds samples of each pixel to `film`, in C++ for CPU, CUDA and HIP, or in OpenCL C.
[[nodiscard]] headrace::Job render_job(KernelChoice kernel, const Frame& frame, uint32_t samples,
                                       const SceneDomains& scene, const headrace::Domain<Rgb>& film);
/// The same of the pixels that `chosen` begins with, as many as the frame says.
[[nodiscard]] headrace::Job render_job(KernelChoice kernel, const Frame& frame, uint32_t samples,
                                       const SceneDomains& scene, const headrace::Domain<uint32_t>& chosen,
                                       const headrace::Domain<Rgb>& film);

/// Adds what so many paths of each pixel meet first.
[[nodiscard]] headrace::Job first_hits_job(const Frame& frame, uint32_t samples, const SceneDomains& scene,
                                           const headrace::Domain<FirstHit>& hits);

} // namespace path_tracer
