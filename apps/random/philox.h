// apps/random/philox.h - random numbers that depend on what is computed, never on the device that computes
// it: the same on every device, in any order. C++ and OpenCL C read this file.
#ifndef HEADRACE_RANDOM_PHILOX_H
#define HEADRACE_RANDOM_PHILOX_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(random_numbers)

typedef struct Words4 {
    uint32_t a, b, c, d;
} Words4;

HEADRACE_FUNCTION Words4 words4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    const Words4 words = {a, b, c, d};
    return words;
}

/// All 64 bits of a product.
HEADRACE_FUNCTION uint64_t product_of(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
    uint64_t product; // one instruction, also where nvcc makes four of it because a key is known
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return (uint64_t)a * b;
#endif
}

/// Philox4x32 with 7 rounds, the fewest that pass BigCrush; ten would only add margin. Every counter has a
/// block of its own, and every key another sequence of blocks.
/// Source    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011
HEADRACE_FUNCTION Words4 philox4x32(Words4 counter, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 7; ++round) {
        const uint64_t product0 = product_of(counter.a, 0xD2511F53u);
        const uint64_t product1 = product_of(counter.c, 0xCD9E8D57u);
        counter = words4((uint32_t)(product1 >> 32) ^ counter.b ^ key0, (uint32_t)product1,
                         (uint32_t)(product0 >> 32) ^ counter.d ^ key1, (uint32_t)product0);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

/// Uniform in [0, 1): a multiple of 2^-24, made of the upper 24 bits.
HEADRACE_FUNCTION float uniform_of(uint32_t word) { return (float)(word >> 8) * (1.0f / 16777216.0f); }

HEADRACE_END_NAMESPACE

#endif
