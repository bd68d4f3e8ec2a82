// tests/domains/grids/texture.cl - the twin of texture.kernels.hpp.
__kernel void SampleAt(read_only image2d_t picture, __global const float* points, __global float* filtered,
                       __global float* exact, int addressing, long count) {
    const size_t i = get_global_id(0);
    if (i >= count) return;
    filtered[i] = headrace_sample(picture, addressing, points[2 * i], points[2 * i + 1]);
    exact[i] = headrace_sample_exact(picture, addressing, points[2 * i], points[2 * i + 1]);
}

__kernel void Shift(read_only image2d_t picture, __global float* out, float dx, float dy, int rows, int columns) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < columns && y < rows)
        out[y * columns + x] = headrace_sample(picture, HEADRACE_CLAMP, x + dx, y + dy);
}

__kernel void Fill(__global float* out, float value, int rows, int columns) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < columns && y < rows) out[y * columns + x] = value;
}

__kernel void SampleArray(__global const float* pixels, int rows, int columns, __global const float* points,
                          __global float* exact, int addressing, long count) {
    const size_t i = get_global_id(0);
    if (i < count)
        exact[i] = headrace_sample_array(pixels, rows, columns, addressing, points[2 * i], points[2 * i + 1]);
}
