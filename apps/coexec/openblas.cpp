// apps/coexec/openblas.cpp - rows of c = a b by OpenBLAS, on the processor.
#include "matrices.hpp"
#include <headrace/devices/cpu/arena.hpp>

#include <cblas.h>

namespace coexec {
namespace {

void multiply(blasint rows, blasint columns, blasint inner, const float* a, const float* b, float* c) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1, a, inner, b, columns, 0,
                c, columns);
}
void multiply(blasint rows, blasint columns, blasint inner, const double* a, const double* b, double* c) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1, a, inner, b, columns, 0,
                c, columns);
}

} // namespace

/// Its threads are its own, as many as the arena has, whose threads sleep meanwhile.
template <class Real>
HostFunction multiply_by_openblas(const Matrices<Real>& matrices) {
    return [m = matrices](headrace::Task& task, const headrace::NativeStream& stream) {
        const Rows part = rows_of(task, m);
        openblas_set_num_threads(
            static_cast<int>(static_cast<headrace::CpuArena*>(stream.stream)->threads()));
        multiply(static_cast<blasint>(part.count), static_cast<blasint>(m.columns()),
                 static_cast<blasint>(m.inner()), task.read(m.a).origin + part.first * m.inner(),
                 task.read(m.b).origin, task.write(m.c).origin + part.first * m.columns());
    };
}

template HostFunction multiply_by_openblas(const Matrices<float>&);
template HostFunction multiply_by_openblas(const Matrices<double>&);

} // namespace coexec
