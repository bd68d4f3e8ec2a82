// apps/mandelbrot/window.hpp - the part of the plane that a picture shows, and how it shrinks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace mandelbrot {

/// Where in the plane the pixels are: the first of them, and how far apart.
template <class Real>
struct Raster {
    Real x, y, dx, dy;
};

struct Point {
    double x, y;
};

/// Pixel (0, 0) shows (x1, y1); the picture ends before x2 and y2.
struct Window {
    double x1 = -2.5, x2 = 1.5, y1 = -1.125, y2 = 1.125;

    template <class Real>
    [[nodiscard]] Raster<Real> raster(int width, int height) const {
        return {static_cast<Real>(x1), static_cast<Real>(y1), static_cast<Real>((x2 - x1) / width),
                static_cast<Real>((y2 - y1) / height)};
    }

    /// True if floats tell neighbouring pixels apart, with some bits to spare for the steps.
    [[nodiscard]] bool is_coarse(int width, int height) const {
        return spacing(width, height) > 16 * double{std::numeric_limits<float>::epsilon()} * reach();
    }
    /// True if doubles tell them apart: else the picture has blocks of equal pixels.
    [[nodiscard]] bool is_resolved(int width, int height) const {
        return spacing(width, height) > std::numeric_limits<double>::epsilon() * reach();
    }

    /// From one pixel to the next.
    [[nodiscard]] double spacing(int width, int height) const {
        return std::min(std::abs(x2 - x1) / width, std::abs(y2 - y1) / height);
    }
    /// The largest coordinate.
    [[nodiscard]] double reach() const {
        return std::max({std::abs(x1), std::abs(x2), std::abs(y1), std::abs(y2)});
    }

    /// Each edge goes on its way to the target by that share.
    ///
    /// Without a target as the paper has it: the second edge of two follows when the first has gone, so that
    /// the target is a little beyond the middle.
    [[nodiscard]] Window shrunk(double zoom, const std::optional<Point>& target) const {
        Window next = *this;
        next.x1 += zoom * (target ? target->x - x1 : x2 - x1);
        next.x2 += zoom * (target ? target->x - x2 : next.x1 - x2);
        next.y1 += zoom * (target ? target->y - y1 : y2 - y1);
        next.y2 += zoom * (target ? target->y - y2 : next.y1 - y2);
        return next;
    }
};

/// A window, and those that follow it: `frames` in all.
[[nodiscard]] inline std::vector<Window> zoom_from(Window window, double zoom, std::size_t frames,
                                                   const std::optional<Point>& target = {}) {
    std::vector<Window> windows;
    for (; windows.size() < frames; window = window.shrunk(zoom, target)) windows.push_back(window);
    return windows;
}

} // namespace mandelbrot
