// apps/mandelbrot/mandelbrot_cpu.hpp - neighbouring pixels together, until the last of them has left: on x86
// processors with AVX2. Others run the generic source.
#pragma once
#include <headrace/devices/cpu/arena.hpp>

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
namespace mandelbrot {

/// One register of `Real`s, and one of the integers that are as wide, which masks are made of.
template <class Real>
struct Vectors;
template <>
struct Vectors<float> {
    using Reals [[gnu::vector_size(32)]] = float;
    using Integers [[gnu::vector_size(32)]] = std::int32_t;
};
template <>
struct Vectors<double> {
    using Reals [[gnu::vector_size(32)]] = double;
    using Integers [[gnu::vector_size(32)]] = std::int64_t;
};

/// A row of the picture. On each pixel the same operations as steps_to_leave, so that the results are the
/// same.
template <class Real>
[[gnu::target("avx2")]] void steps_of_row(const Raster<Real>& raster, Real row, int threshold, int columns,
                                          int* out) {
    using Reals = typename Vectors<Real>::Reals;
    using Integers = typename Vectors<Real>::Integers;
    constexpr int lanes = sizeof(Reals) / sizeof(Real);
    constexpr int together = 4; // registers: one computes while the results of the others are under way
    const Real y0 = raster.y + raster.dy * row;
    for (int first = 0; first < columns; first += together * lanes) {
        Reals x0[together], x[together] = {}, y[together] = {};
        Integers inside[together], steps[together] = {};
        for (int i = 0; i < together; ++i) {
            for (int j = 0; j < lanes; ++j)
                x0[i][j] = raster.x + raster.dx * static_cast<Real>(first + i * lanes + j);
            inside[i] = steps[i] == 0;
        }
        for (int step = 0; step < threshold; ++step) {
            for (int i = 0; i < together; ++i) {
                inside[i] &= x[i] * x[i] + y[i] * y[i] <= 4;
                steps[i] -= inside[i]; // true is -1
                const Reals next = x[i] * x[i] - y[i] * y[i] + x0[i];
                y[i] = 2 * x[i] * y[i] + y0;
                x[i] = next;
            }
            if (step % 8 != 0) continue; // asking costs more than some steps for nothing
            const Integers any = (inside[0] | inside[1]) | (inside[2] | inside[3]);
            bool stay = false;
            for (int j = 0; j < lanes; ++j) stay |= any[j] != 0;
            if (!stay) break;
        }
        for (int i = 0; i < std::min(columns - first, together * lanes); ++i)
            out[first + i] = static_cast<int>(steps[i / lanes][i % lanes]);
    }
}

template <class Real>
void specialise(headrace::technology::Cpu, headrace::Implementations<CountSteps<Real>>& all) {
    if (!__builtin_cpu_supports("avx2")) return;
    all.on("cpu",
           [](const CountSteps<Real>& k, headrace::Grid<2> grid, const headrace::NativeStream& stream) {
               // By single rows: those through the middle of the set take longest.
               static_cast<headrace::CpuArena*>(stream.stream)
                   ->run(static_cast<unsigned>(grid.size(0)), [&](unsigned i) {
                       const std::int64_t row = grid.first + i, columns = k.steps.columns();
                       steps_of_row(k.raster, static_cast<Real>(row), k.threshold, static_cast<int>(columns),
                                    k.steps.data() + row * columns);
                   });
           });
}

} // namespace mandelbrot
#endif
