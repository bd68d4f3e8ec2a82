// apps/coexec/matrices.hpp - the matrices of c = a b, and libraries that multiply them. Which of these a
// build has, CMake says by COEXEC_HAS_...; where it lacks one, its function is not there.
#pragma once
#include <headrace/headrace.hpp>

#include <cstdint>
#include <functional>

namespace coexec {

/// Row-major: a [rows x inner], b [inner x columns], c [rows x columns].
template <class Real>
struct Matrices {
    headrace::Domain<Real> a, b, c;

    [[nodiscard]] std::uint64_t rows() const { return c.extent().n[0]; }
    [[nodiscard]] std::uint64_t columns() const { return c.extent().n[1]; }
    [[nodiscard]] std::uint64_t inner() const { return a.extent().n[1]; }
};

/// A task's rows of c. Tasks are of whole rows, though work units are elements.
struct Rows {
    std::uint64_t first, count;
};
template <class Real>
[[nodiscard]] Rows rows_of(const headrace::Task& task, const Matrices<Real>& matrices) {
    const headrace::IndexRange range = task.range();
    return {range.begin / matrices.columns(), range.size() / matrices.columns()};
}

using HostFunction = std::function<void(headrace::Task&, const headrace::NativeStream&)>;

// Real: float, double. Errors of the library fail the task: device, with the library's code.
/// OpenBLAS, on as many threads as the device's arena has.
template <class Real>
[[nodiscard]] HostFunction multiply_by_openblas(const Matrices<Real>& matrices);
template <class Real>
[[nodiscard]] HostFunction multiply_by_cublas(const Matrices<Real>& matrices);
template <class Real>
[[nodiscard]] HostFunction multiply_by_rocblas(const Matrices<Real>& matrices);
template <class Real>
[[nodiscard]] HostFunction multiply_by_clblast(const Matrices<Real>& matrices);

} // namespace coexec
