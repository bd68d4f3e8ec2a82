// apps/random/philox.hpp - random numbers that depend on what is computed, never on who computes it: the same
// on every device, in any order. philox.cl has them in OpenCL C.
#pragma once
#include <headrace/devices/kernels/macros.hpp>

#include <cstdint>

namespace random_numbers {

struct Words4 {
    std::uint32_t a, b, c, d;
};

/// All 64 bits of a product.
HEADRACE_HOST_DEVICE inline std::uint64_t product_of(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
    std::uint64_t product; // one instruction, also where nvcc makes four of it because a key is known
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#else
    return static_cast<std::uint64_t>(a) * b;
#endif
}

/// Philox4x32 with 7 rounds, the fewest that pass BigCrush; ten would only add margin. Every counter has a
/// block of its own, and every key another sequence of blocks.
/// Source    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011
HEADRACE_HOST_DEVICE inline Words4 philox4x32(Words4 counter, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < 7; ++round) {
        const std::uint64_t product0 = product_of(counter.a, 0xD2511F53u);
        const std::uint64_t product1 = product_of(counter.c, 0xCD9E8D57u);
        counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter.b ^ key0,
                   static_cast<std::uint32_t>(product1),
                   static_cast<std::uint32_t>(product0 >> 32) ^ counter.d ^ key1,
                   static_cast<std::uint32_t>(product0)};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

/// Uniform in [0, 1): a multiple of 2^-24, made of the upper 24 bits.
HEADRACE_HOST_DEVICE inline float uniform(std::uint32_t word) {
    return static_cast<float>(word >> 8) * (1.0f / 16777216.0f);
}

} // namespace random_numbers
