// apps/examples/breadth_first.cl - breadth_first.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS \
    __global const uint *first, __global const uint *neighbours, __global const uint *frontier, \
        __global uint *levels, __global uint *next, ulong most, uint level
#define HEADRACE_ARGUMENTS first, neighbours, frontier, levels, next, most, level

void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    const uint vertex = frontier[i];
    for (uint edge = first[vertex]; edge < first[vertex + 1]; ++edge) {
        const uint neighbour = neighbours[edge];
        if (hr_atomic_min_uint(&levels[neighbour], level) > level) hr_append(next, most, neighbour);
    }
}
