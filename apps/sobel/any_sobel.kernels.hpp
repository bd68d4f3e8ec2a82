// apps/sobel/any_sobel.kernels.hpp - edges of fields, and of samples that do not go up to 255: what
// sobel.kernels.hpp does not do, which is the faster for it.
#pragma once
#include "sobel.kernels.hpp"

#include <cstdint>

namespace sobel {

/// Over the grid of Sobel.
struct AnySobel {
    headrace::In<std::uint8_t> frame;
    headrace::Write<std::uint8_t> edges;
    video::Planes planes;
    int sample_bytes; ///< 1 or 2
    int most;         ///< the brightest sample
    int step;         ///< rows from one to the next of its field: 1 in whole frames, else 2

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        const video::Row row = planes.row(at.y);
        const bool is_inner = is_inner_row(&row, step);
        const int begin = at.x * strip;
        for (int x = begin; x < begin + strip && x < row.columns; ++x)
            put(row.first + x,
                is_inner && x > 0 && x < row.columns - 1 ? edge(row.first + x, row.columns) : 0);
    }

    [[nodiscard]] HEADRACE_HOST_DEVICE int sample(std::int64_t at) const {
        if (sample_bytes == 1) return frame(at);
        return frame(2 * at) | frame(2 * at + 1) << 8;
    }
    HEADRACE_HOST_DEVICE void put(std::int64_t at, std::uint32_t strength) const {
        if (sample_bytes == 1) {
            edges(at) = static_cast<std::uint8_t>(strength);
        } else {
            edges(2 * at) = static_cast<std::uint8_t>(strength);
            edges(2 * at + 1) = static_cast<std::uint8_t>(strength >> 8);
        }
    }
    [[nodiscard]] HEADRACE_HOST_DEVICE std::uint32_t edge(std::int64_t at, int columns) const {
        const std::int64_t stride = std::int64_t{step} * columns, above = at - stride, below = at + stride;
        return cut_magnitude(sample(above + 1) + 2 * sample(at + 1) + sample(below + 1) - sample(above - 1) -
                                 2 * sample(at - 1) - sample(below - 1),
                             sample(below - 1) + 2 * sample(below) + sample(below + 1) - sample(above - 1) -
                                 2 * sample(above) - sample(above + 1),
                             most);
    }
};

} // namespace sobel
