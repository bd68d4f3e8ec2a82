// apps/path_tracer/report.hpp - what was rendered, for people and for programs.
#pragma once
#include "passes.hpp"
#include "prepared_scene.hpp"
#include "scene.hpp"

#include <string>

namespace path_tracer {

/// What a report says of the scene.
struct SceneFigures {
    std::size_t triangles = 0; ///< those of instances once
    std::size_t instances = 0; ///< places of what is shown more than once
    std::size_t lights = 0; ///< triangles that shine, points, spots and directional ones, and the environment
    std::size_t textures = 0;
    double loading = 0, building = 0; ///< seconds: reading files; making what kernels need
};
[[nodiscard]] SceneFigures figures_of(const Scene& scene, const PreparedScene& prepared);

/// An object of docs/report.schema.json.
[[nodiscard]] std::string json_of(const Options& options, const SceneFigures& scene,
                                  const Rendered& rendered);
[[nodiscard]] std::string table_of(const Options& options, const SceneFigures& scene,
                                   const Rendered& rendered);

} // namespace path_tracer
