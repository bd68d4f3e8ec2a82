// bench/recursion_paths.kernels.hpp - shortest paths as in apps/examples, tuned for GPUs: all that a step
// reads is asked for at once, and distances are set when a step is made and not when it is taken. The program
// by hand is tuned likewise.
#pragma once
#include <headrace/headrace.hpp>

struct Step {
    std::uint32_t field, distance;
};
struct Neighbours {
    std::uint32_t at[4];
};
/// Beyond a border there is the field itself.
HEADRACE_KERNEL inline Neighbours neighbours_or_self(std::uint32_t field, std::uint32_t side) {
    return {{field >= side ? field - side : field, field < side * (side - 1) ? field + side : field,
             field % side > 0 ? field - 1 : field, field % side < side - 1 ? field + 1 : field}};
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
        std::uint32_t* const least = distances.origin;
        if (at.distance == ~0u) {
            at = open[at.field];
            headrace::atomic_min(least[at.field], at.distance);
        }
        // All that a step reads is asked for at once: its time is that of memory, and one answer's is enough.
        const std::uint32_t known = headrace::atomic_load(least[at.field]);
        const Neighbours fields = neighbours_or_self(at.field, side); // a step to the field itself is none
        Step steps[4];
        std::uint32_t before[4];
        for (int i = 0; i < 4; ++i) {
            steps[i] = {fields.at[i], at.distance + costs[fields.at[i]]};
            before[i] = fields.at[i] == at.field ? 0 : headrace::atomic_load(least[fields.at[i]]);
        }
        if (known < at.distance) return;
        for (int i = 0; i < 4; ++i)
            if (before[i] > steps[i].distance)
                before[i] = headrace::atomic_min(least[steps[i].field], steps[i].distance);
        for (int i = 0; i < 4; ++i)
            if (before[i] > steps[i].distance)
                steps[i].distance < to ? lane.spawn(steps[i]) : next.append(steps[i]);
    }
};

struct Records { // of `open`
    HEADRACE_KERNEL Step operator()(std::uint64_t number) const { return {std::uint32_t(number), ~0u}; }
};
