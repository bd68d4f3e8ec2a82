// persistent/detail/engine_memory.hpp - the engine's allocations, as a launch gets
// them and as its kernels see them. control.h says what is in each. Adapters use
// view() if kernels use addresses, and handle() if kernels use buffers (OpenCL).
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
    HrInjection* injection;         ///< null: the launch cannot see the host's words
    HrSegment* segments;            ///< null: no seeds are injected into this launch
    std::uint32_t ring_slots, ways; ///< as in the control block, without a read of memory
};

struct EngineMemory {
    HrControl& image; ///< the host's copy of the control block, pinned
    Memory& control;
    Memory& slots;
    Memory& bundles;
    Memory& spill;
    HrInjection* injection; ///< null: the launch cannot see the host's words
    Memory* segments;       ///< null: no seeds are injected into this launch
    std::uint32_t groups;   ///< lane groups that a launch may have
    std::uint32_t useful;   ///< number of groups that would find work
    std::uint32_t liq_units;
    std::uint32_t ring_slots, ways; ///< as in the control block

    [[nodiscard]] EngineView view() const {
        return {static_cast<HrControl*>(control.address()),
                static_cast<HrSlot*>(slots.address()),
                static_cast<std::uint32_t*>(bundles.address()),
                static_cast<std::uint32_t*>(spill.address()),
                injection,
                segments ? static_cast<HrSegment*>(segments->address()) : nullptr,
                ring_slots,
                ways};
    }
};

} // namespace headrace
