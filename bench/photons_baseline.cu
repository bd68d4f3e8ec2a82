// bench/photons_baseline.cu - see photons_baseline.hpp.
#include "cuda_baseline.cuh"
#include "fluorescence/fluorescence.kernels.hpp"
#include "photons_baseline.hpp"

namespace bench {
namespace {

using namespace fluorescence;

constexpr unsigned threads = 128; // a block; long packets then keep few others waiting

/// Adds to sums in device memory.
struct PlainLane {
    template <class Find>
    __device__ void add(std::uint32_t, std::int64_t amount, Find&& find) {
        headrace::atomic_add(find(), static_cast<std::uint64_t>(amount));
    }
};

template <class Grid>
__global__ void __launch_bounds__(threads) trace_packets(const TissueView view, std::uint64_t packets) {
    const std::uint64_t index = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (index >= packets) return;
    PlainLane lane;
    TracePacket<Grid>{view}(lane, index);
}

struct Free {
    void operator()(void* memory) const { cudaFree(memory); }
};

template <class T>
std::unique_ptr<T[], Free> zeroes(std::size_t count) {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return std::unique_ptr<T[], Free>(static_cast<T*>(memory));
}

} // namespace

PlainPhotons plain_photons(std::span<const Layer> layers, const Tissue& tissue, std::uint64_t packets) {
    const std::size_t around = std::size_t{tissue.rows} * tissue.columns;
    const auto on_device = zeroes<Layer>(layers.size());
    const std::size_t count = std::size_t{FLUORESCENCE_BATCHES} * tissue.totals;
    const auto totals = zeroes<std::uint64_t>(count),
               absorption = zeroes<std::uint64_t>(2 * around * tissue.depths),
               escape = zeroes<std::uint64_t>(4 * around * tissue.angles);
    CHECK(cudaMemcpy(on_device.get(), layers.data(), layers.size_bytes(), cudaMemcpyHostToDevice));
    const TissueView view{
        {on_device.get(), {}}, tissue, {{totals.get(), {}}, {absorption.get(), {}}, {escape.get(), {}}}};
    cudaEvent_t begin = nullptr, end = nullptr;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    const auto kernel = tissue.is_xyz != 0 ? trace_packets<Xyz> : trace_packets<Rz>;
    kernel<<<static_cast<unsigned>((packets + threads - 1) / threads), threads>>>(view, packets);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    PlainPhotons found{1e-3 * double{milliseconds}, std::vector<std::uint64_t>(count)};
    CHECK(
        cudaMemcpy(found.totals.data(), totals.get(), count * sizeof(std::uint64_t), cudaMemcpyDeviceToHost));
    return found;
}

} // namespace bench
