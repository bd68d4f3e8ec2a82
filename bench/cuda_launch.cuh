// bench/cuda_launch.cuh - memory and time of one CUDA launch, for baselines that are a kernel and no program.
#pragma once
#include "cuda_baseline.cuh"

#include <cstddef>
#include <vector>

namespace bench {

/// Words in device memory, with what the host gives them.
template <class T>
class OnDevice {
public:
    explicit OnDevice(const std::vector<T>& words) : OnDevice(words.size(), nullptr) {
        CHECK(cudaMemcpy(get(), words.data(), words.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    explicit OnDevice(std::size_t zeroes) : OnDevice(zeroes, nullptr) {
        CHECK(cudaMemset(get(), 0, zeroes * sizeof(T)));
    }

    T* get() const { return memory_.get(); }
    std::vector<T> on_host() const {
        std::vector<T> copy(count_);
        CHECK(cudaMemcpy(copy.data(), get(), count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return copy;
    }

private:
    OnDevice(std::size_t count, std::nullptr_t) : count_(count) {
        void* memory = nullptr;
        CHECK(cudaMalloc(&memory, count * sizeof(T)));
        memory_.reset(static_cast<T*>(memory));
    }
    struct Free {
        void operator()(T* memory) const { cudaFree(memory); }
    };
    std::size_t count_;
    std::unique_ptr<T, Free> memory_;
};

/// Blocks that the current device holds at once.
template <class Entry>
unsigned resident_blocks(Entry* entry, unsigned threads) {
    int device = 0, processors = 0, blocks = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entry, static_cast<int>(threads), 0));
    return static_cast<unsigned>(processors * blocks);
}

/// What passes on the device while it does what `enqueue` enqueues.
template <class F>
double seconds_of(F&& enqueue) {
    cudaEvent_t begin = nullptr, end = nullptr;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    enqueue();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 1e-3 * double{milliseconds};
}

} // namespace bench
