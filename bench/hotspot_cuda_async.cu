// bench/hotspot_cuda_async.cu - Hotspot in plain CUDA on one device: a kernel, the copy of what the last one
// has made, and the saving of what was made before that go on at the same time.
#include "cuda_baseline.cuh"
#include "hotspot/chip.hpp"
#include "hotspot/saved.hpp"
#include "hotspot_kernel.cuh"
#include "matrix_baseline.hpp"

#include <algorithm>
#include <numeric>

namespace {

bench::MatrixResult simulate(const bench::MatrixProblem& problem) {
    const std::string device = bench::use_device(problem.device);
    const int size = problem.size;
    const std::size_t count = static_cast<std::size_t>(size) * size, bytes = count * sizeof(float);
    const hotspot::Factors factors = hotspot::factors_of(size);
    const unsigned squares = (size + kept - 1) / kept;
    const bench::DeviceFloats power = bench::device_floats(count);
    const bench::DeviceFloats heat[2] = {bench::device_floats(count), bench::device_floats(count)};
    const bench::PinnedFloats host[2] = {bench::pinned_floats(count), bench::pinned_floats(count)};
    const bench::Stream kernels, copies;
    const bench::Event computed[2], copied[2];
    hotspot::make_power(size, {host[0].get(), count});
    CHECK(cudaMemcpy(power.get(), host[0].get(), bytes, cudaMemcpyHostToDevice));
    hotspot::make_temperatures({host[0].get(), count});
    CHECK(cudaMemcpy(heat[0].get(), host[0].get(), bytes, cudaMemcpyHostToDevice));
    hotspot::Saved saved(count, static_cast<int>(problem.host_threads));

    const auto iterations = [&](int number) {
        const int launches = (number + fused - 1) / fused;
        for (int i = 0; i <= launches; ++i) {
            const int from = i % 2, to = 1 - from;
            if (i < launches) {
                CHECK(cudaStreamWaitEvent(kernels, copied[to])); // of the launch before the last
                advance_squares<<<dim3(squares, squares), dim3(side, strips), 0, kernels>>>(
                    power.get(), heat[from].get(), heat[to].get(), size, std::min(fused, number - i * fused),
                    factors);
                CHECK(cudaGetLastError());
                CHECK(cudaEventRecord(computed[to], kernels));
                CHECK(cudaStreamWaitEvent(copies, computed[to]));
                CHECK(cudaMemcpyAsync(host[to].get(), heat[to].get(), bytes, cudaMemcpyDeviceToHost, copies));
                CHECK(cudaEventRecord(copied[to], copies));
            }
            if (i > 0) { // what the last launch has made, while this one's is copied
                CHECK(cudaEventSynchronize(copied[from]));
                saved.take(host[from].get());
            }
        }
    };
    iterations(1); // CUDA loads kernels at first use; heat[0] stays as it is
    const double seconds = bench::seconds_of([&] { iterations(problem.steps); });
    const double sum = std::reduce(saved.cells().begin(), saved.cells().end(), 0.0);
    return {seconds, sum / static_cast<double>(count), device};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Hotspot in plain, asynchronous CUDA", simulate);
}
