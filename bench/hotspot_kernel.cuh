// bench/hotspot_kernel.cuh - the kernel of headrace-hotspot in plain CUDA: several steps on squares of cells,
// a piece of a column in each thread's registers, the neighbours in shared memory.
#pragma once
#include "hotspot/factors.h"

constexpr int fused = 4, side = 64, kept = side - 2 * fused;
constexpr int strips = 4, cells = side / strips;

__device__ inline int mirrored(int i, int size) {
    while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
    return i;
}

__global__ void __launch_bounds__(side* strips)
    advance_squares(const float* power, const float* before, float* after, int size, int steps,
                    hotspot::Factors f) {
    __shared__ float plane[2][side][side];
    const int j = threadIdx.x, top = threadIdx.y * cells;
    const int left = max(j - 1, 0), right = min(j + 1, side - 1);
    const int above = max(top - 1, 0), below = min(top + cells, side - 1);
    const int x = blockIdx.x * kept + j - fused, y = blockIdx.y * kept + top - fused;
    const int column = mirrored(min(x, size + fused - 1), size);

    float now[cells], watts[cells];
    for (int i = 0; i < cells; ++i) {
        const size_t from = size_t(mirrored(min(y + i, size + fused - 1), size)) * size + column;
        now[i] = before[from];
        watts[i] = power[from];
        plane[0][top + i][j] = now[i];
    }
    for (int step = 0; step < steps; ++step) {
        const auto& shown = plane[step % 2];
        auto& next = plane[(step + 1) % 2];
        __syncthreads();
        float north = shown[above][j];
        for (int i = 0; i < cells; ++i) {
            const float here = now[i];
            const float south = i + 1 < cells ? now[i + 1] : shown[below][j];
            now[i] = here + f.heat * watts[i] + f.down * (north + south - 2 * here) +
                     f.across * (shown[top + i][left] + shown[top + i][right] - 2 * here) +
                     f.sink * (f.ambient - here);
            next[top + i][j] = now[i];
            north = here;
        }
    }
    if (j < fused || j >= side - fused || x >= size) return;
    for (int i = 0; i < cells; ++i)
        if (top + i >= fused && top + i < side - fused && y + i < size)
            after[size_t(y + i) * size + x] = now[i];
}
