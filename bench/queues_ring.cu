// bench/queues_ring.cu - the rings under all the lane groups that a GPU holds.
#include "cuda_launch.cuh"
#include "queues_baseline.hpp"
#include "queues_ring.hpp"

#include <headrace/persistent/detail/lanes_simt.cuh>

namespace bench {
namespace {

using headrace::on_cuda::DeviceSync;
using headrace::on_cuda::SimtLanes;

constexpr unsigned threads = 128, groups_per_block = threads / SimtLanes::size;

__global__ void __launch_bounds__(threads) cycle_kernel(RingsView view, std::uint32_t cycles) {
    cycle_rings<DeviceSync>(SimtLanes{threadIdx.x % SimtLanes::size}, view,
                            blockIdx.x * groups_per_block + threadIdx.x / SimtLanes::size, cycles);
}

} // namespace

QueueTurn cycle_rings_cuda(std::uint32_t rings, std::uint32_t cycles) {
    const unsigned blocks = resident_blocks(cycle_kernel, threads);
    const std::uint32_t groups = blocks * groups_per_block;
    RingsImage image(rings, groups, SimtLanes::size);
    const OnDevice tickets(image.tickets);
    const OnDevice slots(image.slots);
    const OnDevice bundles(image.bundles);
    const RingsView view{tickets.get(), slots.get(), bundles.get(), rings, image.ring_slots};
    const double seconds = seconds_of([&] { cycle_kernel<<<blocks, threads>>>(view, cycles); });
    image.bundles = bundles.on_host();
    const std::uint64_t units = std::uint64_t{groups} * SimtLanes::size * cycles;
    image.check(units);
    return {seconds, seconds, units};
}

} // namespace bench
