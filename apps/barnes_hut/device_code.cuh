// apps/barnes_hut/device_code.cuh - what CUDA kernels over all bodies share: loops, and memory for a while.
#pragma once
#include <headrace/devices/simt/runtime.hpp>

#include <cstddef>
#include <cstdint>

namespace barnes_hut {

using headrace::on_cuda::attribute_multiprocessors, headrace::on_cuda::device_attribute;
using headrace::on_cuda::expect_success;

constexpr unsigned threads = 128; ///< of a block

/// How many blocks keep a device busy.
inline unsigned blocks_of(int ordinal) {
    return static_cast<unsigned>(device_attribute(attribute_multiprocessors, ordinal)) * 8;
}

/// f(i) for begin <= i < end, on any number of threads.
template <class F>
__device__ void each(uint32_t begin, uint32_t end, F&& f) {
    for (uint32_t i = begin + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += gridDim.x * blockDim.x)
        f(i);
}

/// Memory of a stream, for the requests between making and freeing it.
template <class T>
class Temporary {
public:
    Temporary(std::size_t count, cudaStream_t stream) : stream_(stream) {
        void* address = nullptr;
        HEADRACE_CALL(MallocAsync, &address, count * sizeof(T), stream);
        address_ = static_cast<T*>(address);
    }
    ~Temporary() { static_cast<void>(cudaFreeAsync(address_, stream_)); } // a failure comes back later
    Temporary(const Temporary&) = delete;                                 // owns the memory
    Temporary& operator=(const Temporary&) = delete;

    [[nodiscard]] T* get() const { return address_; }

private:
    cudaStream_t stream_;
    T* address_;
};

/// What is freed stays with the process, for the next tree: to get it from the driver again takes longer than
/// to build one.
inline void keep_memory(int ordinal) {
    cudaMemPool_t pool = nullptr;
    HEADRACE_CALL(DeviceGetDefaultMemPool, &pool, ordinal);
    uint64_t everything = ~uint64_t{0};
    HEADRACE_CALL(MemPoolSetAttribute, pool, cudaMemPoolAttrReleaseThreshold, &everything);
}

} // namespace barnes_hut
