// bench/mandelbrot_cuda_sync.cu - the zoom in plain CUDA on one device: a frame is computed, copied and
// finished before the next one.
#include "cuda_baseline.cuh"
#include "mandelbrot_baseline.hpp"
#include "mandelbrot_kernel.cuh"
#include "matrix_baseline.hpp"

namespace {

bench::MandelbrotResult zoom(bench::MandelbrotProblem& problem) {
    const std::string name = bench::use_device(problem.device);
    const std::size_t bytes = problem.pixels() * sizeof(int);
    int *device = nullptr, *host = nullptr;
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMallocHost(&host, bytes));
    const auto compute = [&](std::size_t frame, int threshold) {
        launch_frame(problem, frame, threshold, device, nullptr);
        CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    };
    compute(0, 1); // CUDA loads kernels at first use
    compute(problem.windows.size() - 1, 1);
    const double seconds = bench::seconds_of([&] {
        for (std::size_t frame = 0; frame < problem.windows.size(); ++frame) {
            compute(frame, problem.threshold);
            problem.finish(frame, {host, problem.pixels()});
        }
    });
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return {seconds, name};
}

} // namespace

int main(int argc, char** argv) {
    return bench::mandelbrot_baseline(argc, argv, "The zoom in plain, synchronous CUDA", zoom);
}
