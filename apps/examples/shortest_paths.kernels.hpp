// apps/examples/shortest_paths.kernels.hpp - a work unit is a step to a field of a map.
#pragma once
#include <headrace/headrace.hpp>

struct Step {
    std::uint32_t field, distance; ///< ~0: not known
};

HEADRACE_KERNEL inline void for_neighbours(std::uint32_t field, std::uint32_t side, auto&& go) {
    if (field >= side) go(field - side);
    if (field < side * (side - 1)) go(field + side);
    if (field % side > 0) go(field - 1);
    if (field % side < side - 1) go(field + 1);
}

/// Goes on from fields at a distance in [from, to). What is nearer has been done, what is farther is for
/// later jobs. Each device finds distances of its own, and the least of all devices' is right.
struct Walk {
    using Units = headrace::Kinds<headrace::Kind<Step, 4>>;
    headrace::View<const std::uint32_t> costs, before; ///< of a step to a field; known before this job
    headrace::Reduction<std::uint32_t, headrace::Min> after;
    std::uint32_t side, from, to;

    HEADRACE_KERNEL void operator()(auto& lane, Step at) const {
        if (at.distance == ~0u) at.distance = before[at.field];
        const bool is_shorter = headrace::atomic_min(after.origin[at.field], at.distance) > at.distance;
        if (!is_shorter || at.distance < from || at.distance >= to) return;
        for_neighbours(at.field, side, [&](auto f) { lane.spawn(Step{f, at.distance + costs[f]}); });
    }
};

struct Fields {
    HEADRACE_KERNEL Step operator()(std::uint64_t i) const { return {std::uint32_t(i), ~0u}; }
};
