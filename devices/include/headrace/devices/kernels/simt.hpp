// devices/kernels/simt.hpp - whether a source that is written once for CUDA and HIP is compiled for one or
// the other.
#pragma once
#include <headrace/devices/kernels/technology.hpp>

#if defined(__HIPCC__) && !defined(HEADRACE_SIMT_HIP)
    #define HEADRACE_SIMT_HIP // our build sets it where g++ compiles for HIP
#endif

// A namespace for each technology: one program may link both, and the linker would merge equal names.
#if defined(HEADRACE_SIMT_HIP)
    #define HEADRACE_ON_SIMT on_hip
namespace headrace::on_hip {
using Technology = technology::Hip;
} // namespace headrace::on_hip
#else
    #define HEADRACE_ON_SIMT on_cuda
namespace headrace::on_cuda {
using Technology = technology::Cuda;
} // namespace headrace::on_cuda
#endif
