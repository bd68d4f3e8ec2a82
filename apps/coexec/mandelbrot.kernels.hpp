// apps/coexec/mandelbrot.kernels.hpp - a picture of the Mandelbrot set. A work unit is a pixel. mandelbrot.cl
// has it in OpenCL C.
#pragma once
#include "mandelbrot.h"
#include <headrace/domains/view.hpp>

namespace coexec {

struct EscapeTimes {
    headrace::View<std::uint32_t> steps; ///< [row, column]
    Window window;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t pixel) const {
        steps[pixel] = escape_time(window, static_cast<std::uint32_t>(pixel));
    }
};

} // namespace coexec
