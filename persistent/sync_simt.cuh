// persistent/sync_simt.cuh - atomics between lane groups of one GPU, with CUDA's and HIP's built-ins.
#pragma once
#include <headrace/persistent/sync.hpp>

#if defined(__CUDACC__)
    #include <cuda/atomic>
    #define HEADRACE_SIMT_NAMESPACE on_cuda
#elif defined(__HIPCC__)
    #define HEADRACE_SIMT_NAMESPACE on_hip
#else
    #error "for nvcc and hipcc"
#endif

// A namespace per technology: a program may have both, and the linker would merge equal names.
namespace headrace::HEADRACE_SIMT_NAMESPACE {

/// Atomics of device scope: nobody but this GPU touches the queues while a launch runs.
struct DeviceSync : MemoryOrders {
#if defined(__CUDACC__)
    template <class T>
    using Atomic = ::cuda::atomic_ref<T, ::cuda::thread_scope_device>;
    template <class T, int Order>
    static __device__ T load(const T& word, MemoryOrder<Order>) {
        return Atomic<T>(const_cast<T&>(word)).load(static_cast<::cuda::std::memory_order>(Order));
    }
    template <class T, int Order>
    static __device__ void store(T& word, T value, MemoryOrder<Order>) {
        Atomic<T>(word).store(value, static_cast<::cuda::std::memory_order>(Order));
    }
    template <class T, int Order>
    static __device__ T fetch_add(T& word, T amount, MemoryOrder<Order>) {
        return Atomic<T>(word).fetch_add(amount, static_cast<::cuda::std::memory_order>(Order));
    }
    template <class T, int Order>
    static __device__ bool compare_exchange(T& word, T& expected, T desired, MemoryOrder<Order>) {
        return Atomic<T>(word).compare_exchange_weak(expected, desired,
                                                     static_cast<::cuda::std::memory_order>(Order),
                                                     ::cuda::std::memory_order_relaxed);
    }
    static __device__ void pause(std::uint32_t polls) { __nanosleep(polls < 6 ? 64u << polls : 4096u); }
#else
    template <class T, int Order>
    static __device__ T load(const T& word, MemoryOrder<Order>) {
        return __hip_atomic_load(&word, Order, __HIP_MEMORY_SCOPE_AGENT);
    }
    template <class T, int Order>
    static __device__ void store(T& word, T value, MemoryOrder<Order>) {
        __hip_atomic_store(&word, value, Order, __HIP_MEMORY_SCOPE_AGENT);
    }
    template <class T, int Order>
    static __device__ T fetch_add(T& word, T amount, MemoryOrder<Order>) {
        return __hip_atomic_fetch_add(&word, amount, Order, __HIP_MEMORY_SCOPE_AGENT);
    }
    template <class T, int Order>
    static __device__ bool compare_exchange(T& word, T& expected, T desired, MemoryOrder<Order>) {
        return __hip_atomic_compare_exchange_weak(&word, &expected, desired, Order, __ATOMIC_RELAXED,
                                                  __HIP_MEMORY_SCOPE_AGENT);
    }
    static __device__ void pause(std::uint32_t polls) {
        if (polls < 6)
            __builtin_amdgcn_s_sleep(2); // times 64 clocks
        else
            __builtin_amdgcn_s_sleep(100);
    }
#endif
};

} // namespace headrace::HEADRACE_SIMT_NAMESPACE
