// bench/mandelbrot_kernel.cuh - the kernels of headrace-mandelbrot in plain CUDA, and how a frame is
// launched.
#pragma once
#include "cuda_baseline.cuh"
#include "mandelbrot_baseline.hpp"

template <class Real>
__global__ void __launch_bounds__(256)
    count_steps(int* steps, int threshold, mandelbrot::Raster<Real> raster, int width, int height) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    const Real x0 = raster.x + raster.dx * column, y0 = raster.y + raster.dy * row;
    Real x = 0, y = 0;
    int taken = 0;
    while (x * x + y * y <= 4 && taken < threshold) {
        const Real next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        ++taken;
    }
    steps[size_t(row) * width + column] = taken;
}

inline void launch_frame(const bench::MandelbrotProblem& problem, std::size_t frame, int threshold,
                         int* steps, cudaStream_t stream) {
    const dim3 block(64, 4);
    const dim3 grid((problem.width + block.x - 1) / block.x, (problem.height + block.y - 1) / block.y);
    problem.with_raster(frame, [&](const auto& raster) {
        count_steps<<<grid, block, 0, stream>>>(steps, threshold, raster, problem.width, problem.height);
    });
    CHECK(cudaGetLastError());
}
