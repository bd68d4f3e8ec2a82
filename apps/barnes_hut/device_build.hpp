// apps/barnes_hut/device_build.hpp - the tree built where its walks will be: the same nodes as tree.hpp's, by
// the same arithmetic. Within a level they lie in another order.
#pragma once
#include "bodies.hpp"
#include "cells.hpp"
#include <headrace/core/device.hpp>

namespace barnes_hut {

/// Levels of nodes, the root's among them.
constexpr uint32_t tree_levels = BARNES_HUT_LEVELS + 1;

/// All arrays are the device's. `capacity`: of the nodes' arrays; if there are more nodes, none beyond it is
/// written, and the level counts say how many there would have been so far.
struct TreeBuild {
    const Vector* places;
    const double* masses;
    uint32_t count; ///< bodies
    Placement placement;
    double per_acceleration; ///< see Scale
    Opening opening;
    const double* strengths; ///< of each body's acceleration, for an accuracy; else null

    uint32_t* order;
    Body* bodies;
    GroupBox* boxes;
    NodeTest* tests;
    NodeLink* links;
    Moments* moments;
    uint32_t capacity;
    uint32_t* level_nodes; ///< [tree_levels]: nodes of each level

    // Of no use afterwards.
    uint64_t* keys; ///< sorted
    Range* ranges;  ///< of nodes
    NodeSum* sums;  ///< of nodes

    HEADRACE_HOST_DEVICE uint64_t key_of(uint32_t body) const {
        const Vector at = placement.place(places[body]);
        return hilbert_key(cell_of(at.x), cell_of(at.y), cell_of(at.z));
    }
    /// When bodies are sorted.
    HEADRACE_HOST_DEVICE void place_body(uint32_t i) const {
        bodies[i] = placement.body(places[order[i]], masses[order[i]]);
    }
    HEADRACE_HOST_DEVICE uint32_t groups() const { return (count + BARNES_HUT_GROUP - 1) / BARNES_HUT_GROUP; }
    HEADRACE_HOST_DEVICE void box_group(uint32_t i) const {
        const uint32_t begin = i * BARNES_HUT_GROUP, end = begin + BARNES_HUT_GROUP;
        const Range range{begin, end < count ? end : count};
        boxes[i] = box_of(bodies, range);
        if (strengths != nullptr)
            boxes[i].reach = reach_of(least_of(strengths, order, range) * per_acceleration, opening);
    }
    /// Nodes of a level: [begin, end), those that there is room for.
    HEADRACE_HOST_DEVICE Range level(uint32_t number) const {
        uint32_t begin = 0;
        for (uint32_t i = 0; i < number; ++i) begin += level_nodes[i];
        const uint32_t end = begin + level_nodes[number];
        return {begin < capacity ? begin : capacity, end < capacity ? end : capacity};
    }
    HEADRACE_HOST_DEVICE void make_leaf(uint32_t node) const {
        links[node] = {ranges[node].begin, ranges[node].size(), 0, 0};
    }
    /// `first`: of its children.
    HEADRACE_HOST_DEVICE void make_parent(uint32_t node, uint32_t first, uint32_t children) const {
        links[node] = {first | (children - 1) << BARNES_HUT_NODE_BITS, 0, 0, 0};
    }
    /// When the level below has been summed up.
    HEADRACE_HOST_DEVICE void sum_up(uint32_t node) const {
        const NodeLink link = links[node];
        if (link.bodies > 0)
            sums[node] = sum_of(link.bodies, [&](uint32_t j) { return sum_of(bodies[link.first + j]); });
        else
            sums[node] = sum_of((link.first >> BARNES_HUT_NODE_BITS) + 1,
                                [&](uint32_t j) { return sums[(link.first & BARNES_HUT_NODE_MASK) + j]; });
        tests[node] = test_of(sums[node], opening.inverse_theta);
        links[node].weight = weight_of(sums[node].mass, size_of(sums[node]), opening);
        moments[node] = moments_of(sums[node], tests[node]);
    }
};

/// Does it, step after step, on one thread of the host: for tests, and to be read.
void build_on_host(TreeBuild build);

#if defined(BARNES_HUT_HAS_CUDA)
/// Enqueues it. The build's last three arrays are null: this allocates them, in the stream's order.
void build_on_cuda(TreeBuild build, const headrace::NativeStream& stream);
#endif

} // namespace barnes_hut
