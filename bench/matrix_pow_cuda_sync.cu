// bench/matrix_pow_cuda_sync.cu - Matrix Pow in plain CUDA, each operation after the one before it.
#include "cuda_baseline.cuh"
#include "matrices/multiply_launch.cuh"
#include "matrices/normalise.hpp"
#include "matrix_baseline.hpp"

#include <vector>

namespace {

bench::MatrixResult raise(const bench::MatrixProblem& problem) {
    const std::string device = bench::use_device(problem.device);
    const int n = problem.size;
    const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
    const bench::DeviceFloats a = bench::device_floats(count);
    const bench::DeviceFloats c[2] = {bench::device_floats(count), bench::device_floats(count)};
    const bench::PinnedFloats on_host = bench::pinned_floats(count);
    std::vector<float> normalised(count);
    matrices::HostThreads threads(problem.host_threads);

    matrices::fill_uniform({on_host.get(), count}, 1, 0, 2.0f / static_cast<float>(n), threads);
    CHECK(cudaMemcpy(a.get(), on_host.get(), bytes, cudaMemcpyHostToDevice));

    const auto steps = [&](int number) {
        const float* from = a.get();
        for (int i = 0; i < number; ++i) {
            float* const to = c[i % 2].get();
            matrices::multiply({from, a.get(), to, n, n, n}, cudaStream_t{});
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(on_host.get(), to, bytes, cudaMemcpyDeviceToHost));
            matrices::normalise({on_host.get(), count}, normalised, threads);
            from = to;
        }
    };
    steps(2); // CUDA loads kernels at first use
    const double seconds = bench::seconds_of([&] { steps(problem.steps); });
    return {seconds, matrices::checksum(normalised, threads), device};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Matrix Pow in plain, synchronous CUDA", raise);
}
