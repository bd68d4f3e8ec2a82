// apps/path_tracer/bvh.cpp - see bvh.hpp.
#include "bvh.hpp"
#include "vector_math.hpp"
#include <headrace/core/error.hpp>

#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <string>

namespace path_tracer {
namespace {

constexpr unsigned bins = 32;
constexpr uint32_t largest_leaf = 8, always_split = 2;
constexpr uint32_t worth_a_thread = 4096; // triangles

struct Box {
    Float3 lo{std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
              std::numeric_limits<float>::max()};
    Float3 hi{-lo.x, -lo.y, -lo.z};

    void add(const Box& other) {
        lo = {smaller(lo.x, other.lo.x), smaller(lo.y, other.lo.y), smaller(lo.z, other.lo.z)};
        hi = {larger(hi.x, other.hi.x), larger(hi.y, other.hi.y), larger(hi.z, other.hi.z)};
    }
    void add(Float3 point) { add(Box{point, point}); }
    [[nodiscard]] float half_area() const {
        const Float3 size = hi - lo;
        return size.x < 0 ? 0 : size.x * size.y + size.y * size.z + size.z * size.x;
    }
};

float along(Float3 point, int axis) { return axis == 0 ? point.x : axis == 1 ? point.y : point.z; }

/// A triangle as the builder sees it.
struct Reference {
    Box box;
    Float3 centre;
    uint32_t index;
};

/// A tree node over references [begin, end).
struct BuildNode {
    Box box;
    uint32_t begin, end;
    std::unique_ptr<BuildNode> children[2]; // none: a leaf
};

struct Bounds {
    Box box, centres;
    void add(const Bounds& other) {
        box.add(other.box);
        centres.add(other.centres);
    }
};

struct Bin {
    Box box;
    uint32_t count = 0;
    void add(const Bin& other) {
        box.add(other.box);
        count += other.count;
    }
};
using Histogram = std::array<std::array<Bin, bins>, 3>;

/// Where to cut: references whose centre lies in a bin below `bin` of `axis` go left.
struct Split {
    float cost = std::numeric_limits<float>::max();
    int axis = -1;
    unsigned bin = 0;
};

class Builder {
public:
    Builder(std::span<const Triangle> triangles, float margin)
        : margin_{margin, margin, margin}, references_(triangles.size()) {
        tbb::parallel_for(tbb::blocked_range<uint32_t>(0, size()), [&](const auto& range) {
            for (uint32_t i = range.begin(); i != range.end(); ++i) {
                Reference& reference = references_[i];
                for (const Float3 corner : {triangles[i].a, triangles[i].b, triangles[i].c})
                    reference.box.add(corner);
                reference.box = {reference.box.lo - margin_, reference.box.hi + margin_};
                reference.centre = (reference.box.lo + reference.box.hi) * 0.5f;
                reference.index = i;
            }
        });
    }

    Bvh run() {
        const std::unique_ptr<BuildNode> root = build(0, size(), 1);
        Bvh bvh;
        if (root->children[0]) {
            flatten(*root, 1, bvh);
        } else { // a node has two children; one leaf stands for both, and meeting it twice changes nothing
            bvh.nodes.push_back(node_over(*root, child_of(*root), *root, child_of(*root)));
            bvh.depth = 1;
        }
        bvh.order.resize(size());
        std::transform(references_.begin(), references_.end(), bvh.order.begin(),
                       [](const Reference& reference) { return reference.index; });
        return bvh;
    }

private:
    [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(references_.size()); }

    template <class Result, class Body>
    Result over(uint32_t begin, uint32_t end, const Body& body) const {
        if (end - begin < worth_a_thread) return body(begin, end, Result{});
        return tbb::parallel_deterministic_reduce(
            tbb::blocked_range<uint32_t>(begin, end, worth_a_thread), Result{},
            [&](const auto& range, const Result& so_far) { return body(range.begin(), range.end(), so_far); },
            [](Result a, const Result& b) {
                if constexpr (std::is_same_v<Result, Histogram>) {
                    for (std::size_t axis = 0; axis < 3; ++axis)
                        for (std::size_t bin = 0; bin < bins; ++bin) a[axis][bin].add(b[axis][bin]);
                } else {
                    a.add(b);
                }
                return a;
            });
    }

    static unsigned bin_of(const Reference& reference, const Box& centres, int axis) {
        const float extent = along(centres.hi, axis) - along(centres.lo, axis);
        const float place = (along(reference.centre, axis) - along(centres.lo, axis)) / extent * bins;
        return std::min(static_cast<unsigned>(place), bins - 1);
    }

