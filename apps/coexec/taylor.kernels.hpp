// apps/coexec/taylor.kernels.hpp - sines and cosines by their series. A work unit is an angle. taylor.cl has
// it in OpenCL C.
#pragma once
#include "taylor.h"
#include <headrace/domains/view.hpp>

namespace coexec {

struct Series {
    headrace::View<const float> angles;
    headrace::View<float> sines, cosines;
    std::uint32_t terms;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const SineCosine both = sine_and_cosine(angles[i], terms);
        sines[i] = both.sine;
        cosines[i] = both.cosine;
    }
};

} // namespace coexec
