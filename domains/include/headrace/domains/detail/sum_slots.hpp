// domains/detail/sum_slots.hpp - where threads of a processor add to small sums: each in a slot of its own,
// so that none waits for a line that another one has. Compiled for every technology.
//
// A slot has a place for every element of the domain. A processor's replica has more slots than the processor
// has threads. When replicas are joined, the slots are added up. A GPU adds in its second-level cache, where
// slots would gain little: its replica has one.
#pragma once
#include <headrace/persistent/atomics.hpp>
#include <headrace/persistent/kernel.hpp>

#include <atomic>
#include <cstdint>

namespace headrace::detail {

/// Threads are numbered from 1 as they first ask. Where several libraries count, threads may share a number:
/// then they share a slot, which only costs time.
inline std::uint32_t thread_number() {
    static std::atomic<std::uint32_t> threads = 0;
    static thread_local std::uint32_t number = 0;
    if (number == 0) number = threads.fetch_add(1, std::memory_order_relaxed) + 1; // relaxed: a count alone
    return number;
}

/// Of a replica. As it is made: there is one slot.
struct SumSlots {
    std::uint32_t last = 0;  ///< the number of slots, a power of two, less one
    std::uint32_t bytes = 0; ///< of a slot

    /// The element in the caller's slot.
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
