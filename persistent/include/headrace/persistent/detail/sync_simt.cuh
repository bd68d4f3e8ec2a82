// persistent/detail/sync_simt.cuh - atomics between lane groups of one GPU, with CUDA's and HIP's built-ins.
#pragma once
#include <headrace/devices/kernels/simt.hpp>
#include <headrace/persistent/sync.hpp>

#if !defined(__CUDACC__) && !defined(__HIPCC__)
    #error "for nvcc and hipcc"
#endif

namespace headrace::HEADRACE_ON_SIMT {

/// Loads and stores of system scope: for words that the host reads and writes while a launch runs.
struct SystemSync : MemoryOrders {
    template <int Order>
    static __device__ std::uint64_t load(const std::uint64_t& word, MemoryOrder<Order>) {
#if defined(__CUDACC__)
        static_assert(Order == __ATOMIC_RELAXED || Order == __ATOMIC_ACQUIRE);
        std::uint64_t value;
        if constexpr (Order == __ATOMIC_RELAXED)
            asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(&word) : "memory");
        else
            asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(&word) : "memory");
        return value;
#else
        return __hip_atomic_load(&word, Order, __HIP_MEMORY_SCOPE_SYSTEM);
#endif
    }
    template <int Order>
    static __device__ void store(std::uint64_t& word, std::uint64_t value, MemoryOrder<Order>) {
#if defined(__CUDACC__)
        static_assert(Order == __ATOMIC_RELAXED || Order == __ATOMIC_RELEASE);
        if constexpr (Order == __ATOMIC_RELAXED)
            asm volatile("st.relaxed.sys.u64 [%0], %1;" : : "l"(&word), "l"(value) : "memory");
        else
            asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(&word), "l"(value) : "memory");
#else
        __hip_atomic_store(&word, value, Order, __HIP_MEMORY_SCOPE_SYSTEM);
#endif
    }
    /// Loads two neighbouring words, like two relaxed loads, which would cross the bus one after the other.
    static __device__ TwoWords load_two(const std::uint64_t* words) {
        TwoWords two;
#if defined(__CUDACC__)
        asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
                     : "=l"(two.first), "=l"(two.second)
                     : "l"(words)
                     : "memory");
#else
        two = {load(words[0], relaxed), load(words[1], relaxed)};
#endif
        return two;
    }
    static __device__ void pause(std::uint32_t) {} // a read across the bus takes long enough
};

/// Atomics of device scope: only this GPU accesses the queues while a launch runs.
struct DeviceSync : MemoryOrders {
    using WithHost = SystemSync;

#if defined(__CUDACC__)
    // In PTX, because the queues are in global memory. cuda::atomic_ref knows no address space: each of its
    // atomics has code for shared memory too, and waits for a result that is not used.
    template <class T, int Order>
    static __device__ T load(const T& word, MemoryOrder<Order>) {
        static_assert(is_word<T> && (Order == __ATOMIC_RELAXED || Order == __ATOMIC_ACQUIRE));
        const std::size_t at = __cvta_generic_to_global(&word);
        T value;
        if constexpr (sizeof(T) == 4 && Order == __ATOMIC_RELAXED)
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        else if constexpr (sizeof(T) == 4)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        else if constexpr (Order == __ATOMIC_RELAXED)
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
        else
            asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
        return value;
    }
    template <class T, int Order>
    static __device__ void store(T& word, T value, MemoryOrder<Order>) {
        static_assert(is_word<T> && (Order == __ATOMIC_RELAXED || Order == __ATOMIC_RELEASE));
        const std::size_t at = __cvta_generic_to_global(&word);
        if constexpr (sizeof(T) == 4 && Order == __ATOMIC_RELAXED)
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
        else if constexpr (sizeof(T) == 4)
            asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
        else if constexpr (Order == __ATOMIC_RELAXED)
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
        else
            asm volatile("st.release.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
    }
    template <class T, int Order>
    static __device__ T fetch_add(T& word, T amount, MemoryOrder<Order>) {
        static_assert(is_word<T> &&
                      (Order == __ATOMIC_RELAXED || (Order == __ATOMIC_RELEASE && sizeof(T) == 8)));
        const std::size_t at = __cvta_generic_to_global(&word);
        T before;
        if constexpr (sizeof(T) == 4)
            asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;"
                         : "=r"(before)
                         : "l"(at), "r"(amount)
                         : "memory");
        else if constexpr (Order == __ATOMIC_RELEASE)
            asm volatile("atom.add.release.gpu.global.u64 %0, [%1], %2;"
                         : "=l"(before)
                         : "l"(at), "l"(amount)
                         : "memory");
        else
            asm volatile("atom.add.relaxed.gpu.global.u64 %0, [%1], %2;"
                         : "=l"(before)
                         : "l"(at), "l"(amount)
                         : "memory");
        return before;
    }
    template <class T, int Order>
    static __device__ bool compare_exchange(T& word, T& expected, T desired, MemoryOrder<Order>) {
        static_assert(is_word<T> &&
                      (Order == __ATOMIC_RELAXED || (Order == __ATOMIC_ACQUIRE && sizeof(T) == 8)));
        const std::size_t at = __cvta_generic_to_global(&word);
        T before;
        if constexpr (Order == __ATOMIC_ACQUIRE)
            asm volatile("atom.cas.acquire.gpu.global.b64 %0, [%1], %2, %3;"
                         : "=l"(before)
                         : "l"(at), "l"(expected), "l"(desired)
                         : "memory");
        else if constexpr (sizeof(T) == 4)
            asm volatile("atom.cas.relaxed.gpu.global.b32 %0, [%1], %2, %3;"
                         : "=r"(before)
                         : "l"(at), "r"(expected), "r"(desired)
                         : "memory");
        else
            asm volatile("atom.cas.relaxed.gpu.global.b64 %0, [%1], %2, %3;"
                         : "=l"(before)
                         : "l"(at), "l"(expected), "l"(desired)
                         : "memory");
        const bool exchanged = before == expected;
        expected = before;
        return exchanged;
    }
    static __device__ void pause(std::uint32_t polls) { __nanosleep(polls < 6 ? 64u << polls : 4096u); }
    static __device__ std::uint64_t nanoseconds() {
        std::uint64_t now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        return now;
    }
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
    static __device__ std::uint64_t nanoseconds() {
        return std::uint64_t{__builtin_amdgcn_s_memrealtime()} * 10; // the counter runs at 100 MHz
    }
#endif

private:
    template <class T>
    static constexpr bool is_word = std::is_unsigned_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
};

} // namespace headrace::HEADRACE_ON_SIMT
