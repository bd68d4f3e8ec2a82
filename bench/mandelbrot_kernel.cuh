// bench/mandelbrot_kernel.cuh - the kernel of headrace-mandelbrot in plain CUDA.
#pragma once

__global__ void __launch_bounds__(256)
    count_steps(int* steps, int threshold, float x1, float y1, float dx, float dy, int width, int height) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    const float x0 = x1 + dx * column, y0 = y1 + dy * row;
    float x = 0, y = 0;
    int taken = 0;
    while (x * x + y * y <= 4 && taken < threshold) {
        const float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        ++taken;
    }
    steps[size_t(row) * width + column] = taken;
}
