// bench/photons_baseline.cu - see photons_baseline.hpp.
#include "cuda_launch.cuh"
#include "fluorescence/fluorescence.kernels.hpp"
#include "photons_baseline.hpp"

namespace bench {
namespace {

using namespace fluorescence;

constexpr unsigned threads = 128; // a block; long packets then keep few others waiting

/// Adds to sums in device memory.
struct PlainLane {
    template <class Find>
    __device__ void add(headrace::LocalSum, std::int64_t amount, Find&& find) {
        if (amount != 0) headrace::atomic_add(find(), static_cast<std::uint64_t>(amount));
    }
};

template <class Grid>
__global__ void __launch_bounds__(threads) trace_packets(const TissueView view, std::uint64_t packets) {
    const std::uint64_t index = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (index >= packets) return;
    PlainLane lane;
    TracePacket<Grid>{{view}}(lane, index);
}

} // namespace

PlainPhotons plain_photons(std::span<const Layer> layers, const Tissue& tissue, std::uint64_t packets) {
    const std::size_t around = std::size_t{tissue.rows} * tissue.columns;
    const OnDevice on_device(std::vector<Layer>(layers.begin(), layers.end()));
    const OnDevice<std::uint64_t> totals(std::size_t{FLUORESCENCE_BATCHES} * tissue.totals),
        absorption(2 * around * tissue.depths), escape(4 * around * tissue.angles);
    const TissueView view{
        {on_device.get(), {}}, tissue, {{totals.get(), {}}, {absorption.get(), {}}, {escape.get(), {}}}};
    const auto kernel = tissue.is_xyz != 0 ? trace_packets<Xyz> : trace_packets<Rz>;
    const double seconds = seconds_of([&] {
        kernel<<<static_cast<unsigned>((packets + threads - 1) / threads), threads>>>(view, packets);
    });
    return {seconds, totals.on_host()};
}

} // namespace bench
