// bench/chain_matmul_cuda_sync.cu - the chain of products in plain CUDA on one device, each operation after
// the one before it.
#include "cuda_baseline.cuh"
#include "matrices/multiply_launch.cuh"
#include "matrices/normalise.hpp"
#include "matrix_baseline.hpp"

#include <array>
#include <vector>

namespace {

constexpr int stages = 4;

bench::MatrixResult chain(const bench::MatrixProblem& problem) {
    const std::string device = bench::use_device(problem.device);
    const int n = problem.size;
    const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
    const float factor = 2.0f / static_cast<float>(n);
    const bench::PinnedFloats on_host = bench::pinned_floats(count);
    std::array<bench::DeviceFloats, stages> constants;
    std::array<bench::DeviceFloats, stages + 1> products;
    std::vector<float> normalised(count);
    matrices::HostThreads threads(problem.host_threads);
    for (bench::DeviceFloats& product : products) product = bench::device_floats(count);
    for (int stage = 0; stage < stages; ++stage) {
        constants[stage] = bench::device_floats(count);
        matrices::fill_uniform({on_host.get(), count}, 1, stage, factor, threads);
        CHECK(cudaMemcpy(constants[stage].get(), on_host.get(), bytes, cudaMemcpyHostToDevice));
    }

    double checksum = 0;
    const auto iterations = [&](int number) {
        for (int i = 0; i < number; ++i) {
            matrices::fill_uniform({on_host.get(), count}, 1, stages + i, factor, threads);
            CHECK(cudaMemcpy(products[0].get(), on_host.get(), bytes, cudaMemcpyHostToDevice));
            for (int stage = 0; stage < stages; ++stage) {
                matrices::multiply(
                    {products[stage].get(), constants[stage].get(), products[stage + 1].get(), n, n, n},
                    cudaStream_t{});
                CHECK(cudaGetLastError());
                CHECK(cudaDeviceSynchronize());
            }
            CHECK(cudaMemcpy(on_host.get(), products[stages].get(), bytes, cudaMemcpyDeviceToHost));
            checksum += matrices::normalise({on_host.get(), count}, normalised, threads).sum;
        }
    };
    iterations(2); // CUDA loads kernels at first use
    checksum = 0;
    const double seconds = bench::seconds_of([&] { iterations(problem.steps); });
    return {seconds, checksum, device};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "A chain of products in plain, synchronous CUDA", chain);
}
