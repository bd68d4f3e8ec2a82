// apps/video/planes.hpp - the planes of a frame, as host and kernels see them.
#pragma once
#include "video/planes.h"

#include <cstddef>
#include <cstdint>

namespace video {

/// Planes that lie one behind the other, the widest first.
struct Planes {
    Plane plane[VIDEO_MOST_PLANES] = {}; ///< those that are not there have no rows

    [[nodiscard]] constexpr std::int64_t rows() const {
        std::int64_t sum = 0;
        for (const Plane& each : plane) sum += each.rows;
        return sum;
    }
    /// Of all planes, if a sample has one byte.
    [[nodiscard]] constexpr std::size_t bytes() const {
        std::size_t sum = 0;
        for (const Plane& each : plane)
            sum += static_cast<std::size_t>(each.rows) * static_cast<std::size_t>(each.columns);
        return sum;
    }
    /// The one with that number, counted through all planes; 0 to rows().
    [[nodiscard]] HEADRACE_HOST_DEVICE Row row(int number) const { return row_of(plane, number); }
};
static_assert(sizeof(Planes) == 32,
              "goes to kernels by value, to OpenCL C too, which has a definition of its own");

} // namespace video
