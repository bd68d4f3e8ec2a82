// apps/video/planes.h - the planes of a frame, as kernels see them. C++ and OpenCL C read this file;
// planes.hpp has what the host asks of them.
#ifndef HEADRACE_VIDEO_PLANES_H
#define HEADRACE_VIDEO_PLANES_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(video)

/// A rectangle of samples, row after row.
typedef struct Plane {
    int32_t rows, columns;
} Plane;

#define VIDEO_MOST_PLANES 4

/// One row of a frame: where it begins, its number in its plane, and the plane's size.
typedef struct Row {
    int64_t first;
    int y, rows, columns;
} Row;

/// The row with that number, counted through all planes.
HEADRACE_FUNCTION Row row_of(const Plane* plane, int number) {
    Row row = {0, number, plane[0].rows, plane[0].columns};
    // Of fixed length: GPUs have no place for an index that varies.
    for (int p = 1; p < VIDEO_MOST_PLANES; ++p)
        if (row.y >= row.rows) {
            row.first += (int64_t)row.rows * row.columns;
            row.y -= row.rows;
            row.rows = plane[p].rows;
            row.columns = plane[p].columns;
        }
    row.first += (int64_t)row.y * row.columns;
    return row;
}
/// There are `step` rows above and below it.
HEADRACE_FUNCTION bool is_inner_row(const Row* row, int step_of_rows) {
    return row->y >= step_of_rows && row->y < row->rows - step_of_rows;
}

HEADRACE_END_NAMESPACE

#endif
