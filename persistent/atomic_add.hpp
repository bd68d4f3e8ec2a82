// persistent/atomic_add.hpp - relaxed addition to one word that many lanes share, in every technology.
#pragma once
#include <headrace/persistent/kernel.hpp>

#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
    #include <atomic>
#endif

namespace headrace {

/// Adds without order: sums are read after the kernel, whose end publishes them.
template <class T>
HEADRACE_HOST_DEVICE inline void atomic_add(T& to, T amount) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    if constexpr (sizeof(T) == 8 && std::is_integral_v<T>)
        ::atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(amount));
    else
        ::atomicAdd(&to, amount);
#else
    std::atomic_ref<T>(to).fetch_add(amount, std::memory_order_relaxed);
#endif
}

} // namespace headrace
