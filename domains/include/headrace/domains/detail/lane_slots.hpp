// domains/detail/lane_slots.hpp - slots for small domains into which all lanes add or combine: few lanes use
// one slot, so they rarely wait for each other. Compiled for every technology.
//
// A slot has an entry for every element of the domain. On a processor each thread has a slot of its own,
// which shares no cache line with others. On a GPU lanes share some thousand slots; neighbouring lanes have
// neighbouring slots, so that they use whole lines of the second-level cache. A join combines the slots.
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

/// Differs between GPU lanes that run at once, and mostly between threads of a processor.
HEADRACE_HOST_DEVICE inline std::uint64_t lane_number() {
#if HEADRACE_ATOMICS_OF_GPU
    return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
#else
    return thread_number();
#endif
}

/// The slots of a private replica. Default: one slot.
struct LaneSlots {
    std::uint32_t last = 0;  ///< the number of slots, a power of two, minus 1
    std::uint32_t bytes = 0; ///< of a slot; 0: there is one

    /// The element in the calling lane's slot.
    template <class T>
    HEADRACE_HOST_DEVICE T* own(T* element) const {
        if (last == 0) return element;
        const std::uint64_t offset = std::uint64_t{static_cast<std::uint32_t>(lane_number()) & last} * bytes;
        return reinterpret_cast<T*>(reinterpret_cast<char*>(element) + offset);
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return last + 1; }
};

} // namespace headrace::detail
