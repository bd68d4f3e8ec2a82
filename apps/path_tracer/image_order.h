// apps/path_tracer/image_order.h - which pixel and which sample a work index stands for.
//
// Samples are the slow part of the index: a task of consecutive indices is then a fair mix of cheap sky and
// costly corners, so its cost follows its size, and lanes that run at one time add to different pixels of the
// film. Within a sample, pixels come in tiles of 8 x 4, so that the 32 rays of a lane group start out close
// together. Pixels of a list come in its order.
//
// C++ and OpenCL C read this file.
#ifndef HEADRACE_PATH_TRACER_IMAGE_ORDER_H
#define HEADRACE_PATH_TRACER_IMAGE_ORDER_H
#include "layout.h"

HEADRACE_NAMESPACE(path_tracer)

/// Which pixel the position `i` in a sample is: tiles of 8 x 4, row by row, smaller at the right and lower
/// edge.
HEADRACE_FUNCTION uint32_t tiled_pixel(uint32_t i, uint32_t width, uint32_t height) {
    const uint32_t columns = 8, rows = 4;
    const uint32_t band = i / (rows * width);
    const uint32_t left_rows = height - band * rows;
    const uint32_t band_rows = left_rows < rows ? left_rows : rows;
    const uint32_t in_band = i - band * rows * width;
    const uint32_t tile = in_band / (columns * band_rows);
    const uint32_t left_columns = width - tile * columns;
    const uint32_t tile_columns = left_columns < columns ? left_columns : columns;
    const uint32_t in_tile = in_band - tile * columns * band_rows;
    const uint32_t row = in_tile / tile_columns;
    return (band * rows + row) * width + tile * columns + (in_tile - row * tile_columns);
}

/// How many bits a number has from its highest one on.
HEADRACE_FUNCTION uint32_t bits_of(uint32_t number) {
#if defined(__OPENCL_C_VERSION__)
    return 32 - clz(number);
#else
    uint32_t bits = 0;
    while (bits < 32 && (number >> bits) != 0) ++bits;
    return bits;
#endif
}

/// A fixed permutation of 0..count-1 that leaves no neighbourhood together: a bijective hash on the next
/// power of two, applied again while it leads out of the range (fewer than two times on average).
HEADRACE_FUNCTION uint32_t shuffled_pixel(uint32_t i, uint32_t count) {
    uint32_t mask = count - 1;
    mask |= mask >> 1;
    mask |= mask >> 2;
    mask |= mask >> 4;
    mask |= mask >> 8;
    mask |= mask >> 16;
    const uint32_t half_bits =
        bits_of(mask) / 2 + 1; // a right shift by at least one is undone from the top bits down
    do {
        for (int round = 0; round < 3; ++round) {
            i ^= i >> half_bits;
            i = (i * 0x9E3779B1u + 0x85EBCA6Bu) & mask; // odd, so invertible modulo any power of two
        }
    } while (i >= count);
    return i;
}

/// The pixel, key and sample of a work index; see the head of this file.
///
/// `chosen`: the pixels that have samples, if not all have
HEADRACE_FUNCTION void place_path(const Frame* frame, HEADRACE_ELEMENTS(uint32_t) chosen, uint64_t index,
                                  uint32_t* pixel, uint32_t* key, uint32_t* sample) {
    const uint32_t pixels = frame->chosen != 0 ? frame->chosen : frame->width * frame->height;
    const uint32_t round = (uint32_t)(index / pixels);
    const uint32_t position = (uint32_t)(index - (uint64_t)round * pixels);
    *sample = frame->first_sample + round;
    if (frame->chosen != 0) {
        *pixel = chosen[position];
        *key = *pixel;
    } else if (frame->coherent !=
               0) { // neighbours in the index share random numbers, neighbours in the picture do not
        *pixel = shuffled_pixel(position, pixels);
        *key = position / 32;
    } else {
        *pixel = tiled_pixel(position, frame->width, frame->height);
        *key = *pixel;
    }
}

HEADRACE_END_NAMESPACE

#endif