    Split best_split(uint32_t begin, uint32_t end, const Box& centres) const {
        const auto splits_along = [&](int axis) { return along(centres.hi, axis) > along(centres.lo, axis); };
        const Histogram histogram =
            over<Histogram>(begin, end, [&](uint32_t from, uint32_t to, Histogram sum) {
                for (uint32_t i = from; i < to; ++i)
                    for (int axis = 0; axis < 3; ++axis)
                        if (splits_along(axis)) {
                            Bin& bin =
                                sum[static_cast<std::size_t>(axis)][bin_of(references_[i], centres, axis)];
                            bin.box.add(references_[i].box);
                            ++bin.count;
                        }
                return sum;
            });
        Split best;
        for (int axis = 0; axis < 3; ++axis) {
            if (!splits_along(axis)) continue;
            const auto& row = histogram[static_cast<std::size_t>(axis)];
            std::array<float, bins> cost_above{}; // of everything from bin i on
            Bin sum;
            for (unsigned i = bins - 1; i > 0; --i) {
                sum.add(row[i]);
                cost_above[i] = sum.box.half_area() * static_cast<float>(sum.count);
            }
            sum = {};
            for (unsigned i = 1; i < bins; ++i) {
                sum.add(row[i - 1]);
                const float cost = sum.box.half_area() * static_cast<float>(sum.count) + cost_above[i];
                if (sum.count > 0 && sum.count < end - begin && cost < best.cost) best = {cost, axis, i};
            }
        }
        return best;
    }

    std::unique_ptr<BuildNode> build(uint32_t begin, uint32_t end, unsigned depth) {
        const uint32_t count = end - begin;
        const Bounds bounds = over<Bounds>(begin, end, [&](uint32_t from, uint32_t to, Bounds sum) {
            for (uint32_t i = from; i < to; ++i) {
                sum.box.add(references_[i].box);
                sum.centres.add(references_[i].centre);
            }
            return sum;
        });
        auto node = std::make_unique<BuildNode>(BuildNode{bounds.box, begin, end, {}});
        if (count <= always_split && depth > 1) return node;
        if (count == 1) return node;

        // Halving what is left still ends in time from here; one level more might not.
        const bool must_halve = depth + static_cast<unsigned>(std::bit_width(count)) + 1 >= PATH_TRACER_STACK;
        const Split split = must_halve ? Split{} : best_split(begin, end, bounds.centres);
        // Costs in triangle tests; walking through a node takes about as long as one.
        const bool leaf_is_cheaper =
            split.axis >= 0 && static_cast<float>(count) <= 1 + split.cost / bounds.box.half_area();
        if (count <= largest_leaf && (split.axis < 0 || leaf_is_cheaper)) return node;

        uint32_t middle = begin + count / 2;
        if (split.axis >= 0) {
            const auto first_right = std::partition(
                references_.begin() + begin, references_.begin() + end, [&](const Reference& reference) {
                    return bin_of(reference, bounds.centres, split.axis) < split.bin;
                });
            middle = static_cast<uint32_t>(first_right - references_.begin());
        }
        const auto left = [&] { node->children[0] = build(begin, middle, depth + 1); };
        const auto right = [&] { node->children[1] = build(middle, end, depth + 1); };
        if (count >= worth_a_thread) {
            tbb::parallel_invoke(left, right);
        } else {
            left();
            right();
        }
        return node;
    }

    static uint32_t child_of(const BuildNode& leaf) { return leaf.begin << 4 | (leaf.end - leaf.begin); }

    static BvhNode node_over(const BuildNode& zero, uint32_t child0, const BuildNode& one, uint32_t child1) {
        const auto slab = [&](int axis) {
            return Slab{along(zero.box.lo, axis), along(one.box.lo, axis), along(zero.box.hi, axis),
                        along(one.box.hi, axis)};
        };
        return {slab(0), slab(1), slab(2), child0, child1, 0, 0};
    }

    /// Appends the inner node `from` and what is below it; returns its index.
    static uint32_t flatten(const BuildNode& from, unsigned depth, Bvh& to) {
        const auto index = static_cast<uint32_t>(to.nodes.size());
        to.depth = std::max(to.depth, depth);
        to.nodes.emplace_back();
        uint32_t child[2];
        for (int i = 0; i < 2; ++i) {
            const BuildNode& below = *from.children[i];
            child[i] = below.children[0] ? flatten(below, depth + 1, to) << 4 : child_of(below);
        }
        to.nodes[index] = node_over(*from.children[0], child[0], *from.children[1], child[1]);
        return index;
    }

    Float3 margin_;
    std::vector<Reference> references_;
};

} // namespace

Bvh build_bvh(std::span<const Triangle> triangles, float margin) {
    constexpr std::size_t most = (std::size_t{1} << 28) - 1; // a child is 28 bits of position and 4 of count
    if (triangles.empty() || triangles.size() > most)
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              "a scene needs 1 to " + std::to_string(most) + " triangles, not " +
                                  std::to_string(triangles.size())};
    return Builder(triangles, margin).run();
}

} // namespace path_tracer
