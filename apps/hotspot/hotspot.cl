// apps/hotspot/hotspot.cl - hotspot.kernels.hpp in OpenCL C, for GPUs and for processors. Plain OpenCL: programs
// with and without Headrace share it.
#define FUSED 4

// GPUs: a work-group's cells, and those whose heat can arrive, are in local memory while they are stepped.
#define GROUP 16 // a side of Hotspot::block
#define SIDE (GROUP + 2 * FUSED)

#include "factors.h"
#include <headrace/domains/grids/mirror.h>

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
                next[t][s] = stepped(f, now[t][s], now[t - 1][s], now[t + 1][s], now[t][s - 1], now[t][s + 1],
                                     watts[t][s]);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < columns && y < last_row) after[(long)y * columns + x] = planes[steps % 2][i + FUSED][j + FUSED];
}

// Processors have vectors and caches of their own: a work-item steps a block of rows, each of which is a loop over
// neighbours, and no work-item waits for another.
#define BLOCK_ROWS 16
#define BLOCK_COLUMNS 248
#define PLANE_ROWS (BLOCK_ROWS + 2 * FUSED)
#define PLANE_COLUMNS (BLOCK_COLUMNS + 2 * FUSED)

void read_row(__global const float* row, int columns, int first, float* into)
{
    if (first >= 0 && first + PLANE_COLUMNS <= columns)
        for (int s = 0; s < PLANE_COLUMNS; ++s) into[s] = row[first + s];
    else
        for (int s = 0; s < PLANE_COLUMNS; ++s)
            into[s] = row[mirrored(min(first + s, columns + FUSED - 1), columns)];
}

__kernel void HotspotOnProcessor(__global const float* power, __global const float* before, __global float* after,
                                 int rows, int steps, Factors f, int first_row, int last_row, int columns,
                                 int items_down, int items_across)
{
    const int top = first_row + (int)get_global_id(1) * BLOCK_ROWS, left = (int)get_global_id(0) * BLOCK_COLUMNS;
    if (top >= last_row || left >= columns) return;
    float planes[2][PLANE_ROWS][PLANE_COLUMNS], watts[PLANE_ROWS][PLANE_COLUMNS];
    for (int t = 0; t < PLANE_ROWS; ++t) {
        // What is further than FUSED beyond the end is not ours to read.
        const long row = (long)mirrored(min(top + t, last_row + 2 * FUSED - 1) - FUSED, rows) * columns;
        read_row(before + row, columns, left - FUSED, planes[0][t]);
        read_row(power + row, columns, left - FUSED, watts[t]);
    }
    for (int step = 0; step < steps; ++step)
        for (int t = step + 1; t < PLANE_ROWS - step - 1; ++t) { // what is beyond lacks neighbours
            const float *north = planes[step % 2][t - 1], *now = planes[step % 2][t],
                        *south = planes[step % 2][t + 1], *heating = watts[t];
            float* restrict next = planes[(step + 1) % 2][t];
            for (int s = 1; s < PLANE_COLUMNS - 1; ++s)
                next[s] = stepped(f, now[s], north[s], south[s], now[s - 1], now[s + 1], heating[s]);
        }
    const int kept_rows = min(BLOCK_ROWS, last_row - top), kept_columns = min(BLOCK_COLUMNS, columns - left);
    for (int t = 0; t < kept_rows; ++t)
        for (int s = 0; s < kept_columns; ++s)
            after[(long)(top + t) * columns + left + s] = planes[steps % 2][t + FUSED][s + FUSED];
}
