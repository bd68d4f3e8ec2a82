// apps/examples/batched_products.cpp - many products of small matrices, on each device by its own BLAS.
#include "batched_products.cl.hpp"
#include "batched_products.kernels.hpp"
#include "example.hpp"
#include <headrace/devices/cpu/arena.hpp>

#include <algorithm>
#include <cblas.h>
#include <map>
#ifdef EXAMPLE_HAS_CUBLAS
    #include <cublas_v2.h>
#endif

using namespace headrace;

int main(int argc, char** argv) {
    return example::run(argc, argv, 10'000, [](std::uint64_t n, Runtime& runtime) {
        const Extent all{{n, side, side}};
        Domain<float> a("a", all), b("b", all), c("c", all), serial("serial", all);
        // Small whole numbers: sums are the same in every order.
        for (std::uint64_t i = 0; float& x : a.fill()) x = float(i++ % 13) - 6;
        for (std::uint64_t i = 0; float& x : b.fill()) x = float(i++ % 7) - 3;

        Job job("batched products", n);
        job.reads(rows(a), rows(b)).writes(rows(c)); // a task has the matrices of its own units
        job.kernel([&](Task& t) { return Multiply{t.read(a), t.read(b), t.write(c)}; });
        const OpenClKernel twin{"batched_products.cl", std::string(embedded::batched_products_cl)};
        job.opencl(twin, [&](Task& t, OpenClArguments& arguments) {
            arguments.buffer(t.memory(a)).buffer(t.memory(b)).buffer(t.memory(c));
        });
        openblas_set_num_threads(1); // instead, the threads of the device divide the matrices among them
        job.host_function("cpu", [&](Task& t, const NativeStream& stream) {
            const auto times = [m = t.range().begin, x = t.read(a), y = t.read(b),
                                z = t.write(c)](unsigned i) {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, side, side, side, 1, &x(m + i, 0, 0),
                            side, &y(m + i, 0, 0), side, 0, &z(m + i, 0, 0), side);
            };
            static_cast<CpuArena*>(stream.stream)->run(unsigned(t.range().size()), times);
        });
#ifdef EXAMPLE_HAS_CUBLAS
        job.host_function("cuda", [&](Task& t, const NativeStream& stream) {
            thread_local std::map<void*, cublasHandle_t> handles; // kept, since to make one takes long
            cublasHandle_t& handle = handles[stream.stream];
            if (!handle) cublasCreate(&handle);
            cublasSetStream(handle, static_cast<cudaStream_t>(stream.stream));
            const std::uint64_t first = t.range().begin * area;
            const float one = 1, zero = 0, *x = &t.read(a)[first], *y = &t.read(b)[first];
            // cuBLAS has columns where these matrices have rows, so it computes c' = b' a'.
            if (cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, y, side,
                                          area, x, side, area, &zero, &t.write(c)[first], side, area,
                                          int(t.range().size())) != CUBLAS_STATUS_SUCCESS)
                throw std::runtime_error("cuBLAS failed");
        });
#endif
        runtime.submit(job).wait();
        std::printf("%zu products of %d x %d\n", n, side, side);
        const Multiply times{{a.gather().data(), all}, {b.gather().data(), all}, {serial.fill().data(), all}};
        for (std::uint64_t matrix = 0, lane = 0; matrix < n; ++matrix) times(lane, matrix);
        return std::ranges::equal(c.gather(), serial.gather());
    });
}
