// apps/sobel/magnitude.hpp - how steep a gradient is, the same on every device.
#pragma once
#include <headrace/headrace.hpp>

#include <cmath>
#include <cstdint>

namespace sobel {

/// The magnitude of a gradient, rounded down, at most 255: the same on every device.
///
/// A half is added under the root. It carries no whole number past a square, and keeps the argument so far
/// from squares that, up to where the cut is, a root with a relative error of 2^-19 is exact when rounded
/// down; OpenCL promises 3 ulp, 2^-21. Sums are whole and below 2^23, so everything else is exact in float.
HEADRACE_HOST_DEVICE inline std::uint8_t magnitude(int across, int down) {
    const float root = std::sqrt(static_cast<float>(across * across + down * down) + 0.5f);
    return static_cast<std::uint8_t>(root < 255 ? root : 255);
}

} // namespace sobel
