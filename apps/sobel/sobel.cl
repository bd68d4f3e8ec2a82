// apps/sobel/sobel.cl - sobel.kernels.hpp in OpenCL C.

#include "magnitude.h"
#include "video/planes.h"

typedef struct {
    Plane plane[VIDEO_MOST_PLANES];
} Planes;

uchar edge(__global const uchar* at, int columns) {
    __global const uchar* const above = at - columns;
    __global const uchar* const below = at + columns;
    const int across = above[1] + 2 * at[1] + below[1] - above[-1] - 2 * at[-1] - below[-1];
    const int down = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
    return magnitude(across, down);
}

/// Sixteen neighbours at once, which is what processors have instructions for; as magnitude.h.
uchar16 edges_of_16(__global const uchar* at, int columns) {
    __global const uchar* const above = at - columns;
    __global const uchar* const below = at + columns;
    const short16 above_left = convert_short16(vload16(0, above - 1));
    const short16 above_right = convert_short16(vload16(0, above + 1));
    const short16 below_left = convert_short16(vload16(0, below - 1));
    const short16 below_right = convert_short16(vload16(0, below + 1));
    const short16 from_left = convert_short16(vload16(0, at + 1)) - convert_short16(vload16(0, at - 1));
    const short16 from_above = convert_short16(vload16(0, below)) - convert_short16(vload16(0, above));
    const short16 falling = below_right - above_left, rising = above_right - below_left;
    const int16 across = convert_int16(falling + rising + (short)2 * from_left);
    const int16 down = convert_int16(falling - rising + (short)2 * from_above);
    return convert_uchar16(min(sqrt(convert_float16(across * across + down * down) + 0.5f), 255.0f));
}

__kernel void Sobel(__global const uchar* frame, __global uchar* edges, const Planes planes, int lines,
                    int strips) {
    const int strip = 16;
    const int begin = get_global_id(0) * strip;
    if (get_global_id(1) >= lines) return;
    const Row row = row_of(planes.plane, get_global_id(1));
    const bool is_inner = is_inner_row(&row, 1);
    if (is_inner && begin > 0 && begin + strip < row.columns) {
        vstore16(edges_of_16(frame + row.first + begin, row.columns), 0, edges + row.first + begin);
        return;
    }
    for (int x = begin; x < begin + strip && x < row.columns; ++x)
        edges[row.first + x] =
            is_inner && x > 0 && x < row.columns - 1 ? edge(frame + row.first + x, row.columns) : 0;
}
