// bench/chain_matmul_cuda_async.cu - the chain of products in plain CUDA on one device: while one matrix is
// multiplied, the next is made and copied in, and the last copied out and normalised.
//
// Two sets of matrices take turns. The program's thread makes the matrices; normalising is a host function of
// the set's own stream, so that its pinned buffer is free for the next copy when it ends.
#include "cuda_baseline.cuh"
#include "matrices/multiply_launch.cuh"
#include "matrices/normalise.hpp"
#include "matrix_baseline.hpp"

#include <array>
#include <span>
#include <vector>

namespace {

constexpr int stages = 4;

/// What a host function is called with.
struct Normalise {
    std::span<const float> from;
    std::span<float> to;
    matrices::HostThreads& threads;
    double& checksum;

    static void CUDART_CB call(void* task) {
        const auto& [from, to, threads, checksum] = *static_cast<const Normalise*>(task);
        checksum += matrices::normalise(from, to, threads).sum;
    }
};

struct Set {
    bench::PinnedFloats in, out;
    std::array<bench::DeviceFloats, stages + 1> products;
    bench::Stream to_device, to_host;
    bench::Event arrived, multiplied, copied;

    explicit Set(std::size_t count) : in(bench::pinned_floats(count)), out(bench::pinned_floats(count)) {
        for (bench::DeviceFloats& product : products) product = bench::device_floats(count);
    }
};

bench::MatrixResult chain(const bench::MatrixProblem& problem) {
    const std::string device = bench::use_device(problem.device);
    const int n = problem.size;
    const std::size_t count = static_cast<std::size_t>(n) * n, bytes = count * sizeof(float);
    const float factor = 2.0f / static_cast<float>(n);
    Set sets[2] = {Set(count), Set(count)};
    std::array<bench::DeviceFloats, stages> constants;
    const bench::Stream kernels;
    const bench::Event normalised_last;
    std::vector<float> normalised(count);
    matrices::HostThreads threads(problem.host_threads);
    double checksum = 0;
    Normalise tasks[2] = {{{sets[0].out.get(), count}, normalised, threads, checksum},
                          {{sets[1].out.get(), count}, normalised, threads, checksum}};
    for (int stage = 0; stage < stages; ++stage) {
        constants[stage] = bench::device_floats(count);
        matrices::fill_uniform({sets[0].in.get(), count}, 1, stage, factor, threads);
        CHECK(cudaMemcpy(constants[stage].get(), sets[0].in.get(), bytes, cudaMemcpyHostToDevice));
    }

    const auto iterations = [&](int number) {
        for (int i = 0; i < number; ++i) {
            Set& set = sets[i % 2];
            CHECK(cudaEventSynchronize(set.arrived)); // what was made for it the last time
            matrices::fill_uniform({set.in.get(), count}, 1, stages + i, factor, threads);
            CHECK(cudaStreamWaitEvent(set.to_device, set.multiplied));
            CHECK(cudaMemcpyAsync(set.products[0].get(), set.in.get(), bytes, cudaMemcpyHostToDevice,
                                  set.to_device));
            CHECK(cudaEventRecord(set.arrived, set.to_device));

            CHECK(cudaStreamWaitEvent(kernels, set.arrived));
            CHECK(cudaStreamWaitEvent(kernels, set.copied));
            for (int stage = 0; stage < stages; ++stage) {
                matrices::multiply({set.products[stage].get(), constants[stage].get(),
                                    set.products[stage + 1].get(), n, n, n},
                                   kernels.native);
                CHECK(cudaGetLastError());
            }
            CHECK(cudaEventRecord(set.multiplied, kernels));

            CHECK(cudaStreamWaitEvent(set.to_host, set.multiplied));
            CHECK(cudaMemcpyAsync(set.out.get(), set.products[stages].get(), bytes, cudaMemcpyDeviceToHost,
                                  set.to_host));
            CHECK(cudaEventRecord(set.copied, set.to_host));
            CHECK(cudaStreamWaitEvent(set.to_host, normalised_last)); // both write to the same matrix
            CHECK(cudaLaunchHostFunc(set.to_host, Normalise::call, &tasks[i % 2]));
            CHECK(cudaEventRecord(normalised_last, set.to_host));
        }
        for (const Set& set : sets) CHECK(cudaStreamSynchronize(set.to_host));
    };
    iterations(2); // CUDA loads kernels at first use
    checksum = 0;
    const double seconds = bench::seconds_of([&] { iterations(problem.steps); });
    return {seconds, checksum, device};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "A chain of products in plain, asynchronous CUDA", chain);
}
