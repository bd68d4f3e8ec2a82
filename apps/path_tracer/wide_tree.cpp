// apps/path_tracer/wide_tree.cpp - see wide_tree.hpp.
#include "wide_tree.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace path_tracer {
namespace {

/// A child of a node with two, and the box around it.
struct Child {
    Box box;
    uint32_t child;

    [[nodiscard]] bool is_inner() const { return (child & 15u) == 0; }
    [[nodiscard]] uint32_t place() const { return child >> 4; }
};

Box box_around(const BvhNode& node, int which) {
    constexpr float away = std::numeric_limits<float>::max();
    const auto lo = [&](const Slab& slab) {
        return which == 0 ? std::nextafter(slab.centre0 - slab.half0, -away)
                          : std::nextafter(slab.centre1 - slab.half1, -away);
    };
    const auto hi = [&](const Slab& slab) {
        return which == 0 ? std::nextafter(slab.centre0 + slab.half0, away)
                          : std::nextafter(slab.centre1 + slab.half1, away);
    };
    return {{lo(node.x), lo(node.y), lo(node.z)}, {hi(node.x), hi(node.y), hi(node.z)}};
}

/// Bytes along one axis, for boxes within [lo, hi].
class Quantised {
public:
    Quantised(float lo, float hi) {
        // Two steps remain beside the bytes that are needed: one below, one for what is rounded up.
        const double size = double{hi} - lo;
        int exponent = std::ilogb(size / 253);
        if (size > 253 * std::ldexp(1.0, exponent)) ++exponent;
        step_ = std::ldexp(1.0, exponent);
        exponent_ = static_cast<uint32_t>(exponent + 127);
        origin_ = static_cast<float>(lo - step_);
        if (origin_ > lo - 0.5 * step_) origin_ = std::nextafter(origin_, -1e30f);
    }
    [[nodiscard]] float origin() const { return origin_; }
    [[nodiscard]] uint32_t exponent() const { return exponent_; }
    /// Rounding moves planes by less than `slack` steps, of which there are 255.
    [[nodiscard]] unsigned char low(float place) const { return byte(std::floor(steps_to(place) - slack)); }
    [[nodiscard]] unsigned char high(float place) const { return byte(std::ceil(steps_to(place) + slack)); }

private:
    static constexpr double slack = 1.0 / 64;
    [[nodiscard]] double steps_to(float place) const { return (double{place} - origin_) / step_; }
    static unsigned char byte(double steps) {
        return static_cast<unsigned char>(std::clamp(steps, 0.0, 255.0));
    }

    float origin_;
    double step_;
    uint32_t exponent_;
};

bool has_same_corners(const Triangle& one, const Triangle& other) {
    return is_same_point(one.a, other.a) && is_same_point(one.b, other.b) && is_same_point(one.c, other.c);
}

/// The first of all triangles with the same corners in the same order and one id: these are met at one
/// distance, and then the first counts.
std::vector<uint32_t> without_repetitions(std::span<const Triangle> triangles) {
    std::vector<uint32_t> by_id(triangles.size());
    std::iota(by_id.begin(), by_id.end(), 0u);
    tbb::parallel_sort(by_id.begin(), by_id.end(), [&](uint32_t one, uint32_t other) {
        return twin_key(triangles[one], one) < twin_key(triangles[other], other);
    });
    std::vector<uint32_t> first;
    std::size_t of_this_id = 0; // where they begin in `first`
    for (std::size_t i = 0; i < by_id.size(); ++i) {
        const Triangle& triangle = triangles[by_id[i]];
        if (i == 0 || triangle.id != triangles[by_id[i - 1]].id) of_this_id = first.size();
        if (std::none_of(first.begin() + static_cast<std::ptrdiff_t>(of_this_id), first.end(),
                         [&](uint32_t before) { return has_same_corners(triangles[before], triangle); }))
            first.push_back(by_id[i]);
    }
    std::sort(first.begin(), first.end()); // neighbours in space are neighbours in memory
    return first;
}

class Widening {
public:
    /// `numbers`: those that the triangles have outside
    Widening(const Bvh& bvh, std::span<const Triangle> triangles, std::span<const PairOfTriangles> pairs,
             std::span<const uint32_t> numbers)
        : bvh_(bvh), triangles_(triangles), pairs_(pairs), numbers_(numbers) {}

