// apps/path_tracer/gpu_habits.hpp - what makes GPUs faster and changes no result.
#pragma once
#include "layout.h"
#include <headrace/domains/view.hpp>

namespace path_tracer {

/// An element that nobody writes while kernels run, in reads of 16 bytes through the read-only path:
/// compilers make one read per member that they need, and for some of them a second one later.
template <class T>
HEADRACE_HOST_DEVICE inline T fetch(const headrace::View<const T>& from, uint32_t index) {
#if defined(__CUDA_ARCH__)
    static_assert(sizeof(T) % 16 == 0 && alignof(T) % 16 == 0);
    struct Words {
        uint4 quad[sizeof(T) / 16];
    } words;
    const auto* quads = reinterpret_cast<const uint4*>(from.origin + index);
    for (unsigned i = 0; i < sizeof(T) / 16; ++i) words.quad[i] = __ldg(quads + i);
    return __builtin_bit_cast(T, words);
#else
    return from[index];
#endif
}

/// True if `mine` is false for all lanes that run beside this one just now, as far as can be told; a hint.
HEADRACE_HOST_DEVICE inline bool no_lane(bool mine) {
#if defined(__CUDA_ARCH__)
    // Not by a vote: a lane that is counted may have gone another way before it votes, and the others would
    // wait for ever. Which lanes are left beside this one can be seen without waiting.
    const unsigned before = __activemask();
    if (mine) return false;
    return __activemask() == before;
#elif defined(__HIP_DEVICE_COMPILE__)
    return !__any(mine); // wavefronts run in step
#else
    return !mine;
#endif
}

} // namespace path_tracer
