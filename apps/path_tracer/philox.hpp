// apps/path_tracer/philox.hpp - random numbers that depend on what is computed, never on who computes it.
#pragma once
#include "layout.h"
#include <headrace/persistent/kernel.hpp>

namespace path_tracer {

/// Four independent numbers of one block, uniform in [0, 1), multiples of 2^-24.
struct Random4 {
    float x, y, z, w;
};

/// Philox4x32 with 7 rounds, the fewest that pass BigCrush; ten would only add margin.
/// Source    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011
HEADRACE_HOST_DEVICE inline void philox4x32(uint32_t counter[4], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 7; ++round) {
        const uint64_t product0 = static_cast<uint64_t>(0xD2511F53u) * counter[0];
        const uint64_t product1 = static_cast<uint64_t>(0xCD9E8D57u) * counter[2];
        counter[0] = static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0;
        counter[1] = static_cast<uint32_t>(product1);
        counter[2] = static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1;
        counter[3] = static_cast<uint32_t>(product0);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/// Block `block` of the hit numbered `hit` of the path (`key`, `sample`); hit 0 is the camera.
HEADRACE_HOST_DEVICE inline Random4 random_block(const Frame& frame, uint32_t key, uint32_t sample,
                                                 uint32_t hit, uint32_t block) {
    uint32_t word[4] = {key, sample, hit, block};
    philox4x32(word, frame.seed_low, frame.seed_high);
    constexpr float scale = 1.0f / 16777216.0f;
    return {static_cast<float>(word[0] >> 8) * scale, static_cast<float>(word[1] >> 8) * scale,
            static_cast<float>(word[2] >> 8) * scale, static_cast<float>(word[3] >> 8) * scale};
}

} // namespace path_tracer
