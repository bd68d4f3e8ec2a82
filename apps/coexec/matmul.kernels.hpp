// apps/coexec/matmul.kernels.hpp - c = a b where no library is used. A work unit is an element of c.
// matmul.cl has it in OpenCL C.
#pragma once
#include <headrace/domains/view.hpp>

namespace coexec {

template <class Real>
struct Multiply {
    headrace::View<const Real> a, b; ///< [row, k], [k, column]
    headrace::View<Real> c;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t element) const {
        const std::uint64_t columns = c.extent.n[1], inner = a.extent.n[1];
        const Real* left =
            a.origin + static_cast<std::uint32_t>(element) / static_cast<std::uint32_t>(columns) * inner;
        const Real* right =
            b.origin + static_cast<std::uint32_t>(element) % static_cast<std::uint32_t>(columns);
        Real sum = 0;
        for (std::uint64_t k = 0; k < inner; ++k, right += columns) sum += left[k] * *right;
        c[element] = sum;
    }
};
using MultiplySingle = Multiply<float>;
using MultiplyDouble = Multiply<double>;

} // namespace coexec
