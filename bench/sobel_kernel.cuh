// bench/sobel_kernel.cuh - the kernel of both plain CUDA versions, and memory for frames.
#pragma once
#include "cuda_baseline.cuh"
#include "sobel/words.hpp"

namespace bench {

struct FreeDeviceBytes {
    void operator()(std::uint8_t* memory) const { cudaFree(memory); }
};
struct FreePinnedBytes {
    void operator()(std::uint8_t* memory) const { cudaFreeHost(memory); }
};
using DeviceBytes = std::unique_ptr<std::uint8_t[], FreeDeviceBytes>;
using PinnedBytes = std::unique_ptr<std::uint8_t[], FreePinnedBytes>;

inline DeviceBytes device_bytes(std::size_t count) {
    std::uint8_t* memory = nullptr;
    CHECK(cudaMalloc(&memory, count));
    return DeviceBytes(memory);
}
inline PinnedBytes pinned_bytes(std::size_t count) {
    std::uint8_t* memory = nullptr;
    CHECK(cudaMallocHost(&memory, count));
    return PinnedBytes(memory);
}

static __global__ void filter_words(const std::uint8_t* frame, std::uint8_t* edges,
                                    const video::Planes planes, int lines) {
    const int x = sobel::word * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int line = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (line >= lines) return;
    const video::Row row = planes.row(line);
    if (x < row.columns) sobel::filter_word(frame, edges, row, x);
}

inline void filter(const DeviceBytes& frame, const DeviceBytes& edges, const video::Planes& planes,
                   cudaStream_t stream) {
    const dim3 block(64, 4);
    const int columns = planes.plane[0].columns, lines = static_cast<int>(planes.rows());
    const unsigned across = block.x * sobel::word;
    filter_words<<<dim3((columns + across - 1) / across, (lines + block.y - 1) / block.y), block, 0,
                   stream>>>(frame.get(), edges.get(), planes, lines);
    CHECK(cudaGetLastError());
}

} // namespace bench
