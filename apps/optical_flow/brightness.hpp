// apps/optical_flow/brightness.hpp - samples as files store them become brightness.
#pragma once
#include "size.hpp"
#include "video/picture.hpp"

#include <span>

namespace optical_flow {

using video::Samples;

/// 0 to 1: grey, or 0.299 R + 0.587 G + 0.114 B, of samples as they are stored, whatever their gamma is.
/// Samples above the maximum are as bright as it. Uses all processors.
///
/// Shapes    samples and brightness [height x width], row-major
void convert(const Samples& samples, Size size, std::span<float> brightness);

} // namespace optical_flow
