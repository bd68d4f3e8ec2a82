// devices/simt/sums.cu - see sums.hpp. HIP's compiler compiles it, too.
#include "simt/launch_size.hpp"
#include "simt/sums.hpp"

namespace headrace::HEADRACE_ON_SIMT {
namespace {

template <class T>
__global__ void add(T* to, const T* from, std::size_t count) {
    const std::size_t all = std::size_t{gridDim.x} * block;
    for (std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x; i < count; i += all) to[i] += from[i];
}

template <class T>
void enqueue(StreamHandle stream, void* to, const void* from, std::size_t size) {
    const std::size_t count = size / sizeof(T);
    if (count == 0) return;
    add<<<blocks_for(count), block, 0, stream>>>(static_cast<T*>(to), static_cast<const T*>(from), count);
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
