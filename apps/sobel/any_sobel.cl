// apps/sobel/any_sobel.cl - any_sobel.kernels.hpp in OpenCL C.

#include "magnitude.h"
#include "video/planes.h"

typedef struct {
    Plane plane[VIDEO_MOST_PLANES];
} Planes;

int sample(__global const uchar* frame, int sample_bytes, long at) {
    if (sample_bytes == 1) return frame[at];
    return frame[2 * at] | frame[2 * at + 1] << 8;
}

__kernel void AnySobel(__global const uchar* frame, __global uchar* edges, const Planes planes, int sample_bytes,
                       int most, int step, int lines, int strips) {
    const int strip = 16;
    const int begin = get_global_id(0) * strip;
    if (get_global_id(1) >= lines) return;
    const Row row = row_of(planes.plane, get_global_id(1));
    const bool is_inner = is_inner_row(&row, step);
    for (int x = begin; x < begin + strip && x < row.columns; ++x) {
        const long at = row.first + x;
        uint strength = 0;
        if (is_inner && x > 0 && x < row.columns - 1) {
            int around[3][3];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    around[i][j] = sample(frame, sample_bytes, at + (long)(i - 1) * step * row.columns + j - 1);
            strength = cut_magnitude(around[0][2] + 2 * around[1][2] + around[2][2] - around[0][0] -
                                         2 * around[1][0] - around[2][0],
                                     around[2][0] + 2 * around[2][1] + around[2][2] - around[0][0] -
                                         2 * around[0][1] - around[0][2],
                                     most);
        }
        if (sample_bytes == 1) {
            edges[at] = strength;
        } else {
            edges[2 * at] = strength;
            edges[2 * at + 1] = strength >> 8;
        }
    }
}
