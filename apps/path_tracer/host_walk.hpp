// apps/path_tracer/host_walk.hpp - the walk of a CPU: through the wide tree, eight boxes at once.
#pragma once
#include "triangle_test.h"

#include <cstdint>

namespace path_tracer {

struct SceneView;
struct Waiting;

/// True if the instructions in use have this walk's vectors. Without them, it finds the same, and is slower
/// than the walk through the nodes of other devices.
[[nodiscard]] bool has_fast_walk();

/// As `walk` of intersect.h, through scene.host_tree: for scenes without instances and holes. `any_hit`: ends
/// at the first triangle met.
[[nodiscard]] Hit walk_wide_tree(bool any_hit, const SceneView& scene, const Sight& sight, float limit,
                                 Waiting& waiting);

} // namespace path_tracer
