// bench/hotspot_cuda_sync.cu - Hotspot in plain CUDA on one device: a kernel, the copy of what it has made,
// and the saving of that, one after another.
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
    const bench::PinnedFloats host = bench::pinned_floats(count);
    hotspot::make_power(size, {host.get(), count});
    CHECK(cudaMemcpy(power.get(), host.get(), bytes, cudaMemcpyHostToDevice));
    hotspot::make_temperatures({host.get(), count});
    CHECK(cudaMemcpy(heat[0].get(), host.get(), bytes, cudaMemcpyHostToDevice));
    hotspot::Saved saved(count, static_cast<int>(problem.host_threads));

    const auto iterations = [&](int number) {
        for (int i = 0; i * fused < number; ++i) {
            advance_squares<<<dim3(squares, squares), dim3(side, strips)>>>(
                power.get(), heat[i % 2].get(), heat[1 - i % 2].get(), size,
                std::min(fused, number - i * fused), factors);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(host.get(), heat[1 - i % 2].get(), bytes, cudaMemcpyDeviceToHost));
            saved.take(host.get());
        }
    };
    iterations(1); // CUDA loads kernels at first use; heat[0] stays as it is
    const double seconds = bench::seconds_of([&] { iterations(problem.steps); });
    const double sum = std::reduce(saved.cells().begin(), saved.cells().end(), 0.0);
    return {seconds, sum / static_cast<double>(count), device};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Hotspot in plain, synchronous CUDA", simulate);
}
