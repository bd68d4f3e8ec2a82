// domains/detail/sum_slots.hpp - slots for small sums of a processor: each thread adds in its own slot, so no
// thread waits for a cache line of another. Compiled for every technology.
//
// A slot has an entry for every element of the domain. A processor's private replica has more slots than the
// processor has threads. A join adds up the slots. A GPU adds in its second-level cache, where slots would
// gain little: its private replica has one slot.
#pragma once
#include <headrace/devices/kernels/macros.hpp>
#include <headrace/persistent/atomics.hpp>

#include <atomic>
#include <cstdint>

namespace headrace::detail {

/// Threads get numbers from 1, in the order of their first calls. If several libraries have their own
/// counters, threads may share a number and so a slot, which only costs time.
inline std::uint32_t thread_number() {
    static std::atomic<std::uint32_t> threads = 0;
    static thread_local std::uint32_t number = 0;
    if (number == 0) number = threads.fetch_add(1, std::memory_order_relaxed) + 1; // relaxed: only a count
    return number;
}

/// The slots of a private replica. Default: one slot.
struct SumSlots {
    std::uint32_t last = 0;  ///< the number of slots, a power of two, minus 1
    std::uint32_t bytes = 0; ///< of a slot

    /// The element in the calling thread's slot.
    template <class T>
    HEADRACE_HOST_DEVICE T* own(T* element) const {
#if HEADRACE_ATOMICS_OF_GPU
        return element;
#else
        if (last == 0) return element;
        const std::uint64_t offset = std::uint64_t{thread_number() & last} * bytes;
        return reinterpret_cast<T*>(reinterpret_cast<char*>(element) + offset);
#endif
    }
};

} // namespace headrace::detail
