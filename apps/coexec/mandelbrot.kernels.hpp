// apps/coexec/mandelbrot.kernels.hpp - how soon z <- z^2 + c leaves the circle of radius 2. A work unit is a
// pixel. mandelbrot.cl has it in OpenCL C.
//
// Multiplications and additions are not fused, on any device: near the set's edge every bit counts, and all
// find the same. CMakeLists.txt says so to g++ and nvcc, which have no pragma for it.
#pragma once
#include <headrace/domains/view.hpp>

#if defined(__clang__)
    #pragma clang fp contract(off)
#endif

namespace coexec {

/// A square of the plane.
struct Window {
    float left, bottom, step; ///< the corner's pixel, and how far pixels are apart
    std::uint32_t side;       ///< pixels
    std::uint32_t iterations; ///< at most
};

struct EscapeTimes {
    headrace::View<std::uint32_t> steps; ///< [row, column]
    Window window;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t pixel) const {
        const auto number = static_cast<std::uint32_t>(pixel);
        const float x0 = window.left + window.step * static_cast<float>(number % window.side);
        const float y0 = window.bottom + window.step * static_cast<float>(number / window.side);
        float x = 0, y = 0;
        std::uint32_t done = 0;
        while (done < window.iterations && x * x + y * y <= 4) {
            const float next = x * x - y * y + x0;
            y = 2 * x * y + y0;
            x = next;
            ++done;
        }
        steps[pixel] = done;
    }
};

} // namespace coexec
