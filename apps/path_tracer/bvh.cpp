// apps/path_tracer/bvh.cpp - see bvh.hpp.
#include "bvh.hpp"
#include "parallel_array.hpp"
#include "split.hpp"
#include <headrace/core/error.hpp>

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace path_tracer {
namespace {

constexpr std::size_t largest_leaf = PATH_TRACER_MOST_IN_LEAF, always_split = 2;
/// Space is cut where both sides of the best cut between references share more than this of the root's area.
constexpr float worth_a_spatial_split = 1e-5f;
/// ... and would cost less than this of what they do if they did not share it. Of the trees of height fields,
/// soups and Sponza, this leaves out the search for such cuts where hardly one is found.
constexpr float worth_a_look = 0.985f;
/// References for each triangle, at most.
constexpr double most_references = 1.5;

/// What is below a node, or a leaf. Children of nodes are counted from its own first node and position.
struct Subtree {
    Box box;
    uint32_t root = 0;                    // as a child
    std::vector<BvhNode> nodes;           // none if it has children, ...
    std::vector<uint32_t> order;          // ... which have them
    std::unique_ptr<Subtree> children[2]; // both or none
    std::size_t all_nodes = 0, all_positions = 0;
    unsigned depth = 0; // of the deepest node, from the root of all
};

/// The child of a node whose subtree's nodes and positions are appended behind so many.
uint32_t moved(uint32_t child, std::size_t nodes, std::size_t positions) {
    if ((child & 15u) == PATH_TRACER_INSTANCE) return child;
    return child + (static_cast<uint32_t>((child & 15u) == 0 ? nodes : positions) << 4);
}

/// Centres and half sizes of two boxes along one axis, with the margin and their own rounding.
Slab slab_over(const Box& zero, const Box& one, int axis, float margin) {
    const auto centre = [axis](const Box& box) { return (along(box.lo, axis) + along(box.hi, axis)) * 0.5f; };
    const auto half = [&](const Box& box) {
        const float middle = centre(box);
        const float size = std::max(along(box.hi, axis) - middle, middle - along(box.lo, axis));
        return std::nextafter(size + margin, std::numeric_limits<float>::max());
    };
    return {centre(zero), centre(one), half(zero), half(one)};
}

BvhNode node_over(const Box& zero, uint32_t child0, const Box& one, uint32_t child1, float margin) {
    const auto slab = [&](int axis) { return slab_over(zero, one, axis, margin); };
    return {slab(0), slab(1), slab(2), child0, child1, 0, 0};
}

class Builder {
public:
    /// `shapes`: none for a hierarchy over instances
    Builder(const Shapes& shapes, float margin, unsigned most_depth)
        : shapes_(shapes), margin_(margin), most_depth_(most_depth) {}

    /// `most`: references that may become of these.
    Bvh run(std::span<Reference> references, std::size_t most) {
        Bvh bvh;
        bvh.box = bounds_of(references).box;
        root_area_ = bvh.box.half_area();
        Subtree all = build(references, std::min(most, most_positions), 1);
        bvh.depth = std::max(all.depth, 1u);
        bvh.nodes.resize(std::max<std::size_t>(all.all_nodes, 1));
        bvh.order.resize(all.all_positions);
        const uint32_t root = move_to(bvh, all, 0, 0);
        if (all.all_nodes == 0) // two children, as a node has: to meet the same leaf twice changes nothing
            bvh.nodes.front() = node_over(all.box, root, all.box, root, margin_);
        return bvh;
    }

private:
    [[nodiscard]] bool is_of_instances() const { return shapes_.triangles.empty(); }

    /// Where a node is cut. Without an axis: it is halved by count, as it is too deep, or nothing is cheaper.
    [[nodiscard]] Split split_of(std::span<const Reference> references, const Bounds& bounds,
                                 std::size_t most, unsigned depth) const {
        // Halving what is left still ends in time from here; one level more might not.
        if (depth + static_cast<unsigned>(std::bit_width(references.size())) + 1 >= most_depth_) return {};
        const Split split = object_split(references, bounds);
        const bool may_gain = split.axis < 0 || (split.overlap > worth_a_spatial_split * root_area_ &&
                                                 split.cost_without_overlap < worth_a_look * split.cost);
        if (most <= references.size() || !may_gain) return split;
        const Split through = spatial_split(references, bounds, shapes_, split.axis);
        return through.cost < split.cost ? through : split;
    }

    /// Both sides of a node, in the place of its references where none is cut. Nothing: it is a leaf.
    [[nodiscard]] std::optional<Sides> sides_of(std::span<Reference> references, const Bounds& bounds,
                                                std::size_t most, unsigned depth) const {
        const std::size_t count = references.size();
        const std::size_t most_in_leaf = is_of_instances() || !shapes_.pairs.empty() ? 1 : largest_leaf;
        if (count == 1 || (count <= std::min(always_split, most_in_leaf) && depth > 1)) return std::nullopt;
        const Split split = split_of(references, bounds, most, depth);
        // Costs in triangle tests; walking through a node takes about as long as one.
        const float area = bounds.box.half_area();
        const bool leaf_is_cheaper = split.axis >= 0 && static_cast<float>(count) * area <= area + split.cost;
        if (count <= most_in_leaf && (split.axis < 0 || leaf_is_cheaper)) return std::nullopt;
        if (split.axis >= 0) {
            Sides sides = divide(references, split, shapes_, most);
            if (!sides.below.empty() && !sides.above.empty()) return sides;
            // By rounding, or because nothing was worth two references.
            if (count <= most_in_leaf) return std::nullopt;
        }
        return Sides{references.first(count / 2), references.subspan(count / 2), {}, {}};
    }

    /// What is left of the allowance goes where references are.
    struct Allowances {
        std::size_t below, above;
    };
    static Allowances allowances(const Sides& sides, std::size_t most) {
        const std::size_t below = sides.below.size(), above = sides.above.size();
        const std::size_t spare = most - below - above;
        const auto spare_below = static_cast<std::size_t>(
            static_cast<double>(spare) * static_cast<double>(below) / static_cast<double>(below + above));
        return {below + spare_below, above + spare - spare_below};
    }

    /// On all threads, as long as there are enough references for each.
    Subtree build(std::span<Reference> references, std::size_t most, unsigned depth) const {
        Subtree tree;
        if (references.size() < references_worth_a_thread) {
            std::tie(tree.box, tree.root) = append(references, most, depth, tree);
            tree.all_nodes = tree.nodes.size();
            tree.all_positions = tree.order.size();
            return tree;
        }
        const Bounds bounds = bounds_of(references);
        tree.box = bounds.box;
        Sides sides = *sides_of(references, bounds, most, depth); // far more than a leaf may have
        const Allowances room = allowances(sides, most);
        const auto build_child = [&](int which, std::span<Reference> side, std::size_t most_there) {
            tree.children[which] = std::make_unique<Subtree>(build(side, most_there, depth + 1));
        };
        tbb::parallel_invoke([&] { build_child(0, sides.below, room.below); },
                             [&] { build_child(1, sides.above, room.above); });
        const auto& [below, above] = tree.children;
        tree.all_nodes = 1 + below->all_nodes + above->all_nodes;
        tree.all_positions = below->all_positions + above->all_positions;
        tree.depth = std::max({depth, below->depth, above->depth});
        return tree;
    }

    /// Appends a node and what is below it, or a leaf. Returns it as a child.
    std::pair<Box, uint32_t> append(std::span<Reference> references, std::size_t most, unsigned depth,
                                    Subtree& to) const {
        const Bounds bounds = bounds_of(references);
        const std::optional<Sides> sides = sides_of(references, bounds, most, depth);
        if (!sides) return {bounds.box, append_leaf(references, to)};
        const std::size_t index = to.nodes.size();
        to.nodes.emplace_back();
        to.depth = std::max(to.depth, depth);
        const Allowances room = allowances(*sides, most);
        const auto [box0, child0] = append(sides->below, room.below, depth + 1, to);
        const auto [box1, child1] = append(sides->above, room.above, depth + 1, to);
        to.nodes[index] = node_over(box0, child0, box1, child1, margin_);
        return {bounds.box, static_cast<uint32_t>(index) << 4};
    }

    [[nodiscard]] std::array<uint32_t, 3> key_of(uint32_t index) const {
        return twin_key(shapes_.triangles[index], index);
    }

    /// Puts a leaf's triangles in order; returns it as a child.
    [[nodiscard]] uint32_t append_leaf(std::span<const Reference> references, Subtree& to) const {
        if (is_of_instances()) return references.front().index << 4 | PATH_TRACER_INSTANCE;
        const auto first = static_cast<uint32_t>(to.order.size());
        for (const Reference& reference : references) to.order.push_back(reference.index);
        // Of triangles with the same corners the first in a leaf is met: the one that exact_test.h chooses.
        if (shapes_.pairs.empty())
            std::sort(to.order.begin() + first, to.order.end(),
                      [this](uint32_t one, uint32_t other) { return key_of(one) < key_of(other); });
        return first << 4 | static_cast<uint32_t>(references.size());
    }

    /// Moves a subtree to where its nodes and positions begin; returns its root as a child. Depth first, as a
    /// single thread would have built it.
    uint32_t move_to(Bvh& to, Subtree& tree, std::size_t first_node, std::size_t first_position) const {
        if (!tree.children[0]) {
            const auto moved_node = [&](BvhNode node) {
                node.child0 = moved(node.child0, first_node, first_position);
                node.child1 = moved(node.child1, first_node, first_position);
                return node;
            };
            std::ranges::transform(tree.nodes, to.nodes.begin() + static_cast<std::ptrdiff_t>(first_node),
                                   moved_node);
            std::ranges::copy(tree.order, to.order.begin() + static_cast<std::ptrdiff_t>(first_position));
            tree.nodes = {}; // frees them here, and not on one thread in the end
            tree.order = {};
            return moved(tree.root, first_node, first_position);
        }
        Subtree &below = *tree.children[0], &above = *tree.children[1];
        uint32_t child0, child1;
        tbb::parallel_invoke([&] { child0 = move_to(to, below, first_node + 1, first_position); },
                             [&] {
                                 child1 = move_to(to, above, first_node + 1 + below.all_nodes,
                                                  first_position + below.all_positions);
                             });
        to.nodes[first_node] = node_over(below.box, child0, above.box, child1, margin_);
        return static_cast<uint32_t>(first_node) << 4;
    }

    Shapes shapes_;
    float margin_;
    unsigned most_depth_;
    float root_area_ = 0;
};

} // namespace

void check_positions(std::size_t count, std::string_view what) {
    if (count > 0 && count <= most_positions) return;
    throw headrace::Error{headrace::ErrorKind::invalid_argument,
                          "a scene needs 1 to " + std::to_string(most_positions) + ' ' + std::string(what) +
                              ", not " + std::to_string(count)};
}

Bvh build_bvh(std::span<const Triangle> triangles, float margin, unsigned most_depth) {
    check_positions(triangles.size(), "triangles with an area");
    const ParallelArray<Reference> references(triangles.size(), [&](std::size_t i) {
        return Reference{box_of(triangles[i]), static_cast<uint32_t>(i)};
    });
    const auto most = static_cast<std::size_t>(most_references * static_cast<double>(triangles.size()));
    return Builder(Shapes{triangles}, margin, most_depth).run(references.elements(), most);
}

Bvh build_bvh_of_pairs(std::span<const Triangle> triangles, std::span<const PairOfTriangles> pairs,
                       float margin, unsigned most_depth) {
    check_positions(pairs.size(), "triangles with an area");
    const ParallelArray<Reference> references(pairs.size(), [&](std::size_t i) {
        return Reference{box_of(triangles, pairs[i]), static_cast<uint32_t>(i)};
    });
    const auto most = static_cast<std::size_t>(most_references * static_cast<double>(pairs.size()));
    return Builder(Shapes{triangles, pairs}, margin, most_depth).run(references.elements(), most);
}

Bvh build_bvh_of_instances(std::span<const Box> boxes, float margin, unsigned most_depth) {
    check_positions(boxes.size(), "instances");
    std::vector<Reference> references(boxes.size());
    for (uint32_t i = 0; i < references.size(); ++i) references[i] = {boxes[i], i};
    const std::size_t most = references.size(); // none is cut
    return Builder({}, margin, most_depth).run(references, most);
}

uint32_t append_nodes(std::vector<BvhNode>& to, const std::vector<BvhNode>& nodes, uint32_t first_triangle) {
    const auto root = static_cast<uint32_t>(to.size());
    for (BvhNode node : nodes) {
        node.child0 = moved(node.child0, root, first_triangle);
        node.child1 = moved(node.child1, root, first_triangle);
        to.push_back(node);
    }
    return root;
}

std::vector<BvhNode> joined(const Bvh& of_triangles, uint32_t first_triangle, const Bvh& of_instances,
                            float margin) {
    std::vector<BvhNode> both(1);
    const uint32_t one = append_nodes(both, of_triangles.nodes, first_triangle);
    const uint32_t other = append_nodes(both, of_instances.nodes, 0);
    both.front() = node_over(of_triangles.box, one << 4, of_instances.box, other << 4, margin);
    return both;
}

} // namespace path_tracer
