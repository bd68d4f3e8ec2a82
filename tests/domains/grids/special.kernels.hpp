// tests/domains/grids/special.kernels.hpp - kernels with implementations beside the generic source, or
// instead of it.
#pragma once
#include <headrace/domains/grids/roles.hpp>

namespace headrace::test {

/// No call operator: special_cpu.hpp, special_simt.cuh and special.cl each have an implementation.
struct Transpose {
    In<float> in;
    Write<float> out;
};

/// Who ran: the generic source, or what special_cpu.hpp has for the CPU.
struct Who {
    Write<int> out;
    HEADRACE_KERNEL void operator()(Index<1> at) const { out[at] = 1; }
};

} // namespace headrace::test
