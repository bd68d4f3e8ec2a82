// bench/cuda_baseline.cuh - what baselines in plain CUDA need to say each time: checked calls, and what frees
// itself.
#pragma once
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace bench {

inline void check(cudaError_t status, const char* call) {
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}
#define CHECK(call) ::bench::check(call, #call)

struct FreeDevice {
    void operator()(float* memory) const { cudaFree(memory); }
};
struct FreePinned {
    void operator()(float* memory) const { cudaFreeHost(memory); }
};
using DeviceFloats = std::unique_ptr<float[], FreeDevice>;
using PinnedFloats = std::unique_ptr<float[], FreePinned>;

inline DeviceFloats device_floats(std::size_t count) {
    float* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(float)));
    return DeviceFloats(memory);
}
inline PinnedFloats pinned_floats(std::size_t count) {
    float* memory = nullptr;
    CHECK(cudaMallocHost(&memory, count * sizeof(float)));
    return PinnedFloats(memory);
}

struct Stream {
    cudaStream_t native = nullptr;
    Stream() { CHECK(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking)); }
    ~Stream() { cudaStreamDestroy(native); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return native; }
};

struct Event {
    cudaEvent_t native = nullptr;
    Event() { CHECK(cudaEventCreateWithFlags(&native, cudaEventDisableTiming)); }
    ~Event() { cudaEventDestroy(native); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    operator cudaEvent_t() const { return native; }
};

/// Makes the device current. Returns its name and its driver's version.
inline std::string use_device(unsigned device) {
    CHECK(cudaSetDevice(static_cast<int>(device)));
    cudaDeviceProp properties{};
    CHECK(cudaGetDeviceProperties(&properties, static_cast<int>(device)));
    int driver = 0;
    CHECK(cudaDriverGetVersion(&driver));
    return std::string(properties.name) + ", CUDA driver " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10);
}

} // namespace bench
