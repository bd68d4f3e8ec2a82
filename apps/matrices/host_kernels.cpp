// apps/matrices/host_kernels.cpp - see host_kernels.hpp.
#include "matrices/host_kernels.hpp"

namespace matrices {

const HostKernels& host_kernels() {
    static const HostKernels& best = []() -> const HostKernels& {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl"))
            return avx512::kernels();
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kernels();
#endif
        return baseline::kernels();
    }();
    return best;
}

} // namespace matrices
