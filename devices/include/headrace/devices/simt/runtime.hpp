// devices/simt/runtime.hpp - the runtime's calls under names that fit CUDA and HIP. Only this header tells
// the two apart. Most names differ only in the prefix: HEADRACE_RUNTIME(StreamCreate) is cudaStreamCreate or
// hipStreamCreate. The other differences are below. Each file that includes this header uses a namespace per
// technology, because one program may link both.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/kernels/simt.hpp>

#include <cstdint>
#include <string>

#if defined(HEADRACE_SIMT_HIP)
    #include <hip/hip_runtime_api.h>
    #define HEADRACE_RUNTIME(name) hip##name
    #define HEADRACE_RUNTIME_NAME(name) "hip" #name
#else
    #include <cuda_runtime_api.h>
    #define HEADRACE_RUNTIME(name) cuda##name
    #define HEADRACE_RUNTIME_NAME(name) "cuda" #name
#endif

/// Calls cuda`name` or hip`name`; throws Error if the call fails: HEADRACE_CALL(StreamSynchronize, stream).
#define HEADRACE_CALL(name, ...)                                                                             \
    ::headrace::HEADRACE_ON_SIMT::expect_success(HEADRACE_RUNTIME(name)(__VA_ARGS__),                        \
                                                 HEADRACE_RUNTIME_NAME(name))

