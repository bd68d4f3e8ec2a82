// apps/matrices/multiply.kernels.hpp - c = a b: what it means, for every technology. Faster ways to the same
// are in multiply_cpu.hpp, multiply_simt.cuh and multiply.cl.
#pragma once
#include <headrace/kernel.hpp>

namespace matrices {

struct Multiply {
    headrace::In<float> a, b;
    headrace::Write<float> c;

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        float sum = 0;
        for (int k = 0; k < b.rows(); ++k) sum += a(at.y, k) * b(k, at.x);
        c[at] = sum;
    }
};

} // namespace matrices
