// devices/simt/runtime.cpp - see runtime.hpp.
#include <headrace/devices/simt/runtime.hpp>

#include <algorithm>
#include <array>
#include <string>

#if defined(HEADRACE_SIMT_HIP)
    #include <filesystem>
#else
    #include <cuda.h> // types only: the driver's library is not linked, so programs start without a driver
    #include <dlfcn.h>
#endif

namespace headrace::HEADRACE_ON_SIMT {
namespace {

ErrorKind kind_of(Status status) {
    switch (status) {
    case HEADRACE_RUNTIME(ErrorMemoryAllocation):
        return ErrorKind::out_of_memory;
    // The device refused a launch: the kernel needs too much, or was not compiled for this device.
    case HEADRACE_RUNTIME(ErrorInvalidConfiguration):
    case HEADRACE_RUNTIME(ErrorLaunchOutOfResources):
        return ErrorKind::kernel;
    case HEADRACE_RUNTIME(ErrorInvalidDeviceFunction):
#if defined(HEADRACE_SIMT_HIP)
    case hipErrorNoBinaryForGpu:
        return ErrorKind::unsupported;
#else
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return ErrorKind::unsupported;
#endif
    // All other errors, including those that last (an illegal address, a trap, ECC).
    default:
        return ErrorKind::device;
    }
}

} // namespace

Error status_error(Status status, const char* call, std::source_location where) {
    Error error{kind_of(status),
                std::string(call) + ": " + HEADRACE_RUNTIME(GetErrorName)(status) + ", " +
                    HEADRACE_RUNTIME(GetErrorString)(status),
                where};
    return std::move(error.with_code(static_cast<std::int64_t>(status)));
}

void expect_success(Status status, const char* call, std::source_location where) {
    if (status == success) return;
    static_cast<void>(HEADRACE_RUNTIME(GetLastError)()); // do not leave a stale error for the next caller
    throw status_error(status, call, where);
}

#if defined(HEADRACE_SIMT_HIP)

bool driver_is_installed() { return true; } // the runtime is linked, and reports how many devices it sees

std::string why_no_device() {
    return std::filesystem::exists("/dev/kfd") ? "the driver shows no GPU"
                                               : "no AMD driver: /dev/kfd is not there";
}

std::string driver_version() {
    int version = 0; // 50221153 means 5.2.21153
    HEADRACE_CALL(DriverGetVersion, &version);
    return "HIP " + std::to_string(version / 10'000'000) + "." + std::to_string(version / 100'000 % 100);
}

bool is_pinned(const void* memory) {
    hipPointerAttribute_t attributes{};
    if (hipPointerGetAttributes(&attributes, memory) != success) { // fails for memory that it does not know
        static_cast<void>(hipGetLastError());
        return false;
    }
    #if HIP_VERSION_MAJOR >= 6
    return attributes.type == hipMemoryTypeHost;
    #else
    return attributes.memoryType == hipMemoryTypeHost;
    #endif
}

bool SemaphoreMemory::usable(int ordinal) {
    return device_attribute(hipDeviceAttributeCanUseStreamWaitValue, ordinal) != 0;
}

void* SemaphoreMemory::allocate() {
    void* word = nullptr; // the host may write to it
    HEADRACE_CALL(ExtMallocWithFlags, &word, sizeof(std::uint64_t), hipMallocSignalMemory);
    return word;
}

void SemaphoreMemory::free(void* memory) noexcept { static_cast<void>(hipFree(memory)); }

void SemaphoreMemory::wait(StreamHandle stream, std::uint64_t* word, std::uint64_t value) {
    HEADRACE_CALL(StreamWaitValue64, stream, word, value, hipStreamWaitValueGte, ~std::uint64_t{0});
}

#else

namespace {

/// A call of the driver's own interface, from the loaded driver; null if the driver does not have it.
template <class Function>
Function* driver_call(const char* name) {
    void* call = nullptr;
    cudaDriverEntryPointQueryResult found{};
    #if CUDART_VERSION >= 12050
    const auto status = cudaGetDriverEntryPointByVersion(name, &call, 12000, cudaEnableDefault, &found);
    #else
    const auto status = cudaGetDriverEntryPoint(name, &call, cudaEnableDefault, &found);
    #endif
    if (status != success) static_cast<void>(cudaGetLastError());
    return status == success && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Function*>(call)
                                                                     : nullptr;
}

auto* stream_wait_value() {
    static auto* const call = driver_call<decltype(cuStreamWaitValue64)>("cuStreamWaitValue64");
    return call;
}

} // namespace

bool driver_is_installed() {
    // Kept open, because the runtime opens it next. The runtime reports other errors of the driver.
    static void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library != nullptr;
}

std::string why_no_device() {
    return driver_is_installed() ? "the driver shows no GPU" : "no NVIDIA driver: libcuda.so.1 is not there";
}

std::string driver_version() {
    int version = 0; // 13000 means 13.0
    HEADRACE_CALL(DriverGetVersion, &version);
    return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool is_pinned(const void* memory) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, memory) != success) {
        static_cast<void>(cudaGetLastError());
        return false;
    }
    return attributes.type != cudaMemoryTypeUnregistered;
}

bool SemaphoreMemory::usable(int ordinal) {
    auto* const ask = driver_call<decltype(cuDeviceGetAttribute)>("cuDeviceGetAttribute");
    int can = 0;
    return stream_wait_value() && ask &&
           ask(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, ordinal) == CUDA_SUCCESS && can != 0;
}

void* SemaphoreMemory::allocate() {
    void* memory = nullptr;
    HEADRACE_CALL(HostAlloc, &memory, words * stride, host_flags);
    return memory;
}

void SemaphoreMemory::free(void* memory) noexcept { static_cast<void>(cudaFreeHost(memory)); }

void SemaphoreMemory::wait(StreamHandle stream, std::uint64_t* word, std::uint64_t value) {
    void* seen_by_device = nullptr;
    HEADRACE_CALL(HostGetDevicePointer, &seen_by_device, word, 0);
    const CUresult result = stream_wait_value()(stream, reinterpret_cast<CUdeviceptr>(seen_by_device), value,
                                                CU_STREAM_WAIT_VALUE_GEQ);
    if (result != CUDA_SUCCESS)
        throw Error{ErrorKind::device, "cuStreamWaitValue64 failed"}.with_code(result);
}

#endif

} // namespace headrace::HEADRACE_ON_SIMT
