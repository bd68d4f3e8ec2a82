// apps/coexec/mandelbrot.h - how soon z <- z^2 + c leaves the circle of radius 2. C++ and OpenCL C read this
// file.
//
// Multiplications and additions are not fused, on any device: near the set's edge every bit counts, and all
// find the same. CMakeLists.txt says so to g++ and nvcc, which have no pragma for it.
#ifndef HEADRACE_COEXEC_MANDELBROT_H
#define HEADRACE_COEXEC_MANDELBROT_H
#include <headrace/devices/kernels/shared_c.h>

#if defined(__OPENCL_C_VERSION__)
    #pragma OPENCL FP_CONTRACT OFF
#elif defined(__clang__)
    #pragma clang fp contract(off)
#endif

HEADRACE_NAMESPACE(coexec)

/// A square of the plane.
typedef struct Window {
    float left, bottom, step; ///< the corner's pixel, and how far pixels are apart
    uint32_t side;            ///< pixels
    uint32_t iterations;      ///< at most
} Window;

HEADRACE_FUNCTION uint32_t escape_time(Window window, uint32_t pixel) {
    const float x0 = window.left + window.step * (float)(pixel % window.side);
    const float y0 = window.bottom + window.step * (float)(pixel / window.side);
    float x = 0, y = 0;
    uint32_t done = 0;
    while (done < window.iterations && x * x + y * y <= 4) {
        const float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        ++done;
    }
    return done;
}

HEADRACE_END_NAMESPACE

#endif
