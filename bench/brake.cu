// bench/brake.cu - see brake.hpp.
#include "brake.hpp"

#include <headrace/persistent/detail/sync_simt.cuh>

namespace bench {
namespace {

using Clock = headrace::on_cuda::DeviceSync;

__global__ void note_time(std::uint64_t* began) { *began = Clock::nanoseconds(); }

__global__ void wait_until_due(const std::uint64_t* began, double times) {
    const std::uint64_t took = Clock::nanoseconds() - *began;
    const std::uint64_t due = *began + static_cast<std::uint64_t>(times * static_cast<double>(took));
    while (Clock::nanoseconds() < due) __nanosleep(100);
}

} // namespace

void start_clock(void* stream, std::uint64_t* began) {
    note_time<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(began);
}

void hold(void* stream, const std::uint64_t* began, double times) {
    wait_until_due<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(began, times);
}

} // namespace bench
