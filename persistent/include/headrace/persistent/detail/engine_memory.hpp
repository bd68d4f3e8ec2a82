// persistent/detail/engine_memory.hpp - the engine's allocations, as a launch gets them and as its kernels
// see them. control.h says what is in each. Adapters take view() where kernels use addresses, handle() where
// they use buffers (OpenCL).
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/persistent/detail/control.h>

namespace headrace {

/// The engine's memory as kernels see it.
struct EngineView {
    HrControl* control;
    HrSlot* slots;
    std::uint32_t* bundles;
    std::uint32_t* spill;
    HrFeed* feed;                   ///< null: the host cannot be heard
    HrSegment* segments;            ///< null: the host does not feed this launch
    std::uint32_t ring_slots, ways; ///< as in the control block, without a trip to the memory
};

struct EngineMemory {
    HrControl& image; ///< the host's copy of the control block, pinned
    Memory& control;
    Memory& slots;
    Memory& bundles;
    Memory& spill;
    HrFeed* feed;         ///< null: the host cannot be heard
    Memory* segments;     ///< null: the host does not feed this launch
    std::uint32_t groups; ///< lane groups that a launch may have
    std::uint32_t useful; ///< no more than so many of them would find anything to do
    std::uint32_t liq_units;
    std::uint32_t ring_slots, ways; ///< as in the control block

    [[nodiscard]] EngineView view() const {
        return {static_cast<HrControl*>(control.address()),
                static_cast<HrSlot*>(slots.address()),
                static_cast<std::uint32_t*>(bundles.address()),
                static_cast<std::uint32_t*>(spill.address()),
                feed,
                segments ? static_cast<HrSegment*>(segments->address()) : nullptr,
                ring_slots,
                ways};
    }
};

} // namespace headrace
