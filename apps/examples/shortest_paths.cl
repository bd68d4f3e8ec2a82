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

void hr_run(HrLane* lane, uint kind, HrUnit at, HEADRACE_PARAMETERS) {
    if (at.distance == RECORD) {
        at = open[at.field];
        hr_atomic_min_uint(&distances[at.field], at.distance);
    }
    const uint known = hr_atomic_load_uint(&distances[at.field]);
    const uint fields[4] = {
        at.field >= side ? at.field - side : at.field,
        at.field < side * (side - 1) ? at.field + side : at.field,
        at.field % side > 0 ? at.field - 1 : at.field,
        at.field % side < side - 1 ? at.field + 1 : at.field,
    };
    Step steps[4];
    uint before[4];
    for (int i = 0; i < 4; ++i) {
        steps[i].field = fields[i];
        steps[i].distance = at.distance + costs[fields[i]];
        before[i] = fields[i] == at.field ? 0 : hr_atomic_load_uint(&distances[fields[i]]);
    }
    if (known < at.distance) return;
    for (int i = 0; i < 4; ++i)
        if (before[i] > steps[i].distance)
            before[i] = hr_atomic_min_uint(&distances[fields[i]], steps[i].distance);
    for (int i = 0; i < 4; ++i) {
        if (before[i] <= steps[i].distance) continue;
        if (steps[i].distance < to)
            hr_spawn(lane, 0, &steps[i]);
        else
            hr_append(next, most, steps[i]);
    }
}
