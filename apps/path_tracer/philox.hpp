// apps/path_tracer/philox.hpp - the random numbers of a path.
#pragma once
#include "layout.h"
#include "random/philox.h"

namespace path_tracer {

/// Four independent numbers of one block, uniform in [0, 1), multiples of 2^-24.
struct Random4 {
    float x, y, z, w;
};

/// Block `block` of the hit numbered `hit` of the path (`key`, `sample`); hit 0 is the camera.
HEADRACE_HOST_DEVICE inline Random4 random_block(const Frame& frame, uint32_t key, uint32_t sample,
                                                 uint32_t hit, uint32_t block) {
    using random_numbers::uniform_of;
    const auto words = random_numbers::philox4x32({key, sample, hit, block}, frame.seed_low, frame.seed_high);
    return {uniform_of(words.a), uniform_of(words.b), uniform_of(words.c), uniform_of(words.d)};
}

} // namespace path_tracer
