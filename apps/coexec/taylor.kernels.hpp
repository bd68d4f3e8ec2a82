// apps/coexec/taylor.kernels.hpp - sine and cosine by so many terms of their series. A work unit is an angle.
// taylor.cl has it in OpenCL C.
#pragma once
#include <headrace/domains/view.hpp>

namespace coexec {

struct Series {
    headrace::View<const float> angles;
    headrace::View<float> sines, cosines;
    std::uint32_t terms;

    /// From the last term to the first (Horner's scheme), which are the largest: no term is too small for a
    /// float, and few roundings matter.
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const float x = angles[i], square = x * x;
        float sine = 1, cosine = 1;
        for (std::uint32_t term = terms - 1; term > 0; --term) {
            const float even = 2 * static_cast<float>(term);
            cosine = 1 - square / (even * (even - 1)) * cosine;
            sine = 1 - square / (even * (even + 1)) * sine;
        }
        sines[i] = x * sine;
        cosines[i] = cosine;
    }
};

} // namespace coexec
