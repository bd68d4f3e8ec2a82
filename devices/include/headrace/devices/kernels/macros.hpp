// devices/kernels/macros.hpp - marks functions that the compiler of every technology compiles.
#pragma once

#if defined(__HIPCC__)
    #include <hip/hip_runtime.h> // nvcc knows the device's built-ins without a header
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
    #define HEADRACE_HOST_DEVICE __host__ __device__
#else
    #define HEADRACE_HOST_DEVICE
#endif
/// Marks the call operator of kernels and seeds, which is compiled for every technology.
#define HEADRACE_KERNEL HEADRACE_HOST_DEVICE
