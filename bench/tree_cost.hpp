// bench/tree_cost.hpp - how good a tree is, by the surface-area heuristic: of random lines through the
// scene's box, how many boxes does one enter?
#pragma once
#include "wide_tree.hpp"

#include <cmath>
#include <cstdint>

namespace path_tracer {

/// What a line that meets the root meets on average. Holds for lines that nothing stops.
struct TreeCost {
    double nodes = 1, tests = 0; ///< nodes, and triangles or pairs of triangles
};

inline double half_area(double x, double y, double z) { return x * y + y * z + z * x; }

inline TreeCost cost_of(const Bvh& bvh) {
    TreeCost cost;
    const double root = bvh.box.half_area();
    for (const BvhNode& node : bvh.nodes) {
        const auto add = [&](double x, double y, double z, std::uint32_t child) {
            const double share = half_area(2 * x, 2 * y, 2 * z) / root;
            if ((child & 15u) == 0)
                cost.nodes += share;
            else
                cost.tests += share * (child & 15u);
        };
        add(node.x.half0, node.y.half0, node.z.half0, node.child0);
        add(node.x.half1, node.y.half1, node.z.half1, node.child1);
    }
    return cost;
}

/// `root`: the box around all
inline TreeCost cost_of(const WideTree& tree, const Box& root) {
    TreeCost cost;
    for (const WideNode& node : tree.nodes) {
        const auto step = [&](unsigned axis) {
            return std::ldexp(1.0, static_cast<int>(node.steps >> (8 * axis) & 255u) - 127);
        };
        for (unsigned slot = 0; slot < wide_slots; ++slot) {
            const double share = half_area((node.high_x[slot] - node.low_x[slot]) * step(0),
                                           (node.high_y[slot] - node.low_y[slot]) * step(1),
                                           (node.high_z[slot] - node.low_z[slot]) * step(2)) /
                                 root.half_area();
            if ((node.inner >> slot & 1) != 0) cost.nodes += share;
            if ((node.leaves >> slot & 1) != 0) cost.tests += share;
        }
    }
    return cost;
}

} // namespace path_tracer
