// apps/sobel/magnitude.h - how steep a gradient is, the same on every device. C++ and OpenCL C read this
// file.
#ifndef HEADRACE_SOBEL_MAGNITUDE_H
#define HEADRACE_SOBEL_MAGNITUDE_H
#include <headrace/devices/kernels/shared_c.h>

HEADRACE_NAMESPACE(sobel)

/// The magnitude of a gradient, rounded down, at most 255: the same on every device.
///
/// A half is added under the root. It carries no whole number past a square, and keeps the argument so far
/// from squares that, up to where the cut is, a root with a relative error of 2^-19 is exact when rounded
/// down; OpenCL promises 3 ulp, 2^-21. Sums are whole and below 2^23, so everything else is exact in float.
HEADRACE_FUNCTION unsigned char magnitude(int across, int down) {
    const float root = sqrt((float)(across * across + down * down) + 0.5f);
    return (unsigned char)(root < 255 ? root : 255);
}

/// The magnitude of a gradient, rounded down, at most `most`, up to 65535: the same on every device.
///
/// A component beyond `most` makes a magnitude beyond it, so both are cut first and squares stay below 2^33.
/// The root of a float is one off at most; whole numbers put it right.
HEADRACE_FUNCTION uint32_t cut_magnitude(int across, int down, int most) {
    const int x = across < 0 ? -across : across, y = down < 0 ? -down : down;
    const uint64_t a = (uint64_t)(x < most ? x : most), b = (uint64_t)(y < most ? y : most);
    const uint64_t square = a * a + b * b, top = (uint64_t)most;
    if (square >= top * top) return (uint32_t)top;
    uint64_t root = (uint64_t)sqrt((float)square);
    while (root * root > square) --root;
    while ((root + 1) * (root + 1) <= square) ++root;
    return (uint32_t)root;
}

HEADRACE_END_NAMESPACE

#endif
