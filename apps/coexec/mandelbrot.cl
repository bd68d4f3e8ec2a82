// apps/coexec/mandelbrot.cl - mandelbrot.kernels.hpp in OpenCL C.
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    float left, bottom, step;
    uint side, iterations;
} Window;

#define HEADRACE_PARAMETERS __global uint* steps, Window window
#define HEADRACE_ARGUMENTS steps, window

void hr_consume(HrLane* lane, ulong pixel, HEADRACE_PARAMETERS)
{
    const uint number = (uint)pixel;
    const float x0 = window.left + window.step * (float)(number % window.side);
    const float y0 = window.bottom + window.step * (float)(number / window.side);
    float x = 0, y = 0;
    uint done = 0;
    while (done < window.iterations && x * x + y * y <= 4) {
        const float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        ++done;
    }
    steps[pixel] = done;
}
