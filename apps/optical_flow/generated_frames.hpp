// apps/optical_flow/generated_frames.hpp - a made-up film whose flow is known.
#pragma once
#include "size.hpp"

#include <cstdint>
#include <span>

namespace optical_flow {

/// By what everything moves from a generated frame to the next one; exact in floating point.
inline constexpr double generated_u = 1.5, generated_v = 0.75;

/// Frame `number` of a film without end: a texture, coarse and fine, that moves. Every fourth frame is the
/// same to the bit but for a whole number of pixels. Uses all processors.
///
/// Shapes    brightness [height x width], row-major, 0 to 1
void generate(std::int64_t number, Size size, std::span<float> brightness);

} // namespace optical_flow
