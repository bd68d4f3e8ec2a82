// apps/coexec/mandelbrot.cl - mandelbrot.kernels.hpp in OpenCL C.
#include "mandelbrot.h"

#define HEADRACE_PARAMETERS __global uint* steps, Window window
#define HEADRACE_ARGUMENTS steps, window

void hr_consume(HrLane* lane, ulong pixel, HEADRACE_PARAMETERS) { steps[pixel] = escape_time(window, (uint)pixel); }
