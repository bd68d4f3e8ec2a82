// bench/brake.cu - see brake.hpp.
#include "brake.hpp"

namespace bench {
namespace {

__device__ std::uint64_t nanoseconds() {
    std::uint64_t now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void note_time(std::uint64_t* began) { *began = nanoseconds(); }

__global__ void wait_until_due(const std::uint64_t* began, double times) {
    const std::uint64_t took = nanoseconds() - *began;
    const std::uint64_t due = *began + static_cast<std::uint64_t>(times * static_cast<double>(took));
    while (nanoseconds() < due) __nanosleep(100);
}

} // namespace

void start_clock(void* stream, std::uint64_t* began) {
    note_time<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(began);
}

void hold(void* stream, const std::uint64_t* began, double times) {
    wait_until_due<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(began, times);
}

} // namespace bench
