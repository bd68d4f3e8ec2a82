// apps/examples/shortest_paths.cl - shortest_paths.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS \
    __global const uint *costs, __global const Step *open, uint side, uint to, __global uint *distances, \
        __global Step *next, ulong most
#define HEADRACE_ARGUMENTS costs, open, side, to, distances, next, most

#define RECORD (~0u)

typedef struct {
    uint field, distance;
} Step;
typedef Step HrUnit;

void hr_seed(ulong index, uint* kind, HrUnit* step, HEADRACE_PARAMETERS) {
    *kind = 0;
    step->field = (uint)index;
    step->distance = RECORD;
}

static void go(HrLane* lane, uint field, uint distance, HEADRACE_PARAMETERS) {
    const Step step = {field, distance + costs[field]};
    if (hr_atomic_min_uint(&distances[field], step.distance) <= step.distance) return;
    if (step.distance < to)
        hr_spawn(lane, 0, &step);
    else
        hr_append(next, most, step);
}

void hr_run(HrLane* lane, uint kind, HrUnit at, HEADRACE_PARAMETERS) {
    if (at.distance == RECORD) at = open[at.field];
    if (hr_atomic_min_uint(&distances[at.field], at.distance) < at.distance) return;
    if (at.field >= side) go(lane, at.field - side, at.distance, HEADRACE_ARGUMENTS);
    if (at.field < side * (side - 1)) go(lane, at.field + side, at.distance, HEADRACE_ARGUMENTS);
    if (at.field % side > 0) go(lane, at.field - 1, at.distance, HEADRACE_ARGUMENTS);
    if (at.field % side < side - 1) go(lane, at.field + 1, at.distance, HEADRACE_ARGUMENTS);
}
