// apps/optical_flow/flow_colours.hpp - a flow field as people look at it: directions as colours.
// Source  Baker et al., "A Database and Evaluation Methodology for Optical Flow", IJCV 2011: the colour wheel
#pragma once
#include "size.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace optical_flow {

/// Three bytes, R, G and B, for each pixel. Directions go round the wheel: right is red, down yellow, left
/// between cyan and blue, up violet. No motion is white, and `longest` has full saturation; beyond it
/// colours are darker. Flow that is not known, NaN or longer than 1e9 in a component, is black. Uses all
/// processors.
///
/// Shapes    u and v [pixels], row-major; rgb [pixels x 3]
/// Units     pixels; `longest` 0: the longest in the field
void colour(std::span<const float> u, std::span<const float> v, float longest, std::span<std::uint8_t> rgb);

/// The file's bytes, of colours as above. Errors: io
[[nodiscard]] std::string encode_png(Size size, std::span<const float> u, std::span<const float> v,
                                     float longest);

} // namespace optical_flow
