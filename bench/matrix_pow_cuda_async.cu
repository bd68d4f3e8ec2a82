// bench/matrix_pow_cuda_async.cu - Matrix Pow in plain CUDA: the product of a step runs beside the copy and
// the normalisation of those before it.
//
// Two streams take turns with the copies to the host; each copies, normalises and so frees its pinned buffer
// for its next copy. Everything is enqueued at once, and no thread of the program waits before the end.
#include "cuda_baseline.cuh"
#include "matrices/multiply_launch.cuh"
#include "matrices/normalise.hpp"
#include "matrix_baseline.hpp"

#include <span>
#include <vector>

namespace {

/// What a host function is called with.
struct Normalise {
    std::span<const float> from;
    std::span<float> to;
    matrices::HostThreads& threads;

    static void CUDART_CB call(void* task) {
        const auto& [from, to, threads] = *static_cast<const Normalise*>(task);
        matrices::normalise(from, to, threads);
    }
};

/// A matrix C on its way from its product to the host task.
struct Lane {
    bench::DeviceFloats c;
    bench::PinnedFloats on_host;
    bench::Stream stream;
    bench::Event multiplied, copied;

    explicit Lane(std::size_t count) : c(bench::device_floats(count)), on_host(bench::pinned_floats(count)) {}
};

bench::MatrixResult raise(const bench::MatrixProblem& problem) {
    const std::string device = bench::use_device(problem.device);
    const int n = problem.size;
    const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
    const bench::DeviceFloats a = bench::device_floats(count);
    Lane lanes[2] = {Lane(count), Lane(count)};
    const bench::Stream kernels;
    const bench::Event normalised_last;
    std::vector<float> normalised(count);
    matrices::HostThreads threads(problem.host_threads);
    Normalise tasks[2] = {{{lanes[0].on_host.get(), count}, normalised, threads},
                          {{lanes[1].on_host.get(), count}, normalised, threads}};

    matrices::fill_uniform({lanes[0].on_host.get(), count}, 1, 0, 2.0f / static_cast<float>(n), threads);
    CHECK(cudaMemcpy(a.get(), lanes[0].on_host.get(), bytes, cudaMemcpyHostToDevice));

    const auto steps = [&](int number) {
        const float* from = a.get();
        for (int i = 0; i < number; ++i) {
            Lane& lane = lanes[i % 2];
            CHECK(cudaStreamWaitEvent(kernels, lane.copied)); // of the product before the last
            matrices::multiply({from, a.get(), lane.c.get(), n, n, n}, kernels.native);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(lane.multiplied, kernels));

            CHECK(cudaStreamWaitEvent(lane.stream, lane.multiplied));
            CHECK(cudaMemcpyAsync(lane.on_host.get(), lane.c.get(), bytes, cudaMemcpyDeviceToHost,
                                  lane.stream));
            CHECK(cudaEventRecord(lane.copied, lane.stream));
            CHECK(cudaStreamWaitEvent(lane.stream, normalised_last)); // both write to the same matrix
            CHECK(cudaLaunchHostFunc(lane.stream, Normalise::call, &tasks[i % 2]));
            CHECK(cudaEventRecord(normalised_last, lane.stream));
            from = lane.c.get();
        }
        for (const Lane& lane : lanes) CHECK(cudaStreamSynchronize(lane.stream));
    };
    steps(2); // CUDA loads kernels at first use
    const double seconds = bench::seconds_of([&] { steps(problem.steps); });
    return {seconds, matrices::checksum(normalised, threads), device};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Matrix Pow in plain, asynchronous CUDA", raise);
}
