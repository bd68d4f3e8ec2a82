// persistent/sync.hpp - atomics with their scope, as the queues see them; here for host threads.
//
// A Sync is a set of static functions over plain words of shared memory: load, store, fetch_add and
// compare_exchange, each with its order, and a pause and a clock. Its WithHost has the functions for words
// that a running kernel shares with the host. Queues and group code are templates over a Sync. HostSync runs
// under ThreadSanitizer; DeviceSync (sync_simt.cuh) runs in kernels. There are no free-standing fences.
#pragma once
#include <headrace/persistent/kernel.hpp>

#include <cstdint>

/// Marks queue and group code: device code for a device compiler, host code elsewhere. HEADRACE_UNROLL goes
/// before short loops over kinds or staged units, so that arrays stay in a GPU's registers.
/// HEADRACE_GROUP_LOOP marks a group's loop that is so long that a compiler would call it. Then all that the
/// group holds would be in memory. HEADRACE_GROUP_APART marks seldom code that is called: it would need
/// registers all the time. What it is given lies in memory.
#if defined(__CUDACC__) || defined(__HIPCC__)
    #define HEADRACE_GROUP_CODE __device__
    #define HEADRACE_GROUP_LOOP __device__ __forceinline__
    #define HEADRACE_GROUP_APART __device__ __noinline__
    #define HEADRACE_UNROLL _Pragma("unroll")
#else
    #define HEADRACE_GROUP_CODE
    #define HEADRACE_GROUP_LOOP
    #define HEADRACE_GROUP_APART
    #define HEADRACE_UNROLL
    #include <atomic>
    #include <chrono>
    #include <thread>
#endif

namespace headrace {

/// A memory order as a type, so that the device's built-ins get a constant.
template <int Value>
struct MemoryOrder {};

struct TwoWords {
    std::uint64_t first, second;
};

/// The orders that every Sync names.
struct MemoryOrders {
    static constexpr MemoryOrder<__ATOMIC_RELAXED> relaxed{};
    static constexpr MemoryOrder<__ATOMIC_ACQUIRE> acquire{};
    static constexpr MemoryOrder<__ATOMIC_RELEASE> release{};
};

#if !defined(__CUDACC__) && !defined(__HIPCC__)
/// Atomics between host threads.
struct HostSync : MemoryOrders {
    using WithHost = HostSync;

    template <class T, int Order>
    static T load(const T& word, MemoryOrder<Order>) {
        // atomic_ref<const T> is C++26; a load does not write, so the cast is safe
        return std::atomic_ref<T>(const_cast<T&>(word)).load(static_cast<std::memory_order>(Order));
    }
    template <class T, int Order>
    static void store(T& word, T value, MemoryOrder<Order>) {
        std::atomic_ref<T>(word).store(value, static_cast<std::memory_order>(Order));
    }
    template <class T, int Order>
    static T fetch_add(T& word, T amount, MemoryOrder<Order>) {
        return std::atomic_ref<T>(word).fetch_add(amount, static_cast<std::memory_order>(Order));
    }
    /// May fail spuriously. After a failure `expected` has the word's value.
    template <class T, int Order>
    static bool compare_exchange(T& word, T& expected, T desired, MemoryOrder<Order>) {
        return std::atomic_ref<T>(word).compare_exchange_weak(
            expected, desired, static_cast<std::memory_order>(Order), std::memory_order_relaxed);
    }
    /// Loads two neighbouring words, like two relaxed loads.
    static TwoWords load_two(const std::uint64_t* words) {
        return {load(words[0], relaxed), load(words[1], relaxed)};
    }
    /// Lets other threads run. `polls` is the number of polls that found nothing so far. A thread that sleeps
    /// starts new work 70 microseconds late, or more.
    static void pause(std::uint32_t polls) {
        constexpr std::uint32_t yields = 256, short_sleeps = 64;
        if (polls < yields)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(polls < yields + short_sleeps ? 20 : 200));
    }
    /// A clock with an arbitrary start.
    static std::uint64_t nanoseconds() {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
    }
};
static_assert(static_cast<std::memory_order>(__ATOMIC_RELEASE) == std::memory_order_release);
static_assert(static_cast<std::memory_order>(__ATOMIC_ACQUIRE) == std::memory_order_acquire);
#endif

} // namespace headrace
