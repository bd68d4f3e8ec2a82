// bench/feeding_baseline.cu - see feeding_baseline.hpp.
#include "cuda_launch.cuh"
#include "feeding.kernels.hpp"
#include "feeding_baseline.hpp"

#include <chrono>
#include <numeric>

namespace bench {
namespace {

__global__ void mark_all(std::uint64_t* cells, std::uint64_t units, std::uint32_t turns) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < units)
        atomicAdd(reinterpret_cast<unsigned long long*>(cells + i % MarkRules::cells),
                  static_cast<unsigned long long>(MarkRules::mark(i, turns)));
}

} // namespace

PlainMarks plain_marks(std::uint64_t units, std::uint32_t turns) {
    const OnDevice<std::uint64_t> cells(MarkRules::cells);
    CHECK(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    mark_all<<<static_cast<unsigned>((units + 255) / 256), 256>>>(cells.get(), units, turns);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const auto marks = cells.on_host();
    return {took.count(), std::accumulate(marks.begin(), marks.end(), std::uint64_t{0})};
}

} // namespace bench
