// apps/path_tracer/random_block.h - the random numbers of a path. C++ and OpenCL C read this file.
#ifndef HEADRACE_PATH_TRACER_RANDOM_BLOCK_H
#define HEADRACE_PATH_TRACER_RANDOM_BLOCK_H
#include "layout.h"
#include "random/philox.h"

HEADRACE_NAMESPACE(path_tracer)
HEADRACE_USING(random_numbers)

/// Four independent numbers of one block, uniform in [0, 1), multiples of 2^-24.
typedef struct Random4 {
    float x, y, z, w;
} Random4;

/// Block `block` of the hit numbered `hit` of the path (`key`, `sample`); hit 0 is the camera.
HEADRACE_FUNCTION Random4 random_block(const Frame* frame, uint32_t key, uint32_t sample, uint32_t hit,
                                       uint32_t block) {
    const Words4 words = philox4x32(words4(key, sample, hit, block), frame->seed_low, frame->seed_high);
    const Random4 random = {uniform_of(words.a), uniform_of(words.b), uniform_of(words.c),
                            uniform_of(words.d)};
    return random;
}

HEADRACE_END_NAMESPACE

#endif
