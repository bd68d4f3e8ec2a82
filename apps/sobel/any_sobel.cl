// apps/sobel/any_sobel.cl - any_sobel.kernels.hpp in OpenCL C.

typedef struct {
    int rows, columns;
} Plane;
typedef struct {
    Plane plane[4];
} Planes;

int sample(__global const uchar* frame, int sample_bytes, long at) {
    if (sample_bytes == 1) return frame[at];
    return frame[2 * at] | frame[2 * at + 1] << 8;
}

/// Why this is exact: any_sobel.kernels.hpp.
uint cut_magnitude(int across, int down, int most) {
    const ulong a = min(abs(across), (uint)most), b = min(abs(down), (uint)most), square = a * a + b * b;
    const ulong top = most;
    if (square >= top * top) return most;
    ulong root = (ulong)sqrt((float)square);
    while (root * root > square) --root;
    while ((root + 1) * (root + 1) <= square) ++root;
    return root;
}

__kernel void AnySobel(__global const uchar* frame, __global uchar* edges, const Planes planes, int sample_bytes,
                       int most, int step, int lines, int strips) {
    const int strip = 16;
    const int begin = get_global_id(0) * strip;
    int y = get_global_id(1);
    if (y >= lines) return;
    long row = 0;
    int rows = planes.plane[0].rows, columns = planes.plane[0].columns;
    for (int p = 1; p < 4; ++p)
        if (y >= rows) {
            row += (long)rows * columns;
            y -= rows;
            rows = planes.plane[p].rows;
            columns = planes.plane[p].columns;
        }
    row += (long)y * columns;
    const bool is_inner_row = y >= step && y < rows - step;
    for (int x = begin; x < begin + strip && x < columns; ++x) {
        const long at = row + x;
        uint strength = 0;
        if (is_inner_row && x > 0 && x < columns - 1) {
            int around[3][3];
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    around[i][j] = sample(frame, sample_bytes, at + (long)(i - 1) * step * columns + j - 1);
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
