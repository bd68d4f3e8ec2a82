// apps/path_tracer/prepared_scene.hpp - a scene as kernels want it: in leaf order, with chances instead of
// colours.
#pragma once
#include "layout.h"
#include "scene.hpp"

#include <vector>

namespace path_tracer {

/// What goes to the devices. The vectors are never empty, as domains must not be; `light_count` may be 0.
struct PreparedScene {
    std::vector<BvhNode> nodes;
    std::vector<Triangle> triangles; ///< in the order of the leaves
    std::vector<Material> materials;
    std::vector<Light> lights;
    uint32_t light_count = 0;
    /// Eight times what rounding may move a hit point: rays do not meet where they start.
    float ray_offset = 0;
};

/// Errors  invalid_argument for more triangles than a BVH takes
[[nodiscard]] PreparedScene prepare_scene(const Scene& scene);

} // namespace path_tracer
