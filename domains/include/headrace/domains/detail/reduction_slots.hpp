// domains/detail/reduction_slots.hpp - slots where lanes combine values that no atomic operation replaces:
// those of more than 8 bytes, or of 3, 5, 6 or 7. Compiled for every technology.
//
// A private replica has many slots. Each slot has one entry (`SlotPlace`) for every element of the domain. A
// lane takes the entry in its own slot, combines its value with the stored one, and releases the entry. If
// another lane has the entry, the lane tries the next slot: no lane ever waits. A GPU has at least as many
// slots as lanes that run at once, or so many that two lanes rarely need one entry. A join combines the
// entries of all slots.
//
// In OpenCL C: HR_DEFINE_SLOT_COMBINE (persistent/opencl/atomics.cl).
#pragma once
#include <headrace/domains/detail/lane_slots.hpp>
#include <headrace/persistent/atomics.hpp>

#include <cstddef>
#include <cstdint>

namespace headrace::detail {

/// State of an entry. Zeroed memory contains empty entries.
enum PlaceState : std::uint32_t { place_is_empty, place_is_taken, place_is_full };

/// The entry of a slot for one element.
template <class T>
struct SlotPlace {
    std::uint32_t state;
    T value;
};

/// Returns the previous state. Unless that was `place_is_taken`, the caller now has the entry, and sees what
/// the previous lane stored there.
HEADRACE_HOST_DEVICE inline std::uint32_t take_place(std::uint32_t& state) {
#if HEADRACE_ATOMICS_OF_GPU
    const std::uint32_t before = atomic_exchange(state, place_is_taken);
    __threadfence();
    return before;
#else
    // acquire: pairs with the release in give_place_back, so this lane sees what the last lane wrote.
    return std::atomic_ref(state).exchange(place_is_taken, std::memory_order_acquire);
#endif
}

HEADRACE_HOST_DEVICE inline void give_place_back(std::uint32_t& state) {
#if HEADRACE_ATOMICS_OF_GPU
    __threadfence();
    atomic_exchange(state, place_is_full);
#else
    // release: pairs with the acquire in take_place, so the next lane sees the value.
    std::atomic_ref(state).store(place_is_full, std::memory_order_release);
#endif
}

/// The private replica of one device.
template <class T>
struct ReductionSlots {
    std::byte* origin = nullptr;
    std::uint64_t count = 1;
    std::uint64_t bytes = 0; ///< of a slot

    template <class Op>
    HEADRACE_HOST_DEVICE void combine(std::uint64_t element, const T& value, Op operation) const {
        bool is_done = false; // a `return` would let lanes of a warp wait for each other's release
        for (std::uint64_t slot = lane_number() % count; !is_done; slot = slot + 1 == count ? 0 : slot + 1) {
            auto& place = reinterpret_cast<SlotPlace<T>*>(origin + slot * bytes)[element];
            const std::uint32_t before = take_place(place.state);
            if (before == place_is_taken) continue;
            place.value = before == place_is_full ? operation(place.value, value) : value;
            give_place_back(place.state);
            is_done = true;
        }
    }
};

} // namespace headrace::detail
