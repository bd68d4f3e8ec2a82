// apps/examples/mariani_silver.kernels.hpp - a work unit is a square of pixels.
#pragma once
#include <headrace/kernel.hpp>

struct Square {
    std::uint32_t x, y, side;
};

/// Until z^2 + c leaves the circle of radius 2. In fixed point, so that all devices compute the same.
HEADRACE_KERNEL inline std::uint32_t steps_at(std::uint32_t x, std::uint32_t y, std::uint32_t width) {
    constexpr std::int64_t fraction = 28, one = std::int64_t{1} << fraction;
    const std::int64_t c_re = 3 * one * x / width - 2 * one, c_im = 3 * one * y / width - 3 * one / 2;
    std::int64_t re = 0, im = 0;
    for (std::uint32_t step = 0; step < 1000; ++step) {
        const std::int64_t re2 = re * re >> fraction, im2 = im * im >> fraction;
        if (re2 + im2 > 4 * one) return step;
        im = (re * im >> (fraction - 1)) + c_im;
        re = re2 - im2 + c_re;
    }
    return 1000;
}

/// All of a square takes as many steps as its border, if that is uniform. Other squares become four.
struct DrawSquare {
    using Units = headrace::Kinds<headrace::Kind<Square, 4>>;
    headrace::Scatter<std::uint32_t> steps; ///< each unit writes pixels that no other one writes
    std::uint32_t width;

    HEADRACE_KERNEL void operator()(auto& lane, Square at) const {
        const std::uint32_t first = steps_at(at.x, at.y, width), end = at.side - 1, half = at.side / 2;
        const auto same = [&](auto x, auto y) { return steps_at(at.x + x, at.y + y, width) == first; };
        std::uint32_t alike = 0; // on each side of the border
        while (alike <= end && same(alike, 0) && same(alike, end) && same(0, alike) && same(end, alike))
            ++alike;
        if (alike <= end && at.side > 4)
            for (std::uint32_t i = 0; i < 4; ++i)
                lane.spawn(Square{at.x + i % 2 * half, at.y + i / 2 * half, half});
        else
            for (std::uint32_t y = at.y; y <= at.y + end; ++y)
                for (std::uint32_t x = at.x; x <= at.x + end; ++x)
                    steps(y, x) = alike > end ? first : steps_at(x, y, width);
    }
};

/// Squares of 64 x 64 pixels, row by row.
struct Squares {
    std::uint32_t in_row;
    HEADRACE_KERNEL Square operator()(std::uint64_t i) const {
        return {static_cast<std::uint32_t>(i) % in_row * 64, static_cast<std::uint32_t>(i) / in_row * 64, 64};
    }
};
