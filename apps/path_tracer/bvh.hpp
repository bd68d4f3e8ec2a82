// apps/path_tracer/bvh.hpp - the bounding volume hierarchy over a scene's triangles.
#pragma once
#include "layout.h"

#include <span>
#include <vector>

namespace path_tracer {

/// Nodes in depth-first order, the root first; and which triangle comes where in the leaves.
struct Bvh {
    std::vector<BvhNode> nodes;
    std::vector<uint32_t>
        order;          ///< leaf position -> index of the triangle as given; some come more than once
    unsigned depth = 0; ///< nodes on the longest way down; at most PATH_TRACER_STACK
};

/// Builds by the surface area heuristic over 32 bins of each axis, between triangles and, where both sides
/// would share much, through them: a triangle then lies in a leaf on each side, as long as there are no more
/// than 1.5 references for each triangle. The result is the same on any number of threads.
///
/// Boxes     are wider than what they hold by `margin` on each side: a ray that rounding leads to a
///           triangle's edge must find the way there open
/// Cost      O(n log n); on the oneTBB arena of the caller
/// Errors    invalid_argument without triangles, or with more than 2^28 - 1
/// Source    Wald, "On fast construction of SAH-based bounding volume hierarchies", RT 2007; Stich et al.,
///           "Spatial splits in bounding volume hierarchies", HPG 2009; differ in: below a certain depth
///           nodes are halved by count, so that a walk never needs more than its fixed stack
[[nodiscard]] Bvh build_bvh(std::span<const Triangle> triangles, float margin);

} // namespace path_tracer
