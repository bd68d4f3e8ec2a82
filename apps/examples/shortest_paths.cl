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

uint neighbour(uint field, uint side, int number) {
    if (number == 0) return field >= side ? field - side : field;
    if (number == 1) return field < side * (side - 1) ? field + side : field;
    if (number == 2) return field % side > 0 ? field - 1 : field;
    return field % side < side - 1 ? field + 1 : field;
}

void hr_run(HrLane* lane, uint kind, HrUnit at, HEADRACE_PARAMETERS) {
    if (at.distance == RECORD) at = open[at.field];
    if (hr_atomic_min_uint(&distances[at.field], at.distance) <= at.distance) return;
    for (int number = 0; number < 4; ++number) {
        const uint field = neighbour(at.field, side, number);
        Step step = {field, at.distance + costs[field]};
        if (hr_atomic_load_uint(&distances[field]) <= step.distance) continue;
        if (step.distance < to)
            hr_spawn(lane, 0, &step);
        else
            hr_append(next, most, step);
    }
}
