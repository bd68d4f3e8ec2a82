// apps/hotspot/hotspot.cl - hotspot.kernels.hpp in OpenCL C: a work-group's cells, and those whose heat can
// arrive, are in local memory while they are stepped.
#define FUSED 4
#define GROUP 16 // a side of Hotspot::block
#define SIDE (GROUP + 2 * FUSED)

typedef struct {
    float down, across, sink, heat, ambient;
} Factors;

int mirrored(int i, int size)
{
    while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
    return i;
}

__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1))) void
Hotspot(__global const float* power, __global const float* before, __global float* after, int rows, int steps,
        Factors f, int last_row, int columns)
{
    __local float planes[2][SIDE][SIDE], watts[SIDE][SIDE];
    const int j = get_local_id(0), i = get_local_id(1);
    const int x = get_global_id(0), y = get_global_id(1);

    for (int t = i; t < SIDE; t += GROUP)
        for (int s = j; s < SIDE; s += GROUP) {
            // What is further than FUSED beyond the end is not ours to read.
            const int row = mirrored(min(y - i + t, last_row + 2 * FUSED - 1) - FUSED, rows);
            const int column = mirrored(min(x - j + s, columns + 2 * FUSED - 1) - FUSED, columns);
            const long from = (long)row * columns + column;
            planes[0][t][s] = before[from];
            watts[t][s] = power[from];
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < steps; ++step) {
        __local float(*now)[SIDE] = planes[step % 2];
        __local float(*next)[SIDE] = planes[(step + 1) % 2];
        const int rim = step + 1; // what is beyond lacks neighbours
        for (int t = i + rim; t < SIDE - rim; t += GROUP)
            for (int s = j + rim; s < SIDE - rim; s += GROUP) {
                const float here = now[t][s];
                next[t][s] = here + f.heat * watts[t][s] + f.down * (now[t - 1][s] + now[t + 1][s] - 2 * here) +
                             f.across * (now[t][s - 1] + now[t][s + 1] - 2 * here) + f.sink * (f.ambient - here);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < columns && y < last_row) after[(long)y * columns + x] = planes[steps % 2][i + FUSED][j + FUSED];
}
