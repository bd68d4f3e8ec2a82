// apps/coexec/cublas.cpp - rows of c = a b by cuBLAS, on NVIDIA's GPUs.
#include "blas_handles.hpp"
#include "matrices.hpp"

#include <cublas_v2.h>

#include <string>

namespace coexec {
namespace {

void check(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw headrace::Error{headrace::ErrorKind::device,
                              std::string(call) + ": " + cublasGetStatusString(status)}
            .with_code(status);
}

struct Library {
    using Handle = cublasHandle_t;
    static Handle create() {
        Handle handle = nullptr;
        check(cublasCreate(&handle), "cublasCreate");
        return handle;
    }
    static void make_current(int ordinal) noexcept { static_cast<void>(cudaSetDevice(ordinal)); }
    static void destroy(Handle handle) noexcept { static_cast<void>(cublasDestroy(handle)); }
};

cublasStatus_t multiply(cublasHandle_t handle, int rows, int columns, int inner, const float* a,
                        const float* b, float* c) {
    const float one = 1, zero = 0;
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner, &one, b, columns, a, inner,
                       &zero, c, columns);
}
cublasStatus_t multiply(cublasHandle_t handle, int rows, int columns, int inner, const double* a,
                        const double* b, double* c) {
    const double one = 1, zero = 0;
    return cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner, &one, b, columns, a, inner,
                       &zero, c, columns);
}

} // namespace

/// It knows matrices by columns only, so it gets them transposed: c' = b' a'.
template <class Real>
HostFunction multiply_by_cublas(const Matrices<Real>& matrices) {
    const auto handles = std::make_shared<BlasHandles<Library>>();
    return [m = matrices, handles](headrace::Task& task, const headrace::NativeStream& stream) {
        const Rows part = rows_of(task, m);
        const cublasHandle_t handle = handles->of(stream);
        check(cublasSetStream(handle, static_cast<cudaStream_t>(stream.stream)), "cublasSetStream");
        check(multiply(handle, static_cast<int>(part.count), static_cast<int>(m.columns()),
                       static_cast<int>(m.inner()), task.read(m.a).origin + part.first * m.inner(),
                       task.read(m.b).origin, task.write(m.c).origin + part.first * m.columns()),
              "cublas's gemm");
    };
}

template HostFunction multiply_by_cublas(const Matrices<float>&);
template HostFunction multiply_by_cublas(const Matrices<double>&);

} // namespace coexec
