// apps/path_tracer/collapse.hpp - which nodes of a tree with two children a node are nodes of the wide tree,
// too; the others vanish, and their children become those of the node above.
#pragma once
#include "bvh.hpp"

#include <array>
#include <vector>

namespace path_tracer {

constexpr std::size_t wide_slots = 8;

/// Nodes below a branch from which on it is given to other threads.
constexpr uint32_t nodes_worth_a_thread = 4096;

/// A child of a node, with all that lies below it: nodes are in depth-first order.
struct Branch {
    uint32_t child; ///< see BvhNode
    uint32_t end;   ///< one past its last node
    [[nodiscard]] bool is_inner() const { return (child & 15u) == 0; }
    [[nodiscard]] uint32_t place() const { return child >> 4; }
    [[nodiscard]] uint32_t nodes() const { return is_inner() ? end - place() : 0; }
    [[nodiscard]] uint32_t leaves() const { return nodes() + 1; }
};
[[nodiscard]] inline Branch root_of(const Bvh& bvh) { return {0, static_cast<uint32_t>(bvh.nodes.size())}; }
/// Both children of an inner one.
[[nodiscard]] std::array<Branch, 2> children_of(const Bvh& bvh, const Branch& parent);

/// What becomes of a node, by the number of slots that it may fill in the wide node above.
struct NodePlan {
    std::array<unsigned char, wide_slots> fills; ///< of 1 to 7: so many slots. 1: it is a wide node itself
    std::array<unsigned char, wide_slots + 1> first; ///< of 2 to 8 slots, those of the first child
    uint32_t wide_nodes;                             ///< from it on, if it is one
};

/// The plan for each node. Of all trees with up to eight children a node that can be made by leaving out
/// nodes, the one whose nodes a random ray meets least often. The same on any number of threads.
///
/// Source  Ylitie, Karras and Laine, "Efficient incoherent ray traversal on GPUs through compressed wide
/// BVHs",
///         HPG 2017, section 3.2; differs in: leaves are as they are, so they cost the same in all trees
[[nodiscard]] std::vector<NodePlan> plan_of_collapse(const Bvh& bvh);

} // namespace path_tracer
