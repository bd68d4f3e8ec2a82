// apps/examples/batched_products.kernels.hpp - a work unit is a product of two matrices, on devices without a
// BLAS.
#pragma once
#include <headrace/kernel.hpp>

constexpr int side = 16, area = side * side; ///< of a matrix

struct Multiply {
    headrace::View<const float> a, b;
    headrace::View<float> c;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t matrix) const {
        for (int i = 0; i < area; ++i) {
            float sum = 0;
            for (int k = 0; k < side; ++k) sum += a(matrix, i / side, k) * b(matrix, k, i % side);
            c(matrix, i / side, i % side) = sum;
        }
    }
};
