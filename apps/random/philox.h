// apps/random/philox.h - random numbers that depend on what is computed, never on the device that computes
// it: the same on every device, in any order. C++ and OpenCL C read this file.
#ifndef HEADRACE_RANDOM_PHILOX_H
#define HEADRACE_RANDOM_PHILOX_H
#include <headrace/devices/kernels/shared_c.h>

/// Keys of all rounds are then known to a CPU's compiler. Those of GPUs unroll the loop by themselves.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__OPENCL_C_VERSION__)
    #define HEADRACE_RANDOM_UNROLL _Pragma("GCC unroll 7")
#else
    #define HEADRACE_RANDOM_UNROLL
#endif

HEADRACE_NAMESPACE(random_numbers)

#ifdef __OPENCL_C_VERSION__
typedef struct Words4 {
    uint32_t a, b, c, d;
} Words4;

HEADRACE_FUNCTION Words4 words4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    const Words4 words = {a, b, c, d};
    return words;
}
#else
/// Of words, or of batches of words.
template <class Word>
struct FourOf {
    Word a, b, c, d;
};
using Words4 = FourOf<uint32_t>;

template <class Word>
HEADRACE_FUNCTION FourOf<Word> words4(Word a, std::type_identity_t<Word> b, std::type_identity_t<Word> c,
                                      std::type_identity_t<Word> d) {
    return {a, b, c, d};
}
#endif

/// Philox4x32 with 7 rounds, the fewest that pass BigCrush; ten would only add margin. Every counter has a
/// block of its own, and every key another sequence of blocks.
/// Source    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011
HEADRACE_FUNCTION HEADRACE_ANY(Words4)
    philox4x32(HEADRACE_ANY(Words4) counter, uint32_t key0, uint32_t key1) {
    HEADRACE_RANDOM_UNROLL
    for (int round = 0; round < 7; ++round) {
        const HEADRACE_ANY(uint64_t) product0 = product_of(counter.a, 0xD2511F53u);
        const HEADRACE_ANY(uint64_t) product1 = product_of(counter.c, 0xCD9E8D57u);
        counter = words4(upper_of(product1) ^ counter.b ^ key0, lower_of(product1),
                         upper_of(product0) ^ counter.d ^ key1, lower_of(product0));
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

/// Uniform in [0, 1): a multiple of 2^-24, made of the upper 24 bits.
HEADRACE_FUNCTION float uniform_of(uint32_t word) { return (float)(word >> 8) * (1.0f / 16777216.0f); }

HEADRACE_END_NAMESPACE

#endif
