// apps/examples/batched_products.cl - batched_products.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global const float *a, __global const float *b, __global float *c
#define HEADRACE_ARGUMENTS a, b, c

#define SIDE 16

void hr_consume(HrLane* lane, ulong matrix, HEADRACE_PARAMETERS) {
    const ulong first = matrix * SIDE * SIDE;
    for (uint row = 0; row < SIDE; ++row)
        for (uint column = 0; column < SIDE; ++column) {
            float sum = 0;
            for (uint k = 0; k < SIDE; ++k) sum += a[first + row * SIDE + k] * b[first + k * SIDE + column];
            c[first + row * SIDE + column] = sum;
        }
}
