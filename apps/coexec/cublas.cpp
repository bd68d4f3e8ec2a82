// apps/coexec/cublas.cpp - rows of c = a b by cuBLAS, on NVIDIA's GPUs.
#include "blas_handles.hpp"
#include "matrices.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <string>

namespace coexec {
namespace {

/// What is used of cuBLAS. It is opened for the first product and not with the program: its constructors take
/// half a second and 230 MB, with a GPU and without.
class CuBlas {
public:
    static const CuBlas& instance() {
        static const CuBlas only;
        return only;
    }

    decltype(&cublasGetStatusString) text_of_status =
        find<decltype(&cublasGetStatusString)>("cublasGetStatusString");
    decltype(&cublasCreate) create = find<decltype(&cublasCreate)>("cublasCreate_v2");
    decltype(&cublasDestroy) destroy = find<decltype(&cublasDestroy)>("cublasDestroy_v2");
    decltype(&cublasSetStream) set_stream = find<decltype(&cublasSetStream)>("cublasSetStream_v2");
    decltype(&cublasSgemm) multiply_single = find<decltype(&cublasSgemm)>("cublasSgemm_v2");
    decltype(&cublasDgemm) multiply_double = find<decltype(&cublasDgemm)>("cublasDgemm_v2");

private:
    /// The system's, or where the compiler's was. Never closed: its threads run its code.
    static void* library() {
        static void* const opened = [] {
            const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
            void* found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (!found) found = dlopen(COEXEC_CUBLAS_FILE, RTLD_NOW | RTLD_LOCAL);
            if (!found)
                throw headrace::Error{headrace::ErrorKind::unsupported,
                                      std::string("cuBLAS cannot be opened: ") + dlerror()};
            return found;
        }();
        return opened;
    }
    template <class Function>
    static Function find(const char* name) {
        void* const found = dlsym(library(), name);
        if (!found)
            throw headrace::Error{headrace::ErrorKind::unsupported, std::string("cuBLAS lacks ") + name};
        return reinterpret_cast<Function>(found);
    }
};

void check(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw headrace::Error{headrace::ErrorKind::device,
                              std::string(call) + ": " + CuBlas::instance().text_of_status(status)}
            .with_code(status);
}

struct Library {
    using Handle = cublasHandle_t;
    static Handle create() {
        Handle handle = nullptr;
        check(CuBlas::instance().create(&handle), "cublasCreate");
        return handle;
    }
    static void make_current(int ordinal) noexcept { static_cast<void>(cudaSetDevice(ordinal)); }
    static void destroy(Handle handle) noexcept { static_cast<void>(CuBlas::instance().destroy(handle)); }
};

cublasStatus_t multiply(cublasHandle_t handle, int rows, int columns, int inner, const float* a,
                        const float* b, float* c) {
    const float one = 1, zero = 0;
    return CuBlas::instance().multiply_single(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner, &one, b,
                                              columns, a, inner, &zero, c, columns);
}
cublasStatus_t multiply(cublasHandle_t handle, int rows, int columns, int inner, const double* a,
                        const double* b, double* c) {
    const double one = 1, zero = 0;
    return CuBlas::instance().multiply_double(handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner, &one, b,
                                              columns, a, inner, &zero, c, columns);
}

} // namespace

/// It knows matrices by columns only, so it gets them transposed: c' = b' a'.
template <class Real>
HostFunction multiply_by_cublas(const Matrices<Real>& matrices) {
    const auto handles = std::make_shared<BlasHandles<Library>>();
    return [m = matrices, handles](headrace::Task& task, const headrace::NativeStream& stream) {
        const Rows part = rows_of(task, m);
        const cublasHandle_t handle = handles->of(stream);
        check(CuBlas::instance().set_stream(handle, static_cast<cudaStream_t>(stream.stream)),
              "cublasSetStream");
        check(multiply(handle, static_cast<int>(part.count), static_cast<int>(m.columns()),
                       static_cast<int>(m.inner()), task.read(m.a).origin + part.first * m.inner(),
                       task.read(m.b).origin, task.write(m.c).origin + part.first * m.columns()),
              "cublas's gemm");
    };
}

template HostFunction multiply_by_cublas(const Matrices<float>&);
template HostFunction multiply_by_cublas(const Matrices<double>&);

} // namespace coexec
