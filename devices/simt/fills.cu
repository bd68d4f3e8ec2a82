// devices/simt/fills.cu - see fills.hpp. HIP's compiler compiles it, too.
#include "simt/fills.hpp"
#include "simt/launch_size.hpp"

namespace headrace::HEADRACE_ON_SIMT {
namespace {

template <class T>
__global__ void fill(T* to, T value, std::size_t count) {
    const std::size_t all = std::size_t{gridDim.x} * block;
    for (std::size_t i = std::size_t{blockIdx.x} * block + threadIdx.x; i < count; i += all) to[i] = value;
}

} // namespace

void enqueue_fill(StreamHandle stream, void* memory, std::size_t size, Pattern pattern) {
    pattern.visit([&](auto value) {
        using T = decltype(value);
        const std::size_t count = size / sizeof(T);
        if (count == 0) return;
        fill<<<blocks_for(count), block, 0, stream>>>(static_cast<T*>(memory), value, count);
    });
}

} // namespace headrace::HEADRACE_ON_SIMT
