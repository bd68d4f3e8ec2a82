// apps/coexec/gaussian.cl - gaussian.kernels.hpp in OpenCL C.
typedef struct {
    int rows, columns, width;
} Shape;

#define HEADRACE_PARAMETERS                                                                                  \
    __global const float* image, __global const float* filter, __global float* blurred, Shape shape
#define HEADRACE_ARGUMENTS image, filter, blurred, shape

void hr_consume(HrLane* lane, ulong pixel, HEADRACE_PARAMETERS)
{
    const int radius = shape.width / 2;
    const int row = (uint)pixel / (uint)shape.columns, column = (uint)pixel % (uint)shape.columns;
    float sum = 0;
    for (int i = 0; i < shape.width; ++i) {
        __global const float* line = image + (long)clamp(row + i - radius, 0, shape.rows - 1) * shape.columns;
        __global const float* weights = filter + i * shape.width;
        for (int j = 0; j < shape.width; ++j)
            sum += weights[j] * line[clamp(column + j - radius, 0, shape.columns - 1)];
    }
    blurred[pixel] = sum;
}
