// apps/path_tracer/wide_tree.hpp - a tree whose nodes have up to eight children, over pairs of triangles.
#pragma once
#include "collapse.hpp"

namespace path_tracer {

/// Up to eight children of a node, in boxes of whole steps from `origin`. A child that is a node is at
/// `first_child` plus the number of such children in lower slots; a pair of triangles likewise.
struct WideNode {
    Float3 origin;
    uint32_t steps; ///< of x, y, z, a byte each: exponents of a float that is one step
    uint32_t first_child, first_pair;
    uint32_t inner, leaves; ///< slots with nodes, and with pairs, as bits from 0 to 7
    /// Planes of the box in each slot, in steps.
    unsigned char low_x[wide_slots], high_x[wide_slots], low_y[wide_slots], high_y[wide_slots],
        low_z[wide_slots], high_z[wide_slots];
};
static_assert(sizeof(WideNode) == 80);

/// Two triangles with a common edge: a, b, c and a, c, d, each in any order of its own corners. In one cache
/// line.
struct alignas(64) TrianglePair {
    Float3 a;
    uint32_t first_id;
    Float3 b;
    uint32_t second_id;
    Float3 c;
    uint32_t first; ///< index into the triangles of the scene
    Float3 d;
    uint32_t second; ///< the same, or PATH_TRACER_NO_TRIANGLE if the first is alone
};
static_assert(sizeof(TrianglePair) == 64);

/// Pairs of triangles with a common edge. Each triangle is in one pair, perhaps alone.
/// Two triangles become a pair if the area of the box around both is at most 0.85 of the sum of theirs.
[[nodiscard]] std::vector<PairOfTriangles> paired(std::span<const Triangle> triangles);

/// Nodes, the root first, and the pairs in its leaves. A pair may be in several leaves.
struct WideTree {
    std::vector<WideNode> nodes;
    std::vector<TrianglePair> pairs;
    unsigned depth = 0; ///< nodes on the longest way down
};

/// Makes the tree, over pairs of `triangles`, from one with two children a node: see collapse.hpp. The same
/// on any number of threads.
///
/// Boxes     as those of build_bvh, and wider by at most 2/255 of the node's size. `margin` is positive
/// Depth     at most PATH_TRACER_STACK nodes
/// Repeated  of triangles with one id and the same corners in the same order, the first alone is there
/// Errors    as build_bvh
/// Source    Ylitie, Karras and Laine, "Efficient incoherent ray traversal on GPUs through compressed wide
///           BVHs", HPG 2017; differs in: pairs of triangles, each alone in a leaf
[[nodiscard]] WideTree build_wide_tree(std::span<const Triangle> triangles, float margin);

} // namespace path_tracer
