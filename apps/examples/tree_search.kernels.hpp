// apps/examples/tree_search.kernels.hpp - a work unit is a node of a tree.
#pragma once
#include <headrace/kernel.hpp>

struct Node {
    std::uint64_t number;
    std::uint32_t depth, unused;
};

/// Some nodes have many children, most have none: 0.98 on average. So each tree ends, the largest ones late.
HEADRACE_KERNEL inline std::uint64_t children_of(Node node) { return node.number % 100 < 7 ? 14 : 0; }

struct Child {
    HEADRACE_KERNEL Node operator()(std::uint64_t index, const Node& parent) const {
        std::uint64_t x = (parent.number ^ (index + 1)) * 0x9e3779b97f4a7c15; // as good as random
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
        return {x ^ x >> 32, parent.depth + 1, 0};
    }
};

/// A node spawns its children as one range: each is made where a lane is free for it. It counts them, too:
/// few nodes have some, and an addition for each node would cost more than the node.
struct Search {
    using Units = headrace::Kinds<headrace::Kind<Node, 1>, headrace::RangeKind<Node, Child>>;
    headrace::Sum<std::uint64_t> nodes;
    headrace::Reduction<std::uint32_t, headrace::Max> depth;

    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        const std::uint64_t children = children_of(node);
        if (children == 0) return;
        nodes.add(0, children);
        depth.combine(0, node.depth + 1);
        lane.spawn_range(0, children, node);
    }
};

/// Trees, as children of a root.
struct Trees {
    HEADRACE_KERNEL Node operator()(std::uint64_t i) const { return Child{}(i, {0, 0, 0}); }
};
