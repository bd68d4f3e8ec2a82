// apps/random/logarithm.h - logarithms of random numbers: the free path of a packet of photons. C++ and
// OpenCL C read this file.
#ifndef HEADRACE_RANDOM_LOGARITHM_H
#define HEADRACE_RANDOM_LOGARITHM_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(random_numbers)

/// Logarithm to base 2 of a normal positive number, to 4.2 x 2^-24 of itself. GPUs have their own. A CPU has
/// the same in each lane of a batch as for a single number, which math libraries do not promise.
///
/// By mantissa and exponent, so that the mantissa m is from sqrt(1/2) to sqrt(2). The polynomial has the
/// least largest relative error of its degree (Remez): 0.44 x 2^-24. Near 1, log2(m) is (m - 1) P(m - 1):
/// nothing cancels.
HEADRACE_FUNCTION HEADRACE_ANY(float) log2_of(HEADRACE_ANY(float) number) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__OPENCL_C_VERSION__)
    return log2(number);
#else
    const HEADRACE_ANY(uint32_t) bits = as_uint(number);
    const HEADRACE_ANY(int32_t) exponent = int_of(bits - 0x3f3504f3u) >> 23; // of sqrt(1/2): 0x3f3504f3
    const HEADRACE_ANY(float) f = as_float(bits - (uint_of(exponent) << 23)) - 1.0f;
    // By Estrin's scheme: four steps one after the other, where Horner's has eight.
    const HEADRACE_ANY(float) f2 = f * f, f4 = f2 * f2;
    const HEADRACE_ANY(float) p0 = 1.44269502f - f * 0.721347332f, p2 = 0.480910629f - f * 0.360703677f,
                              p4 = 0.287916243f - f * 0.238944829f, p6 = 0.215715602f - f * 0.207269728f;
    const HEADRACE_ANY(float) high = p4 + f2 * p6 + f4 * 0.125837013f;
    return f * (p0 + f2 * p2 + f4 * high) + float_of(exponent);
#endif
}

HEADRACE_END_NAMESPACE

#endif
