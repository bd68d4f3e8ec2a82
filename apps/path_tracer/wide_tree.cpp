// apps/path_tracer/wide_tree.cpp - see wide_tree.hpp.
#include "wide_tree.hpp"
#include "parallel_array.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace path_tracer {
namespace {

/// What fills a slot.
struct Child {
    Box box;
    Branch branch;
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
/// distance, and then the first counts. By number.
std::vector<uint32_t> without_repetitions(std::span<const Triangle> triangles) {
    using Key = std::array<uint32_t, 3>; // see twin_key
    const ParallelArray<Key> keys(
        triangles.size(), [&](std::size_t i) { return twin_key(triangles[i], static_cast<uint32_t>(i)); });
    tbb::parallel_sort(keys.elements().begin(), keys.elements().end());
    const auto is_repetition = [&](std::size_t i) { // mostly of the one just before
        for (std::size_t before = i; before > 0 && keys[before - 1][0] == keys[i][0]; --before)
            if (has_same_corners(triangles[keys[before - 1][2]], triangles[keys[i][2]])) return true;
        return false;
    };
    std::vector<unsigned char> is_first(triangles.size());
    tbb::parallel_for(std::size_t{0}, keys.size(),
                      [&](std::size_t i) { is_first[keys[i][2]] = is_repetition(i) ? 0 : 1; });
    std::vector<uint32_t> first;
    first.reserve(triangles.size());
    for (uint32_t i = 0; i < triangles.size(); ++i)
        if (is_first[i] != 0) first.push_back(i);
    return first;
}

class Widening {
public:
    /// `numbers`: those that the triangles have outside
    Widening(const Bvh& bvh, std::span<const Triangle> triangles, std::span<const PairOfTriangles> pairs,
             std::span<const uint32_t> numbers)
        : bvh_(bvh), triangles_(triangles), pairs_(pairs), numbers_(numbers), plan_(plan_of_collapse(bvh)) {}

    WideTree run() {
        const Branch root = root_of(bvh_);
        tree_.nodes.resize(plan_[0].wide_nodes);
        tree_.pairs.resize(bvh_.order.size());
        tree_.depth = widen(root, {0, 1, 0});
        return std::move(tree_);
    }

private:
    /// Where a wide node is, and from where on there is room for what is below it.
    struct Room {
        uint32_t node, below, pairs;
    };

    /// Up to eight nodes or leaves below a node.
    [[nodiscard]] std::vector<Child> children_below(const Branch& branch) const {
        std::vector<Child> children;
        children.reserve(wide_slots);
        const auto collect = [&](const auto& self, const Branch& from, std::size_t slots) -> void {
            const auto both = children_of(bvh_, from);
            const std::size_t of_first = plan_[from.place()].first[slots];
            for (int which = 0; which < 2; ++which) {
                const std::size_t most = which == 0 ? of_first : slots - of_first;
                const Branch& child = both[static_cast<std::size_t>(which)];
                const std::size_t fills = child.is_inner() ? plan_[child.place()].fills[most] : 1;
                if (fills == 1)
                    children.push_back({box_around(bvh_.nodes[from.place()], which), child});
                else
                    self(self, child, fills);
            }
        };
        collect(collect, branch, wide_slots);
        if (children[0].branch.child == children[1].branch.child) children.pop_back(); // see Builder::run
        return children;
    }

    [[nodiscard]] TrianglePair pair_at(uint32_t position) const {
        const auto [first, second] = pairs_[bvh_.order[position]];
        TrianglePair pair = make_pair_of(triangles_, first, second);
        pair.first = numbers_[first];
        if (second != PATH_TRACER_NO_TRIANGLE) pair.second = numbers_[second];
        return pair;
    }

    /// Makes a wide node of a node, and all below it. Returns how deep it is.
    unsigned widen(const Branch& from, Room room) {
        const std::vector<Child> children = children_below(from);
        WideNode& node = tree_.nodes[room.node];
        node = node_over(children);
        node.first_child = room.below;
        node.first_pair = room.pairs;
        for (const Child& child : children)
            if (!child.branch.is_inner()) tree_.pairs[room.pairs++] = pair_at(child.branch.place());
        // Children are neighbours, and behind them lies what is below each.
        room.below += static_cast<uint32_t>(std::popcount(node.inner));
        std::array<std::pair<Branch, Room>, wide_slots> inner;
        std::size_t count = 0;
        for (const Child& child : children) {
            if (!child.branch.is_inner()) continue;
            const auto place = node.first_child + static_cast<uint32_t>(count);
            inner[count++] = {child.branch, {place, room.below, room.pairs}};
            room.below += plan_[child.branch.place()].wide_nodes - 1;
            room.pairs += child.branch.leaves();
        }
        std::array<unsigned, wide_slots> depths{};
        const auto go_on = [&](std::size_t i) { depths[i] = widen(inner[i].first, inner[i].second); };
        if (from.nodes() >= nodes_worth_a_thread)
            tbb::parallel_for(std::size_t{0}, count, go_on);
        else
            for (std::size_t i = 0; i < count; ++i) go_on(i);
        return 1 + *std::ranges::max_element(depths);
    }

    /// But for the places of what is below.
    static WideNode node_over(const std::vector<Child>& children) {
        Box around;
        for (const Child& child : children) around.add(child.box);
        WideNode node{};
        const Quantised x(around.lo.x, around.hi.x), y(around.lo.y, around.hi.y), z(around.lo.z, around.hi.z);
        node.origin = {x.origin(), y.origin(), z.origin()};
        node.steps = x.exponent() | y.exponent() << 8 | z.exponent() << 16;
        for (std::size_t slot = 0; slot < children.size(); ++slot) {
            const auto& [box, branch] = children[slot];
            node.low_x[slot] = x.low(box.lo.x);
            node.low_y[slot] = y.low(box.lo.y);
            node.low_z[slot] = z.low(box.lo.z);
            node.high_x[slot] = x.high(box.hi.x);
            node.high_y[slot] = y.high(box.hi.y);
            node.high_z[slot] = z.high(box.hi.z);
            (branch.is_inner() ? node.inner : node.leaves) |= 1u << slot;
        }
        return node;
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
    std::vector<NodePlan> plan_;
    WideTree tree_;
};

} // namespace

WideTree build_wide_tree(std::span<const Triangle> triangles, float margin) {
    const std::vector<uint32_t> numbers = without_repetitions(triangles);
    const ParallelArray<Triangle> once(numbers.size(), [&](std::size_t i) { return triangles[numbers[i]]; });
    const std::vector<PairOfTriangles> pairs = paired(once.elements());
    const Bvh bvh = build_bvh_of_pairs(once.elements(), pairs, margin);
    return Widening(bvh, once.elements(), pairs, numbers).run();
}

} // namespace path_tracer
