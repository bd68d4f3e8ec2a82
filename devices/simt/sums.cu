// devices/simt/sums.cu - see sums.hpp. HIP's compiler compiles it, too.
#include "simt/sums.hpp"

#if defined(__HIPCC__)
    #include <hip/hip_runtime.h> // declares names that CUDA's compiler has built in
#endif

#include <algorithm>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

constexpr unsigned block = 256;
constexpr std::size_t most_blocks = 4096; // a few for each multiprocessor of the largest device

template <class T>
__global__ void add(T* to, const T* from, std::size_t count) {
    const std::size_t all = std::size_t{gridDim.x} * block;
    for (std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x; i < count; i += all) to[i] += from[i];
}

template <class T>
void enqueue(StreamHandle stream, void* to, const void* from, std::size_t size) {
    const std::size_t count = size / sizeof(T);
    if (count == 0) return;
    const auto blocks = static_cast<unsigned>(std::min(most_blocks, (count + block - 1) / block));
    add<<<blocks, block, 0, stream>>>(static_cast<T*>(to), static_cast<const T*>(from), count);
}

} // namespace

void enqueue_sum(StreamHandle stream, void* to, const void* from, std::size_t size, NumberType type) {
    switch (type) {
    case NumberType::uint32:
        return enqueue<std::uint32_t>(stream, to, from, size);
    case NumberType::uint64:
        return enqueue<std::uint64_t>(stream, to, from, size);
    case NumberType::float32:
        return enqueue<float>(stream, to, from, size);
    case NumberType::float64:
        return enqueue<double>(stream, to, from, size);
    case NumberType::none:
        return;
    }
}

} // namespace headrace::HEADRACE_ON_SIMT
