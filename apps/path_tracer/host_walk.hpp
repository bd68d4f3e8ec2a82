// apps/path_tracer/host_walk.hpp - the walk of a CPU: through the wide tree, eight boxes at once.
#pragma once
#include "triangle_test.h"

#include <cstdint>

namespace path_tracer {

struct SceneView;
struct Waiting;

/// Instructions that a walk uses. All find the same. With those that each processor has, it is slower than
/// the walk through the nodes of other devices.
enum class Instructions : std::uint8_t { baseline, avx2 };

/// The best that this processor has.
[[nodiscard]] Instructions best_instructions();
/// Sets the instructions that walks use. The default is best_instructions(); tests set others.
void use_instructions(Instructions instructions);

/// As `walk` of intersect.h, through scene.host_tree: for scenes without instances and holes. `any_hit`: ends
/// at the first triangle met.
[[nodiscard]] Hit walk_wide_tree(bool any_hit, const SceneView& scene, const Sight& sight, float limit,
                                 Waiting& waiting);

} // namespace path_tracer
