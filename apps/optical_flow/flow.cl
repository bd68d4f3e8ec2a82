// apps/optical_flow/flow.cl - flow.kernels.hpp in OpenCL C.
#include "flow.h"
#include <headrace/domains/grids/mirror.h>

#ifdef __IMAGE_SUPPORT__
float seen(read_only image2d_t picture, int exact, float x, float y) {
    return exact ? headrace_sample_exact(picture, HEADRACE_MIRROR, x, y)
                 : headrace_sample(picture, HEADRACE_MIRROR, x, y);
}

__kernel void Shrink(read_only image2d_t fine, __global float* coarse, float ratio_x, float ratio_y, int exact, int rows,
                     int columns) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    const float x = position(column, ratio_x), y = position(row, ratio_y), dx = 0.25f * ratio_x, dy = 0.25f * ratio_y;
    coarse[(long)row * columns + column] = 0.25f * (seen(fine, exact, x - dx, y) + seen(fine, exact, x + dx, y) +
                                                    seen(fine, exact, x, y - dy) + seen(fine, exact, x, y + dy));
}

__kernel void Warp(read_only image2d_t frame, __global const float* u, __global const float* v, __global float* warped,
                   int exact, int rows, int columns) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    const long at = (long)row * columns + column;
    warped[at] = seen(frame, exact, (float)column + u[at], (float)row + v[at]);
}

__kernel void Prolong(read_only image2d_t coarse, __global float* fine, float ratio_x, float ratio_y, float scale,
                      int exact, int rows, int columns) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    fine[(long)row * columns + column] =
        scale * seen(coarse, exact, position(column, ratio_x), position(row, ratio_y));
}
#endif

float slope(__global const float* frame, int row, int column, int dy, int dx, int rows, int columns) {
#define PIXEL(steps) frame[(long)mirrored(row + (steps) * dy, rows) * columns + mirrored(column + (steps) * dx, columns)]
    return slope_of(PIXEL(-2), PIXEL(-1), PIXEL(1), PIXEL(2));
}

__kernel void Linearise(__global const float* source, __global const float* warped, __global float* a, __global float* b,
                        __global float* c, int rows, int columns, int pitch, float alpha, int grid_rows,
                        int grid_columns) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    const float x = 0.5f * (slope(source, row, column, 0, 1, rows, columns) + slope(warped, row, column, 0, 1, rows, columns));
    const float y = 0.5f * (slope(source, row, column, 1, 0, rows, columns) + slope(warped, row, column, 1, 0, rows, columns));
    const float scale = scale_of(alpha, x, y);
    const long from = (long)row * columns + column, to = (long)row * pitch + column;
    a[to] = scale * x;
    b[to] = scale * y;
    c[to] = scale * (warped[from] - source[from]);
}

__kernel void Relax(__global const float* du, __global const float* dv, __global const float* a, __global const float* b,
                    __global const float* c, __global float* du_after, __global float* dv_after, int rows, int columns,
                    int pitch, int iterations, int grid_rows, int grid_columns) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= rows) return;
    const long at = (long)row * pitch + column;
    const long above = row > 0 ? at - pitch : at, below = row + 1 < rows ? at + pitch : at;
    const long left = column > 0 ? at - 1 : at, right = column + 1 < columns ? at + 1 : at;
    const Flow next = relaxed(mean_of(du[above], du[left], du[right], du[below]),
                              mean_of(dv[above], dv[left], dv[right], dv[below]), a[at], b[at], c[at]);
    du_after[at] = next.u;
    dv_after[at] = next.v;
}

__kernel void Update(__global float* u, __global float* v, __global const float* du, __global const float* dv, int columns,
                     int pitch, int grid_rows, int grid_columns) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= columns || row >= grid_rows) return;
    const long to = (long)row * columns + column, from = (long)row * pitch + column;
    u[to] += du[from];
    v[to] += dv[from];
}

__kernel void Clear(__global float* u, __global float* v, long size) {
    const long at = get_global_id(0);
    if (at >= size) return;
    u[at] = 0.0f;
    v[at] = 0.0f;
}
