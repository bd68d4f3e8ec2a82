// persistent/engine_memory.hpp - the engine's allocations, as a launch gets them. control.h says what is in
// each. Adapters take address() where kernels use addresses, handle() where they use buffers (OpenCL).
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/persistent/control.h>

namespace headrace {

struct EngineMemory {
    Memory& control;
    Memory& slots;
    Memory& bundles;
    Memory& spill;
    std::uint32_t groups; ///< lane groups to launch
    std::uint32_t liq_units;
    std::uint32_t ring_slots, ways; ///< as in the control block
};

} // namespace headrace
