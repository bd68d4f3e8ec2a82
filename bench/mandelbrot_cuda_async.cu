// bench/mandelbrot_cuda_async.cu - the zoom in plain CUDA on one device: each host thread has a stream of its
// own, on which it computes a frame, and finishes that while the device works for the others.
#include "cuda_baseline.cuh"
#include "mandelbrot_baseline.hpp"
#include "mandelbrot_kernel.cuh"
#include "matrix_baseline.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace {

/// What one thread needs for a frame.
struct Place {
    int *device = nullptr, *host = nullptr;
    bench::Stream stream;
    bench::Event copied;

    explicit Place(std::size_t bytes) {
        CHECK(cudaMalloc(&device, bytes));
        CHECK(cudaMallocHost(&host, bytes));
    }
    ~Place() {
        cudaFree(device);
        cudaFreeHost(host);
    }
};

bench::MandelbrotResult zoom(bench::MandelbrotProblem& problem) {
    const std::string name = bench::use_device(problem.device);
    const std::size_t bytes = problem.pixels() * sizeof(int);
    const auto compute = [&](Place& place, std::size_t frame, int threshold) {
        launch_frame(problem, frame, threshold, place.device, place.stream);
        CHECK(cudaMemcpyAsync(place.host, place.device, bytes, cudaMemcpyDeviceToHost, place.stream));
        CHECK(cudaEventRecord(place.copied, place.stream));
        CHECK(cudaEventSynchronize(place.copied));
    };
    std::vector<std::unique_ptr<Place>> places;
    for (unsigned i = 0; i <= problem.host_threads;
         ++i) { // one more than can be finished at once: it computes
        places.push_back(std::make_unique<Place>(bytes));
        compute(*places.back(), 0, 1); // CUDA loads kernels at first use
        compute(*places.back(), problem.windows.size() - 1, 1);
    }

    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&](Place& place) {
        try {
            CHECK(cudaSetDevice(static_cast<int>(problem.device)));
            for (std::size_t frame; (frame = next++) < problem.windows.size();) {
                compute(place, frame, problem.threshold);
                problem.finish(frame, {place.host, problem.pixels()});
            }
        } catch (...) {
            const std::scoped_lock lock(mutex);
            failure = std::current_exception();
            next = problem.windows.size();
        }
    };
    const double seconds = bench::seconds_of([&] {
        std::vector<std::thread> threads;
        for (const auto& place : places) threads.emplace_back(work, std::ref(*place));
        for (std::thread& thread : threads) thread.join();
    });
    if (failure) std::rethrow_exception(failure);
    return {seconds, name};
}

} // namespace

int main(int argc, char** argv) {
    return bench::mandelbrot_baseline(argc, argv, "The zoom in plain, asynchronous CUDA", zoom);
}