namespace headrace::HEADRACE_ON_SIMT {

using Status = HEADRACE_RUNTIME(Error_t);
using StreamHandle = HEADRACE_RUNTIME(Stream_t);
using EventHandle = HEADRACE_RUNTIME(Event_t);
using PoolHandle = HEADRACE_RUNTIME(MemPool_t);
using TextureHandle = HEADRACE_RUNTIME(TextureObject_t);

inline constexpr Status success = HEADRACE_RUNTIME(Success);
inline constexpr Status out_of_memory = HEADRACE_RUNTIME(ErrorMemoryAllocation);
inline constexpr Status not_ready = HEADRACE_RUNTIME(ErrorNotReady);

/// The Error for a failed call: its kind, and a message with the call and the runtime's name of the status.
[[nodiscard]] HEADRACE_EXPORT Error
status_error(Status status, const char* call, std::source_location where = std::source_location::current());
/// Throws `status_error` if the call failed.
HEADRACE_EXPORT void expect_success(Status status, const char* call,
                                    std::source_location where = std::source_location::current());

#if defined(HEADRACE_SIMT_HIP)

inline constexpr auto attribute_multiprocessors = hipDeviceAttributeMultiprocessorCount;
inline constexpr auto attribute_clock_khz = hipDeviceAttributeClockRate;
inline constexpr auto attribute_lane_group = hipDeviceAttributeWarpSize;
inline constexpr auto attribute_block_memory = hipDeviceAttributeMaxSharedMemoryPerBlock;
inline constexpr auto attribute_pools = hipDeviceAttributeMemoryPoolsSupported;
inline constexpr auto attribute_texture_alignment = hipDeviceAttributeTextureAlignment;
inline constexpr auto attribute_pitch_alignment = hipDeviceAttributeTexturePitchAlignment;
inline constexpr auto attribute_texture_width = hipDeviceAttributeMaxTexture2DWidth;
inline constexpr auto attribute_texture_height = hipDeviceAttributeMaxTexture2DHeight;
using DeviceAttribute = hipDeviceAttribute_t;
inline constexpr auto attribute_pci_domain = hipDeviceAttributePciDomainID;
inline constexpr auto attribute_pci_bus = hipDeviceAttributePciBusId;
inline constexpr auto attribute_pci_device = hipDeviceAttributePciDeviceId;
inline constexpr unsigned host_flags = hipHostMallocPortable | hipHostMallocMapped;
using DeviceProperties = hipDeviceProp_t;

/// Multiply-adds that a compute unit starts per cycle: 64 lanes. CDNA's packed instructions would double it.
[[nodiscard]] constexpr int fused_per_cycle(const DeviceProperties&) { return 64; }
/// Returns for example "gfx90a", without the list of features that follows the name.
[[nodiscard]] inline std::string architecture(const DeviceProperties& device) {
    const std::string name = device.gcnArchName;
    return name.substr(0, name.find(':'));
}

inline Status allocate_pinned(void** memory, std::size_t size) {
    return hipHostMalloc(memory, size, host_flags);
}
inline Status free_pinned(void* memory) { return hipHostFree(memory); }

#else

inline constexpr auto attribute_multiprocessors = cudaDevAttrMultiProcessorCount;
inline constexpr auto attribute_clock_khz = cudaDevAttrClockRate;
inline constexpr auto attribute_lane_group = cudaDevAttrWarpSize;
inline constexpr auto attribute_block_memory = cudaDevAttrMaxSharedMemoryPerBlockOptin;
inline constexpr auto attribute_pools = cudaDevAttrMemoryPoolsSupported;
inline constexpr auto attribute_texture_alignment = cudaDevAttrTextureAlignment;
inline constexpr auto attribute_pitch_alignment = cudaDevAttrTexturePitchAlignment;
inline constexpr auto attribute_texture_width = cudaDevAttrMaxTexture2DLinearWidth;
inline constexpr auto attribute_texture_height = cudaDevAttrMaxTexture2DLinearHeight;
using DeviceAttribute = cudaDeviceAttr;
inline constexpr auto attribute_pci_domain = cudaDevAttrPciDomainId;
inline constexpr auto attribute_pci_bus = cudaDevAttrPciBusId;
inline constexpr auto attribute_pci_device = cudaDevAttrPciDeviceId;
inline constexpr unsigned host_flags = cudaHostAllocPortable | cudaHostAllocMapped;
using DeviceProperties = cudaDeviceProp;

/// Multiply-adds that a multiprocessor starts per cycle: 64 in 6.0, 7.x and 8.0, else 128 (since 5.0).
[[nodiscard]] constexpr int fused_per_cycle(const DeviceProperties& device) {
    const bool small = device.major == 7 || (device.minor == 0 && (device.major == 6 || device.major == 8));
    return small ? 64 : 128;
}
/// Returns for example "sm_90".
[[nodiscard]] inline std::string architecture(const DeviceProperties& device) {
    return "sm_" + std::to_string(device.major) + std::to_string(device.minor);
}

inline Status allocate_pinned(void** memory, std::size_t size) {
    return cudaHostAlloc(memory, size, host_flags);
}
inline Status free_pinned(void* memory) { return cudaFreeHost(memory); }

#endif

[[nodiscard]] inline int device_attribute(DeviceAttribute which, int ordinal) {
    int value = 0;
    HEADRACE_CALL(DeviceGetAttribute, &value, which, ordinal);
    return value;
}

/// True if the driver is installed. If not, there are no such devices; if so, every failure is an error.
[[nodiscard]] HEADRACE_EXPORT bool driver_is_installed();
/// The reason, for people to read, why there is no device.
[[nodiscard]] HEADRACE_EXPORT std::string why_no_device();
/// Returns for example "CUDA 13.0": the driver's version, not that of the linked library.
[[nodiscard]] HEADRACE_EXPORT std::string driver_version();
/// True if the runtime knows `memory` as pinned host memory. Copies of it do not block the caller.
[[nodiscard]] HEADRACE_EXPORT bool is_pinned(const void* memory);

/// 64-bit words in host memory that a stream can wait for. `usable` is false if the hardware or the driver
/// cannot wait for them.
struct HEADRACE_EXPORT SemaphoreMemory {
#if defined(HEADRACE_SIMT_HIP)
    static constexpr std::size_t words = 1; // per allocation: a signal always has 8 bytes
#else
    static constexpr std::size_t words = 1024;
#endif
    static constexpr std::size_t stride = 64; // bytes per word: devices poll, each word has its own line

    [[nodiscard]] static bool usable(int ordinal);
    [[nodiscard]] static void* allocate();
    static void free(void* memory) noexcept;
    /// The stream continues when the word is `value` or more.
    static void wait(StreamHandle stream, std::uint64_t* word, std::uint64_t value);
};

} // namespace headrace::HEADRACE_ON_SIMT
