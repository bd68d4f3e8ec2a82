// apps/mandelbrot/mandelbrot.kernels.hpp - how soon z <- z^2 + c leaves the circle of radius 2, for every
// pixel of a window of the plane.
//
// Source  Y. Torres et al., "Supporting efficient overlapping of host-device operations for heterogeneous
//         programming with CtrlEvents", JPDC 2023, figures 2 and 3. Differs in: z is real, not an int
#pragma once
#include "window.hpp"
#include <headrace/kernel.hpp>

// Multiplications and additions are not fused, on any device: see README.md. CMakeLists.txt says the same to
// nvcc and g++, which have no pragma for it.
#if defined(__clang__)
    #pragma clang fp contract(off)
#endif

namespace mandelbrot {

/// Steps until z has left, `threshold` at most.
template <class Real>
HEADRACE_HOST_DEVICE int steps_to_leave(Real x0, Real y0, int threshold) {
    Real x = 0, y = 0;
    int steps = 0;
    while (x * x + y * y <= 4 && steps < threshold) {
        const Real next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        ++steps;
    }
    return steps;
}

template <class Real>
struct CountSteps {
    headrace::Write<int> steps;
    int threshold;
    Raster<Real> raster;

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        steps[at] = steps_to_leave(raster.x + raster.dx * static_cast<Real>(at.x),
                                   raster.y + raster.dy * static_cast<Real>(at.y), threshold);
    }
};
using Mandelbrot = CountSteps<float>;
using DeepMandelbrot = CountSteps<double>; ///< where neighbours would be the same float

} // namespace mandelbrot
