// apps/sobel/sobel.kernels.hpp - edges of a whole frame, every plane on its own, in one launch.
#pragma once
#include "magnitude.h"
#include "video/planes.hpp"
#include <headrace/kernel.hpp>

#include <cstring>

namespace sobel {

/// Pixels of a row that one call does: the bytes of one vector register on every processor.
inline constexpr int strip = 16;

/// Over a grid of strips: all rows of all planes, times what the widest row takes.
struct Sobel {
    headrace::In<std::uint8_t> frame;
    headrace::Write<std::uint8_t> edges;
    video::Planes planes;

    HEADRACE_KERNEL void operator()(headrace::Index<2> at) const {
        const video::Row row = planes.row(at.y);
        const int begin = at.x * strip;
        if (is_inner_row(&row, 1) && begin > 0 && begin + strip < row.columns) {
            std::uint8_t strength[strip]; // in a register: what is stored could else be what is read next
            for (int i = 0; i < strip; ++i) strength[i] = edge(row.first + begin + i, row.columns);
            std::memcpy(edges.data() + row.first + begin, strength, strip);
        } else {
            for (int x = begin; x < begin + strip && x < row.columns; ++x)
                edges(row.first + x) = is_inner_row(&row, 1) && x > 0 && x < row.columns - 1
                                           ? edge(row.first + x, row.columns)
                                           : std::uint8_t{0};
        }
    }

    HEADRACE_HOST_DEVICE std::uint8_t edge(std::int64_t at, int columns) const {
        const std::int64_t above = at - columns, below = at + columns;
        const auto pixel = [this](std::int64_t i) -> int { return frame(i); };
        return magnitude(pixel(above + 1) + 2 * pixel(at + 1) + pixel(below + 1) - pixel(above - 1) -
                             2 * pixel(at - 1) - pixel(below - 1),
                         pixel(below - 1) + 2 * pixel(below) + pixel(below + 1) - pixel(above - 1) -
                             2 * pixel(above) - pixel(above + 1));
    }
};

} // namespace sobel
