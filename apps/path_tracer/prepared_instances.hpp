// apps/path_tracer/prepared_instances.hpp - meshes in several places, as kernels want them.
#pragma once
#include "box_test.h"
#include "build_reference.hpp"
#include "prepared_scene.hpp"

#include <vector>

namespace path_tracer {

/// A mesh of a scene in coordinates of its own.
struct PreparedMesh {
    Placement placement; ///< in them
    Box box;             ///< of its corners, in them
    uint32_t root;       ///< of its nodes
    bool has_area;       ///< false: it has no triangle that can be met
};

struct PlacedInstances {
    std::vector<Instance> instances;
    std::vector<Box> boxes; ///< around each, in the scene
    float corner_error = 0; ///< the largest

    /// By which boxes in the scene are wider on each side: floats move placed corners, and the origins of
    /// rays that begin on them.
    [[nodiscard]] float box_margin() const { return 2 * PATH_TRACER_BOX_MARGIN + 2 * corner_error; }
};

/// Instances without an area are left out, and of those that show one mesh at one place all but the first.
[[nodiscard]] PlacedInstances place_instances(const Scene& scene, const std::vector<PreparedMesh>& meshes,
                                              const Placement& placement);

} // namespace path_tracer
