// apps/coexec/rocblas.cpp - rows of c = a b by rocBLAS, on AMD's GPUs.
#include "blas_handles.hpp"
#include "matrices.hpp"

#include <rocblas/rocblas.h>

#include <string>

namespace coexec {
namespace {

void check(rocblas_status status, const char* call) {
    if (status != rocblas_status_success)
        throw headrace::Error{headrace::ErrorKind::device,
                              std::string(call) + ": " + rocblas_status_to_string(status)}
            .with_code(status);
}

struct Library {
    using Handle = rocblas_handle;
    static Handle create() {
        Handle handle = nullptr;
        check(rocblas_create_handle(&handle), "rocblas_create_handle");
        return handle;
    }
    static void make_current(int ordinal) noexcept { static_cast<void>(hipSetDevice(ordinal)); }
    static void destroy(Handle handle) noexcept { static_cast<void>(rocblas_destroy_handle(handle)); }
};

rocblas_status multiply(rocblas_handle handle, int rows, int columns, int inner, const float* a,
                        const float* b, float* c) {
    const float one = 1, zero = 0;
    return rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, columns, rows, inner, &one,
                         b, columns, a, inner, &zero, c, columns);
}
rocblas_status multiply(rocblas_handle handle, int rows, int columns, int inner, const double* a,
                        const double* b, double* c) {
    const double one = 1, zero = 0;
    return rocblas_dgemm(handle, rocblas_operation_none, rocblas_operation_none, columns, rows, inner, &one,
                         b, columns, a, inner, &zero, c, columns);
}

} // namespace

/// It knows matrices by columns only, so it gets them transposed: c' = b' a'.
template <class Real>
HostFunction multiply_by_rocblas(const Matrices<Real>& matrices) {
    const auto handles = std::make_shared<BlasHandles<Library>>();
    return [m = matrices, handles](headrace::Task& task, const headrace::NativeStream& stream) {
        const Rows part = rows_of(task, m);
        const rocblas_handle handle = handles->of(stream);
        check(rocblas_set_stream(handle, static_cast<hipStream_t>(stream.stream)), "rocblas_set_stream");
        check(multiply(handle, static_cast<int>(part.count), static_cast<int>(m.columns()),
                       static_cast<int>(m.inner()), task.read(m.a).origin + part.first * m.inner(),
                       task.read(m.b).origin, task.write(m.c).origin + part.first * m.columns()),
              "rocblas's gemm");
    };
}

template HostFunction multiply_by_rocblas(const Matrices<float>&);
template HostFunction multiply_by_rocblas(const Matrices<double>&);

} // namespace coexec
