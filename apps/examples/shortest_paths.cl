// apps/examples/shortest_paths.cl - shortest_paths.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS \
    __global const uint *costs, __global const uint *before, __global uint *after, uint side, uint from, uint to
#define HEADRACE_ARGUMENTS costs, before, after, side, from, to

#define UNKNOWN (~0u)

typedef struct {
    uint field, distance;
} HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* step, HEADRACE_PARAMETERS) {
    *kind = 0;
    step->field = (uint)index;
    step->distance = UNKNOWN;
}

static void go(HrLane* lane, uint field, uint distance, __global const uint* costs) {
    const HrUnit step = {field, distance + costs[field]};
    hr_spawn(lane, 0, &step);
}

void hr_run(HrLane* lane, uint kind, HrUnit at, HEADRACE_PARAMETERS) {
    if (at.distance == UNKNOWN) at.distance = before[at.field];
    if (hr_atomic_min_uint(&after[at.field], at.distance) <= at.distance) return;
    if (at.distance < from || at.distance >= to) return;
    if (at.field >= side) go(lane, at.field - side, at.distance, costs);
    if (at.field < side * (side - 1)) go(lane, at.field + side, at.distance, costs);
    if (at.field % side > 0) go(lane, at.field - 1, at.distance, costs);
    if (at.field % side < side - 1) go(lane, at.field + 1, at.distance, costs);
}
