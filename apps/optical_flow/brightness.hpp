// apps/optical_flow/brightness.hpp - samples as files store them become brightness.
#pragma once
#include "size.hpp"

#include <bit>
#include <cstdint>
#include <span>

namespace optical_flow {

/// What a picture consists of: rows from top to bottom without gaps.
struct Samples {
    std::span<const std::uint8_t> bytes;
    int channels;                         ///< 1: grey; 3: red, green, blue
    int maximum;                          ///< the brightest; beyond 255, a sample has two bytes
    std::endian order = std::endian::big; ///< of these
};

/// 0 to 1: grey, or 0.299 R + 0.587 G + 0.114 B, of samples as they are stored, whatever their gamma is.
/// Samples above the maximum are as bright as it. Uses all processors.
///
/// Shapes    samples and brightness [height x width], row-major
void convert(const Samples& samples, Size size, std::span<float> brightness);

} // namespace optical_flow
