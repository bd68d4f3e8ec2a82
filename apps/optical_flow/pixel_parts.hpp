// apps/optical_flow/pixel_parts.hpp - how a picture's pixels are divided over the processor's threads.
#pragma once
#include <tbb/blocked_range.h>

#include <cstddef>

namespace optical_flow {

/// Pixels [begin, end), row after row.
using PixelPart = tbb::blocked_range<std::size_t>;

/// Of `pixels`: no part that is not worth a task.
inline PixelPart parts_of(std::size_t pixels) { return {0, pixels, 1 << 13}; }

} // namespace optical_flow
