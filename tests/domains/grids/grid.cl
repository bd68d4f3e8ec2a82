// tests/domains/grids/grid.cl - grid.kernels.hpp in OpenCL C.

__kernel void Number1(__global long* out, long offset, long size) {
    const long x = get_global_id(0);
    if (x < size) out[x] = x + offset;
}

__kernel void Number2(__global int* out, int rows, int columns) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < columns && y < rows) out[y * columns + x] = 1000 * y + x;
}

__kernel void Number3(__global int* out, int planes, int rows, int columns) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < columns && y < rows && z < planes)
        out[(z * rows + y) * columns + x] = 10000 * z + 100 * y + x;
}

__kernel void Blur(__global const uchar* in, __global uchar* out, int rows, int columns) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= columns || y >= rows) return;
    const int up = y > 0 ? y - 1 : 0, down = y + 1 < rows ? y + 1 : y;
    const int left = x > 0 ? x - 1 : 0, right = x + 1 < columns ? x + 1 : x;
    const int sum = in[y * columns + x] + in[up * columns + x] + in[down * columns + x] +
                    in[y * columns + left] + in[y * columns + right];
    out[y * columns + x] = sum / 5;
}

__kernel void Around1(__global const int* in, __global int* out, long size) {
    const long x = get_global_id(0);
    if (x < size) out[x] = 1000 * in[max(x - 2, 0L)] + in[min(x + 2, size - 1)];
}

__kernel void Around3(__global const int* in, __global int* out, int planes, int end, int rows, int columns) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= columns || y >= rows || z >= end) return;
    const int before = (max(z - 1, 0) * rows + max(y - 1, 0)) * columns + max(x - 1, 0);
    const int behind =
        (min(z + 1, planes - 1) * rows + min(y + 1, rows - 1)) * columns + min(x + 1, columns - 1);
    out[(z * rows + y) * columns + x] = 1000 * in[before] + in[behind];
}

__kernel void Odd(__global float* out, float value, long size) {
    const long x = get_global_id(0);
    if (x < size && x % 2 != 0) out[x] = value;
}

__kernel void AddTo(__global const float* in, __global float* sum, long size) {
    const long x = get_global_id(0);
    if (x < size) sum[x] += in[x];
}
