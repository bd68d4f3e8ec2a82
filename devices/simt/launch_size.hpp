// devices/simt/launch_size.hpp - how many blocks a kernel over an array has. For the .cu files of this
// folder.
#pragma once
#include <headrace/devices/simt/runtime.hpp>

#if defined(__HIPCC__)
    #include <hip/hip_runtime.h> // declares names that CUDA's compiler has built in
#endif

#include <algorithm>
#include <cstddef>

namespace headrace::HEADRACE_ON_SIMT {

constexpr unsigned block = 256; ///< threads

/// For elements that threads take in steps of a whole launch: a few blocks for each multiprocessor of the
/// largest device, or fewer.
inline unsigned blocks_for(std::size_t elements) {
    constexpr std::size_t most = 4096;
    return static_cast<unsigned>(std::min(most, (elements + block - 1) / block));
}

} // namespace headrace::HEADRACE_ON_SIMT
