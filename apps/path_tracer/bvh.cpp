// apps/path_tracer/bvh.cpp - see bvh.hpp.
#include "bvh.hpp"
#include "split.hpp"
#include <headrace/core/error.hpp>

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace path_tracer {
namespace {

constexpr std::size_t largest_leaf = PATH_TRACER_MOST_IN_LEAF, always_split = 2;
constexpr std::size_t worth_a_thread = 4096; // references
/// Space is cut where both sides of the best cut between references share more than this of the root's area.
constexpr float worth_a_spatial_split = 1e-5f;
/// References for each triangle, at most.
constexpr double most_references = 1.5;

struct BuildNode {
    Box box;
    std::vector<Reference> references;      // of a leaf
    std::unique_ptr<BuildNode> children[2]; // none: a leaf
};

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
    Bvh run(std::vector<Reference> references, std::size_t most) {
        Bvh bvh;
        bvh.box = bounds_of(references).box;
        root_area_ = bvh.box.half_area();
        const auto root = build(std::move(references), std::min(most, most_positions), 1);
        if (root->children[0]) {
            flatten(*root, 1, bvh);
        } else { // a node has two children; one leaf stands for both, and meeting it twice changes nothing
            const uint32_t leaf = append(*root, bvh);
            bvh.nodes.push_back(node_over(root->box, leaf, root->box, leaf, margin_));
            bvh.depth = 1;
        }
        return bvh;
    }

private:
    [[nodiscard]] bool is_of_instances() const { return shapes_.triangles.empty(); }

    std::unique_ptr<BuildNode> build(std::vector<Reference> references, std::size_t most, unsigned depth) {
        const std::size_t count = references.size();
        const Bounds bounds = bounds_of(references);
        auto node = std::make_unique<BuildNode>(BuildNode{bounds.box, {}, {}});
        const auto leaf = [&] {
            node->references.assign(references.begin(), references.end()); // no larger than they are
            return std::move(node);
        };
        const std::size_t most_in_leaf = is_of_instances() || !shapes_.pairs.empty() ? 1 : largest_leaf;
        if (count == 1 || (count <= std::min(always_split, most_in_leaf) && depth > 1)) return leaf();

        // Halving what is left still ends in time from here; one level more might not.
        const bool must_halve = depth + static_cast<unsigned>(std::bit_width(count)) + 1 >= most_depth_;
        Split split;
        if (!must_halve) {
            split = object_split(references, bounds);
            if (most > count && (split.axis < 0 || split.overlap > worth_a_spatial_split * root_area_))
                if (const Split through = spatial_split(references, bounds, shapes_);
                    through.cost < split.cost)
                    split = through;
        }
        // Costs in triangle tests; walking through a node takes about as long as one.
        const float area = bounds.box.half_area();
        const bool leaf_is_cheaper = split.axis >= 0 && static_cast<float>(count) * area <= area + split.cost;
        if (count <= most_in_leaf && (split.axis < 0 || leaf_is_cheaper)) return leaf();

        Sides sides;
        if (split.axis >= 0) sides = divide(std::move(references), split, shapes_, most);
        if (sides.below.empty() || sides.above.empty()) {
            if (split.axis >= 0) { // by rounding, or because nothing was worth two references
                references = std::move(sides.below.empty() ? sides.above : sides.below);
                if (references.size() <= most_in_leaf) return leaf();
            }
            // NOLINTNEXTLINE(bugprone-use-after-move): not moved, or assigned above
            const auto middle = references.begin() + static_cast<std::ptrdiff_t>(references.size() / 2);
            sides.above.assign(middle, references.end());
            references.erase(middle, references.end());
            sides.below = std::move(references);
        }
        // What is left of the allowance goes where references are.
        const std::size_t used = sides.below.size() + sides.above.size();
        const std::size_t spare = most - used;
        const std::size_t spare_below = static_cast<std::size_t>(
            static_cast<double>(spare) * static_cast<double>(sides.below.size()) / static_cast<double>(used));
        const auto below = [&, room = sides.below.size() + spare_below] {
            node->children[0] = build(std::move(sides.below), room, depth + 1);
        };
        const auto above = [&, room = sides.above.size() + spare - spare_below] {
            node->children[1] = build(std::move(sides.above), room, depth + 1);
        };
        if (count >= worth_a_thread) {
            tbb::parallel_invoke(below, above);
        } else {
            below();
            above();
        }
        return node;
    }

    [[nodiscard]] std::array<uint32_t, 3> key_of(uint32_t index) const {
        return twin_key(shapes_.triangles[index], index);
    }

    /// Puts a leaf's triangles in order; returns it as a child.
    [[nodiscard]] uint32_t append(const BuildNode& leaf, Bvh& to) const {
        if (is_of_instances()) return leaf.references.front().index << 4 | PATH_TRACER_INSTANCE;
        const auto first = static_cast<uint32_t>(to.order.size());
        for (const Reference& reference : leaf.references) to.order.push_back(reference.index);
        // Of triangles with the same corners the first in a leaf is met: the one that exact_test.h chooses.
        if (shapes_.pairs.empty())
            std::sort(to.order.begin() + first, to.order.end(),
                      [this](uint32_t one, uint32_t other) { return key_of(one) < key_of(other); });
        return first << 4 | static_cast<uint32_t>(leaf.references.size());
    }

    /// Appends the inner node `from` and what is below it; returns its index.
    uint32_t flatten(const BuildNode& from, unsigned depth, Bvh& to) const {
        const auto index = static_cast<uint32_t>(to.nodes.size());
        to.depth = std::max(to.depth, depth);
        to.nodes.emplace_back();
        uint32_t child[2];
        for (int i = 0; i < 2; ++i) {
            const BuildNode& below = *from.children[i];
            child[i] = below.children[0] ? flatten(below, depth + 1, to) << 4 : append(below, to);
        }
        to.nodes[index] =
            node_over(from.children[0]->box, child[0], from.children[1]->box, child[1], margin_);
        return index;
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
    std::vector<Reference> references(triangles.size());
    for (uint32_t i = 0; i < references.size(); ++i) references[i] = {box_of(triangles[i]), i};
    const auto most = static_cast<std::size_t>(most_references * static_cast<double>(triangles.size()));
    return Builder(Shapes{triangles}, margin, most_depth).run(std::move(references), most);
}

Bvh build_bvh_of_pairs(std::span<const Triangle> triangles, std::span<const PairOfTriangles> pairs,
                       float margin, unsigned most_depth) {
    check_positions(pairs.size(), "triangles with an area");
    std::vector<Reference> references(pairs.size());
    for (uint32_t i = 0; i < references.size(); ++i) references[i] = {box_of(triangles, pairs[i]), i};
    const auto most = static_cast<std::size_t>(most_references * static_cast<double>(pairs.size()));
    return Builder(Shapes{triangles, pairs}, margin, most_depth).run(std::move(references), most);
}

Bvh build_bvh_of_instances(std::span<const Box> boxes, float margin, unsigned most_depth) {
    check_positions(boxes.size(), "instances");
    std::vector<Reference> references(boxes.size());
    for (uint32_t i = 0; i < references.size(); ++i) references[i] = {boxes[i], i};
    const std::size_t most = references.size(); // none is cut
    return Builder({}, margin, most_depth).run(std::move(references), most);
}

uint32_t append_nodes(std::vector<BvhNode>& to, const std::vector<BvhNode>& nodes, uint32_t first_triangle) {
    const auto root = static_cast<uint32_t>(to.size());
    const auto moved = [&](uint32_t child) {
        const bool is_inner = (child & 15u) == 0, is_instance = (child & 15u) == PATH_TRACER_INSTANCE;
        return is_instance ? child : child + ((is_inner ? root : first_triangle) << 4);
    };
    for (BvhNode node : nodes) {
        node.child0 = moved(node.child0);
        node.child1 = moved(node.child1);
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
