// tests/domains/grids/special.cl - special.kernels.hpp in OpenCL C.

__kernel void Transpose(__global const float* in, __global float* out, int rows, int columns) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < columns && y < rows) out[x * rows + y] = in[y * columns + x];
}

__kernel void Who(__global int* out, long size) {
    const long x = get_global_id(0);
    if (x < size) out[x] = 1;
}
