// apps/path_tracer/identity.hpp - what an image depends on.
#pragma once
#include "options.hpp"
#include "scene.hpp"

#include <string>

namespace path_tracer {

/// Lines "name: value": the program, its kernels, the scene and all options that change the image, for a
/// checkpoint.
[[nodiscard]] std::string identity_of(const Options& options, const Scene& scene,
                                      const TextureImage* environment, const Frame& frame);

} // namespace path_tracer
