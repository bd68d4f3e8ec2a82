// apps/examples/shortest_paths.kernels.hpp - a work unit is a step to a field of a map.
#pragma once
#include <headrace/kernel.hpp>

struct Step {
    std::uint32_t field, distance;
};
/// One of four. Beyond a border it is the field itself.
HEADRACE_KERNEL inline std::uint32_t neighbour(std::uint32_t field, std::uint32_t side, int number) {
    if (number == 0) return field >= side ? field - side : field;
    if (number == 1) return field < side * (side - 1) ? field + side : field;
    if (number == 2) return field % side > 0 ? field - 1 : field;
    return field % side < side - 1 ? field + 1 : field;
}

/// Goes on from fields nearer than `to`; steps to others are records for the next job. Each device finds
/// distances of its own, and the least of all devices' is right.
struct Walk {
    using Units = headrace::Kinds<headrace::Kind<Step, 4>>;
    headrace::View<const std::uint32_t> costs; ///< of a step to a field
    headrace::View<const Step> open;
    headrace::Reduction<std::uint32_t, headrace::Min> distances;
    headrace::Append<Step> next;
    std::uint32_t side, to;

    HEADRACE_KERNEL void operator()(auto& lane, Step at) const {
        if (at.distance == ~0u) at = open[at.field];
        if (headrace::atomic_min(distances.origin[at.field], at.distance) <= at.distance) return;
        for (int number = 0; number < 4; ++number) {
            const std::uint32_t field = neighbour(at.field, side, number);
            const Step step{field, at.distance + costs[field]};
            if (headrace::atomic_load(distances.origin[field]) > step.distance)
                step.distance < to ? lane.spawn(step) : next.append(step);
        }
    }
};

struct Records { // of `open`
    HEADRACE_KERNEL Step operator()(std::uint64_t number) const { return {std::uint32_t(number), ~0u}; }
};
