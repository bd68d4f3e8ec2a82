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

/// By which boxes of instances are wider: what floats move placed corners comes on top of
/// PATH_TRACER_BOX_MARGIN.
constexpr float instance_box_margin = 2 * PATH_TRACER_BOX_MARGIN;

/// Gives a prepared scene its instances, and returns the box around each, in the scene. Instances without an
/// area are left out.
[[nodiscard]] std::vector<Box> place_instances(const Scene& scene, const std::vector<PreparedMesh>& meshes,
                                               PreparedScene& prepared);

} // namespace path_tracer
