// apps/mandelbrot/mandelbrot.cl - mandelbrot.kernels.hpp in OpenCL C, for float and for double.
#pragma OPENCL FP_CONTRACT OFF // as everywhere else, so that every device counts the same steps

#define STEPS_TO_LEAVE(REAL)                                                                                 \
    int steps_to_leave_##REAL(REAL x0, REAL y0, int threshold)                                               \
    {                                                                                                        \
        REAL x = 0, y = 0;                                                                                   \
        int steps = 0;                                                                                       \
        while (x * x + y * y <= 4 && steps < threshold) {                                                    \
            const REAL next = x * x - y * y + x0;                                                            \
            y = 2 * x * y + y0;                                                                              \
            x = next;                                                                                        \
            ++steps;                                                                                         \
        }                                                                                                    \
        return steps;                                                                                        \
    }                                                                                                        \
    typedef struct {                                                                                         \
        REAL x, y, dx, dy;                                                                                   \
    } REAL##_raster;

STEPS_TO_LEAVE(float)
__kernel void Mandelbrot(__global int* steps, int threshold, float_raster raster, int rows, int columns)
{
    const int column = get_global_id(0), row = get_global_id(1);
    if (column < columns && row < rows)
        steps[(long)row * columns + column] =
            steps_to_leave_float(raster.x + raster.dx * column, raster.y + raster.dy * row, threshold);
}

#ifdef cl_khr_fp64 // else there are pictures down to the resolution of a float
    #pragma OPENCL EXTENSION cl_khr_fp64 : enable
STEPS_TO_LEAVE(double)
__kernel void DeepMandelbrot(__global int* steps, int threshold, double_raster raster, int rows, int columns)
{
    const int column = get_global_id(0), row = get_global_id(1);
    if (column < columns && row < rows)
        steps[(long)row * columns + column] =
            steps_to_leave_double(raster.x + raster.dx * column, raster.y + raster.dy * row, threshold);
}
#endif
