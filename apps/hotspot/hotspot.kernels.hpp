// apps/hotspot/hotspot.kernels.hpp - heat that spreads over a chip: several steps of a five-point stencil in
// one kernel. hotspot_cuda.cuh, hotspot_cpu.hpp and hotspot.cl do the same by squares that stay in fast
// memory.
#pragma once
#include "factors.h"
#include <headrace/domains/grids/mirror.hpp>
#include <headrace/kernel.hpp>

namespace hotspot {

using headrace::mirrored; // no heat crosses the edge: a mirror image remains one, step after step

/// Steps of one launch.
inline constexpr int fused = 4;

/// `after` is `before` after `steps` steps, `fused` at most.
struct Hotspot {
    headrace::In<float> power, before;
    headrace::Write<float> after;
    int rows; ///< of the whole chip, for OpenCL C
    int steps;
    Factors factors;

    static constexpr auto block = headrace::grid(16, 16); // hotspot.cl counts on it

    /// From the square of cells whose heat can arrive, which shrinks by its rim with every step.
    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        constexpr int side = 2 * fused + 1;
        float now[side][side], next[side][side], watts[side][side];
        for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j) {
                const int y = mirrored(at.y + i - fused, rows);
                const int x = mirrored(at.x + j - fused, before.columns());
                now[i][j] = before(y, x);
                watts[i][j] = power(y, x);
            }
        for (int rim = 1; rim <= steps; ++rim) {
            for (int i = rim; i < side - rim; ++i)
                for (int j = rim; j < side - rim; ++j)
                    next[i][j] = stepped(factors, now[i][j], now[i - 1][j], now[i + 1][j], now[i][j - 1],
                                         now[i][j + 1], watts[i][j]);
            for (int i = rim; i < side - rim; ++i)
                for (int j = rim; j < side - rim; ++j) now[i][j] = next[i][j];
        }
        after[at] = now[fused][fused];
    }
};

} // namespace hotspot
