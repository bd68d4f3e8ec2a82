// apps/path_tracer/bvh.cpp - see bvh.hpp.
#include "bvh.hpp"
#include "split.hpp"
#include <headrace/core/error.hpp>

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>

namespace path_tracer {
namespace {

constexpr std::size_t largest_leaf = 8, always_split = 2;
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

class Builder {
public:
    Builder(std::span<const Triangle> triangles, float margin)
        : triangles_(triangles), margin_{margin, margin, margin} {}

    Bvh run() {
        std::vector<Reference> references(triangles_.size());
        for (uint32_t i = 0; i < references.size(); ++i) {
            references[i].index = i;
            for (const Float3 corner : {triangles_[i].a, triangles_[i].b, triangles_[i].c})
                references[i].box.add(corner);
        }
        const auto most = static_cast<std::size_t>(most_references * static_cast<double>(triangles_.size()));
        root_area_ = bounds_of(references).box.half_area();
        const auto root = build(std::move(references), std::min(most, most_positions), 1);
        Bvh bvh;
        if (root->children[0]) {
            flatten(*root, 1, bvh);
        } else { // a node has two children; one leaf stands for both, and meeting it twice changes nothing
            const uint32_t leaf = append(*root, bvh);
            bvh.nodes.push_back(node_over(*root, leaf, *root, leaf));
            bvh.depth = 1;
        }
        return bvh;
    }

    static constexpr std::size_t most_positions = (std::size_t{1} << 28) - 1; // a child has 28 bits for one

private:
    /// `most`: references that may become of these.
    std::unique_ptr<BuildNode> build(std::vector<Reference> references, std::size_t most, unsigned depth) {
        const std::size_t count = references.size();
        const Bounds bounds = bounds_of(references);
        auto node = std::make_unique<BuildNode>(BuildNode{bounds.box, {}, {}});
        const auto leaf = [&] {
            node->references = std::move(references);
            return std::move(node);
        };
        if (count == 1 || (count <= always_split && depth > 1)) return leaf();

        // Halving what is left still ends in time from here; one level more might not.
        const bool must_halve = depth + static_cast<unsigned>(std::bit_width(count)) + 1 >= PATH_TRACER_STACK;
        Split split;
        if (!must_halve) {
            split = object_split(references, bounds);
            if (most > count && (split.axis < 0 || split.overlap > worth_a_spatial_split * root_area_))
                if (const Split through = spatial_split(references, bounds, triangles_);
                    through.cost < split.cost)
                    split = through;
        }
        // Costs in triangle tests; walking through a node takes about as long as one.
        const float area = bounds.box.half_area();
        const bool leaf_is_cheaper = split.axis >= 0 && static_cast<float>(count) * area <= area + split.cost;
        if (count <= largest_leaf && (split.axis < 0 || leaf_is_cheaper)) return leaf();

        Sides sides;
        if (split.axis >= 0) sides = divide(std::move(references), split, triangles_, most);
        if (sides.below.empty() || sides.above.empty()) {
            if (split.axis >= 0) { // by rounding, or because nothing was worth two references
                references = std::move(sides.below.empty() ? sides.above : sides.below);
                if (references.size() <= largest_leaf) return leaf();
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

    /// Centres and half sizes of two boxes along one axis, with the margin and their own rounding.
    [[nodiscard]] Slab slab_over(const Box& zero, const Box& one, int axis) const {
        const auto centre = [axis](const Box& box) {
            return (along(box.lo, axis) + along(box.hi, axis)) * 0.5f;
        };
        const auto half = [&](const Box& box) {
            const float middle = centre(box);
            const float size = std::max(along(box.hi, axis) - middle, middle - along(box.lo, axis));
            return std::nextafter(size + along(margin_, axis), std::numeric_limits<float>::max());
        };
        return {centre(zero), centre(one), half(zero), half(one)};
    }

    [[nodiscard]] BvhNode node_over(const BuildNode& zero, uint32_t child0, const BuildNode& one,
                                    uint32_t child1) const {
        const auto slab = [&](int axis) { return slab_over(zero.box, one.box, axis); };
        return {slab(0), slab(1), slab(2), child0, child1, 0, 0};
    }

    /// Puts a leaf's triangles in order; returns it as a child.
    static uint32_t append(const BuildNode& leaf, Bvh& to) {
        const auto first = static_cast<uint32_t>(to.order.size());
        for (const Reference& reference : leaf.references) to.order.push_back(reference.index);
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
        to.nodes[index] = node_over(*from.children[0], child[0], *from.children[1], child[1]);
        return index;
    }

    std::span<const Triangle> triangles_;
    Float3 margin_;
    float root_area_ = 0;
};

} // namespace

Bvh build_bvh(std::span<const Triangle> triangles, float margin) {
    constexpr std::size_t most = Builder::most_positions;
    if (triangles.empty() || triangles.size() > most)
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              "a scene needs 1 to " + std::to_string(most) + " triangles with an area, not " +
                                  std::to_string(triangles.size())};
    return Builder(triangles, margin).run();
}

} // namespace path_tracer
