// apps/barnes_hut/barnes_hut.kernels.hpp - the three kernels, written once for CPU, CUDA and HIP.
// barnes_hut.cl has them in OpenCL C. All open the same nodes, so forces differ by rounding alone.
#pragma once
#include "visit.h"
#include "walk.hpp"
#include <headrace/persistent/kernel.hpp>

namespace barnes_hut {

/// 80 registers each: memory has to be waited for, and a walk's sums and targets of two bodies fit.
inline constexpr unsigned enough_lanes = 768;

/// How much has been computed: [2 i] pairs of body and node, [2 i + 1] of body and body; and at the end, what
/// is odd about pairs.
using Counts = headrace::Sum<uint64_t>;

/// What one unit has found of a body's force. The first unit of a body assigns it, before it spawns others.
/// These add to it on any lane, since the lane that takes up a unit sees what was written before it spawned.
/// So forces need not be cleared.
HEADRACE_HOST_DEVICE inline void put(Force& to, const Force& force, bool is_first) {
    if (is_first) {
        to = force;
        return;
    }
    headrace::atomic_add(to.x, force.x);
    headrace::atomic_add(to.y, force.y);
    headrace::atomic_add(to.z, force.z);
    headrace::atomic_add(to.potential, force.potential);
}

template <class Group, class Walk>
HEADRACE_HOST_DEVICE inline void count(Group& group, const Walk& walk, const Counts& counts,
                                       const Space& space, uint32_t number) {
    group.by_leader([&] {
        const uint32_t left = space.bodies - number * BARNES_HUT_GROUP;
        const uint64_t bodies = left < BARNES_HUT_GROUP ? left : BARNES_HUT_GROUP;
        counts.add(number % BARNES_HUT_COUNTS * 2, bodies * walk.nodes_done());
        counts.add(number % BARNES_HUT_COUNTS * 2 + 1, bodies * walk.bodies_done());
        if (walk.too_near() > 0) counts.add(BARNES_HUT_TOO_NEAR, uint64_t{walk.too_near()});
        if (walk.together() > 0) counts.add(BARNES_HUT_TOGETHER, uint64_t{walk.together()});
        return 0u;
    });
}

/// "consumer": a group's whole walk.
struct WalkTree {
    static constexpr bool by_group = true;
    static constexpr unsigned resident_lanes = enough_lanes;
    static constexpr uint32_t scratch_words(uint32_t lanes) { return walk_words(lanes); }

    TreeView tree;
    headrace::View<Force> forces; ///< [group, place]
    Counts counts;

    /// Never inlined: then the engine's state lies in memory during a walk. Inline, it takes thirty registers
    /// of the loops over pairs, which are then compiled to compute one pair after the other (nvcc 13.0,
    /// sm_90: by the stalls in the code 127 cycles for a body of a list in a warp alone, instead of 46).
    template <class Group>
    HEADRACE_KERNEL __attribute__((noinline)) void operator()(Group& group, uint64_t index) const {
        const auto number = static_cast<uint32_t>(index);
        Walk<Group> walk(group, tree, number);
        walk.begin_with(BARNES_HUT_ROOT);
        walk.run(~0u, 0, [] { return false; });
        walk.each_force([&](uint32_t place, const Force& force) { forces(number, place) = force; });
        count(group, walk, counts, tree.space, number);
    }
};

/// Into how many parts so many families are split: four, or what they need room for.
HEADRACE_HOST_DEVICE inline uint32_t parts_of(uint32_t families) {
    constexpr uint32_t usual = 4;
    if (families <= usual) return families;
    const uint32_t needed = (families + BARNES_HUT_FAMILIES - 1) / BARNES_HUT_FAMILIES;
    return needed < usual ? usual : needed;
}

/// "producer": a part of a group's walk. If others are idle, what is left of its stack beyond the budget
/// becomes new parts, which share it evenly.
struct WalkSomeOfTree {
    using Units = headrace::Kinds<headrace::Kind<WalkPart, BARNES_HUT_PARTS>>;
    static constexpr bool by_group = true;
    static constexpr unsigned resident_lanes = enough_lanes;
    static constexpr uint32_t scratch_words(uint32_t lanes) { return walk_words(lanes); }

    TreeView tree;
    headrace::View<Force> forces; ///< [group, place]
    Counts counts;

    /// Never inlined: see WalkTree.
    template <class Group>
    HEADRACE_KERNEL __attribute__((noinline)) void operator()(Group& group, WalkPart part) const {
        Walk<Group> walk(group, tree, part.group);
        for (uint32_t i = 0; i < BARNES_HUT_FAMILIES; ++i)
            if (i < part.count) walk.begin_with(part.families[i]);
        walk.run(tree.space.budget, BARNES_HUT_FAMILIES * BARNES_HUT_PARTS,
                 [&] { return group.others_are_idle(); });
        const uint32_t left = walk.left(), parts = parts_of(left);
        for (uint32_t i = 0; i < parts; ++i) {
            WalkPart next{part.group, (left - i + parts - 1) / parts, {}};
            for (uint32_t j = 0; j < BARNES_HUT_FAMILIES; ++j)
                if (j < next.count) next.families[j] = walk.family(i + j * parts);
            group.spawn(next);
        }
        const bool is_first = part.families[0] == BARNES_HUT_ROOT;
        walk.each_force(
            [&](uint32_t place, const Force& force) { put(forces(part.group, place), force, is_first); });
        count(group, walk, counts, tree.space, part.group);
    }
};

/// Seeds of "producer": a work index is a group at the root.
struct GroupsAtRoot {
    HEADRACE_KERNEL WalkPart operator()(uint64_t index) const {
        return {static_cast<uint32_t>(index), 1, {BARNES_HUT_ROOT}};
    }
};

/// What visit_children asks for.
HEADRACE_HOST_DEVICE inline void spawn_visit(auto* lane, uint32_t body, uint32_t family) {
    lane->spawn(NodeVisit{body, family});
}
HEADRACE_HOST_DEVICE inline void count_oddity(const Counts* counts, Oddity odd) {
    if (odd == IS_TOO_NEAR) counts->add(BARNES_HUT_TOO_NEAR, uint64_t{1});
    if (odd == IS_TOGETHER) counts->add(BARNES_HUT_TOGETHER, uint64_t{1});
}

/// "producer-node": the unit of the paper of 2014. A body visits the children of one node; those to be
/// opened become units.
struct VisitNode {
    using Units = headrace::Kinds<headrace::Kind<NodeVisit, 8>>;
    static constexpr unsigned resident_lanes = enough_lanes;

    TreeView tree;
    headrace::View<Force> forces; ///< [body]
    Counts counts;

    HEADRACE_KERNEL void operator()(auto& lane, NodeVisit visit) const {
        const auto [sum, nodes, bodies] = visit_children(&tree, &lane, &counts, visit);
        const bool is_first = visit.family == BARNES_HUT_ROOT;
        if (nodes + bodies > 0 || is_first) put(forces[visit.body], sum, is_first);
        const uint32_t slot = visit.body % BARNES_HUT_COUNTS;
        if (nodes > 0) counts.add(2 * slot, uint64_t{nodes});
        if (bodies > 0) counts.add(2 * slot + 1, uint64_t{bodies});
    }
};

/// Seeds of "producer-node": a work index is a body at the root.
struct BodiesAtRoot {
    HEADRACE_KERNEL NodeVisit operator()(uint64_t index) const {
        return {static_cast<uint32_t>(index), BARNES_HUT_ROOT};
    }
};

} // namespace barnes_hut