    WideTree run() {
        tree_.pairs.reserve(bvh_.order.size());
        tree_.nodes.resize(1);
        widen(0, 0, 1);
        tree_.nodes.shrink_to_fit();
        return std::move(tree_);
    }

private:
    /// Up to eight nodes or leaves below a node with two children.
    [[nodiscard]] std::vector<Child> children_of(uint32_t index) const {
        const auto both = [&](uint32_t place) {
            const BvhNode& node = bvh_.nodes[place];
            return std::array<Child, 2>{Child{box_around(node, 0), node.child0},
                                        Child{box_around(node, 1), node.child1}};
        };
        const auto first = both(index);
        std::vector<Child> children(first.begin(), first.end());
        if (children[0].child == children[1].child) children.pop_back(); // see Builder::run
        while (children.size() < wide_slots) {
            Child* largest = nullptr;
            for (Child& child : children)
                if (child.is_inner() &&
                    (largest == nullptr || child.box.half_area() > largest->box.half_area()))
                    largest = &child;
            if (largest == nullptr) break;
            const auto below = both(largest->place());
            *largest = below[0];
            children.push_back(below[1]);
        }
        return children;
    }

    void add_pair(uint32_t position) {
        const auto [first, second] = pairs_[bvh_.order[position]];
        TrianglePair pair = make_pair_of(triangles_, first, second);
        pair.first = numbers_[first];
        if (second != PATH_TRACER_NO_TRIANGLE) pair.second = numbers_[second];
        tree_.pairs.push_back(pair);
    }

    /// Fills the node `to` with what is below the node `from` of two children.
    void widen(uint32_t from, uint32_t to, unsigned depth) {
        tree_.depth = std::max(tree_.depth, depth);
        const std::vector<Child> children = children_of(from);
        Box around;
        for (const Child& child : children) around.add(child.box);
        WideNode node{};
        const Quantised x(around.lo.x, around.hi.x), y(around.lo.y, around.hi.y), z(around.lo.z, around.hi.z);
        node.origin = {x.origin(), y.origin(), z.origin()};
        node.steps = x.exponent() | y.exponent() << 8 | z.exponent() << 16;
        node.first_child = static_cast<uint32_t>(tree_.nodes.size());
        node.first_pair = static_cast<uint32_t>(tree_.pairs.size());
        for (std::size_t slot = 0; slot < children.size(); ++slot) {
            const Child& child = children[slot];
            node.low_x[slot] = x.low(child.box.lo.x);
            node.low_y[slot] = y.low(child.box.lo.y);
            node.low_z[slot] = z.low(child.box.lo.z);
            node.high_x[slot] = x.high(child.box.hi.x);
            node.high_y[slot] = y.high(child.box.hi.y);
            node.high_z[slot] = z.high(child.box.hi.z);
            (child.is_inner() ? node.inner : node.leaves) |= 1u << slot;
            if (!child.is_inner()) add_pair(child.place());
        }
        tree_.nodes[to] = node;
        tree_.nodes.resize(tree_.nodes.size() + static_cast<std::size_t>(std::popcount(node.inner)));
        uint32_t next = node.first_child;
        for (const Child& child : children)
            if (child.is_inner()) widen(child.place(), next++, depth + 1);
    }

    /// Turned so that the common edge is between a and c.
    static TrianglePair make_pair_of(std::span<const Triangle> triangles, uint32_t first, uint32_t second) {
        const Triangle& one = triangles[first];
        TrianglePair pair{one.a, one.id, one.b, one.id, one.c, 0, one.c, PATH_TRACER_NO_TRIANGLE};
        if (second == PATH_TRACER_NO_TRIANGLE) return pair;
        const Triangle& two = triangles[second];
        pair.second_id = two.id;
        const Float3 ones[3] = {one.a, one.b, one.c}, twos[3] = {two.a, two.b, two.c};
        const auto is_among = [](const Float3(&corners)[3], Float3 point) {
            return std::any_of(corners, corners + 3,
                               [&](Float3 corner) { return is_same_point(corner, point); });
        };
        for (int turn = 0; turn < 3; ++turn)
            if (is_among(twos, ones[turn]) && is_among(twos, ones[(turn + 2) % 3])) {
                pair.a = ones[turn];
                pair.b = ones[(turn + 1) % 3];
                pair.c = ones[(turn + 2) % 3];
            }
        pair.d = pair.b; // both have the same corners
        for (const Float3 corner : twos)
            if (!is_among(ones, corner)) pair.d = corner;
        return pair;
    }

    const Bvh& bvh_;
    std::span<const Triangle> triangles_;
    std::span<const PairOfTriangles> pairs_;
    std::span<const uint32_t> numbers_;
    WideTree tree_;
};

} // namespace

WideTree build_wide_tree(std::span<const Triangle> triangles, float margin) {
    const std::vector<uint32_t> numbers = without_repetitions(triangles);
    std::vector<Triangle> once;
    once.reserve(numbers.size());
    for (const uint32_t number : numbers) once.push_back(triangles[number]);
    const std::vector<PairOfTriangles> pairs = paired(once);
    const Bvh bvh = build_bvh_of_pairs(once, pairs, margin);
    return Widening(bvh, once, pairs, numbers).run();
}

} // namespace path_tracer
