// apps/path_tracer/bvh.hpp - the bounding volume hierarchy over triangles, or over instances.
#pragma once
#include "build_reference.hpp"
#include "layout.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace path_tracer {

/// Of triangles in leaves: a child has 28 bits for one.
constexpr std::size_t most_positions = (std::size_t{1} << 28) - 1;

/// Nodes in depth-first order, the root first; and which triangle comes where in the leaves.
struct Bvh {
    std::vector<BvhNode> nodes;
    std::vector<uint32_t>
        order;          ///< leaf position -> index of the triangle as given; some come more than once
    unsigned depth = 0; ///< nodes on the longest way down
    Box box;            ///< around all, without a margin
};

/// Errors  invalid_argument if there are none, or more than leaves can number. `what`: for the message
void check_positions(std::size_t count, std::string_view what);

/// Builds by the surface area heuristic over 32 bins of each axis, between triangles and, where both sides
/// would share much, through them: a triangle then lies in a leaf on each side, as long as there are no more
/// than 1.5 references for each triangle. The result is the same on any number of threads.
///
/// Boxes     are wider than what they hold by `margin` on each side: a ray that rounding leads to a
///           triangle's edge must find the way there open
/// Depth     at most `most_depth` nodes, at least 30
/// Cost      O(n log n); on the oneTBB arena of the caller
/// Errors    invalid_argument without triangles, or with more than 2^28 - 1
/// Source    Wald, "On fast construction of SAH-based bounding volume hierarchies", RT 2007; Stich et al.,
///           "Spatial splits in bounding volume hierarchies", HPG 2009; differ in: below a certain depth
///           nodes are halved by count, so that a walk never needs more than its fixed stack
[[nodiscard]] Bvh build_bvh(std::span<const Triangle> triangles, float margin,
                            unsigned most_depth = PATH_TRACER_STACK);

/// The same over pairs, each alone in a leaf.
[[nodiscard]] Bvh build_bvh_of_pairs(std::span<const Triangle> triangles,
                                     std::span<const PairOfTriangles> pairs, float margin,
                                     unsigned most_depth = PATH_TRACER_STACK);

/// The same over boxes, each alone in a leaf, as the Instance of its number. `order` stays empty.
[[nodiscard]] Bvh build_bvh_of_instances(std::span<const Box> boxes, float margin, unsigned most_depth);

/// The nodes of both, below a new root; triangles of the first lie in leaves from `first_triangle` on.
[[nodiscard]] std::vector<BvhNode> joined(const Bvh& of_triangles, uint32_t first_triangle,
                                          const Bvh& of_instances, float margin);

/// Appends nodes whose triangles lie in leaves from `first_triangle` on. Returns the place of their root.
uint32_t append_nodes(std::vector<BvhNode>& to, const std::vector<BvhNode>& nodes, uint32_t first_triangle);

} // namespace path_tracer
