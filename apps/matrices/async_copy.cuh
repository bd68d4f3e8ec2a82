// apps/matrices/async_copy.cuh - copies from device memory to shared memory that the thread does not wait
// for. On GPUs without them (before Ampere, AMD's) they are ordinary copies, and there is nothing to wait
// for.
#pragma once

namespace matrices {

/// One float, or zero unless `there`: then `from` is not read.
__device__ inline void copy_async(float* to, const float* from, bool there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(there ? 4 : 0));
#else
    *to = there ? *from : 0.0f;
#endif
}

/// Four floats, both ends aligned to them. Past L1, which nobody else would find them in.
__device__ inline void copy_4_async(float* to, const float* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from));
#else
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
#endif
}

/// Ends a group of copies: all that this thread has begun since the last one.
__device__ inline void end_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

/// Waits until all but the last `Groups` groups have arrived. Other threads' copies: __syncthreads() after
/// it.
template <int Groups>
__device__ void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

} // namespace matrices
