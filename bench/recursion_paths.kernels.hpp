// bench/recursion_paths.kernels.hpp - shortest paths as in apps/examples, tuned for GPUs: all that a step
// reads is asked for at once, and distances are set when a step is made and not when it is taken. The program
// by hand is tuned likewise.
#pragma once
#include <examples/shortest_paths.kernels.hpp>

namespace bench {

struct Neighbours {
    std::uint32_t at[4];
};
/// Beyond a border there is the field itself.
HEADRACE_KERNEL inline Neighbours neighbours_or_self(std::uint32_t field, std::uint32_t side) {
    return {{neighbour(field, side, 0), neighbour(field, side, 1), neighbour(field, side, 2),
             neighbour(field, side, 3)}};
}

struct WalkAtOnce {
    using Units = Walk::Units;
    Walk walk;

    HEADRACE_KERNEL void operator()(auto& lane, Step at) const {
        std::uint32_t* const least = walk.distances.origin;
        if (at.distance == ~0u) {
            at = walk.open[at.field];
            headrace::atomic_min(least[at.field], at.distance);
        }
        // All that a step reads is asked for at once: its time is that of memory, and one answer's is enough.
        const std::uint32_t known = headrace::atomic_load(least[at.field]);
        const Neighbours fields =
            neighbours_or_self(at.field, walk.side); // a step to the field itself is none
        Step steps[4];
        std::uint32_t before[4];
        for (int i = 0; i < 4; ++i) {
            steps[i] = {fields.at[i], at.distance + walk.costs[fields.at[i]]};
            before[i] = fields.at[i] == at.field ? 0 : headrace::atomic_load(least[fields.at[i]]);
        }
        if (known < at.distance) return;
        for (int i = 0; i < 4; ++i)
            if (before[i] > steps[i].distance)
                before[i] = headrace::atomic_min(least[steps[i].field], steps[i].distance);
        for (int i = 0; i < 4; ++i)
            if (before[i] > steps[i].distance)
                steps[i].distance < walk.to ? lane.spawn(steps[i]) : walk.next.append(steps[i]);
    }
};

} // namespace bench
