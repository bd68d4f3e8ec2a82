// bench/mandelbrot_baseline.hpp - the frame of the baselines of headrace-mandelbrot: its options, its
// windows, what it makes of each frame, and one line of JSON. No part of the library is on the way.
#pragma once
#include "mandelbrot/picture.hpp"
#include "mandelbrot/window.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// Frames to be computed and finished.
class MandelbrotProblem {
public:
    int width = 1920, height = 1080, threshold = 1000;
    unsigned host_threads = 8, device = 0;
    std::vector<mandelbrot::Window> windows;

    [[nodiscard]] std::size_t pixels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    /// Calls `compute` with the raster of a frame, in floats as long as these tell its pixels apart and then
    /// in doubles, as headrace-mandelbrot does.
    template <class Compute>
    void with_raster(std::size_t frame, const Compute& compute) const {
        const mandelbrot::Window& window = windows[frame];
        if (window.is_coarse(width, height))
            compute(window.raster<float>(width, height));
        else
            compute(window.raster<double>(width, height));
    }
    /// Threads: any, on frames of their own.
    void finish(std::size_t frame, std::span<const int> steps);

    std::filesystem::path folder;
    std::vector<mandelbrot::Statistics> statistics; ///< of each frame
};

struct MandelbrotResult {
    double seconds = 0;
    std::string device; ///< what computed, with the driver's version
};

/// Reads the options, calls `work` and prints its result. Returns the exit code.
[[nodiscard]] int mandelbrot_baseline(int argc, char** argv, const char* about,
                                      const std::function<MandelbrotResult(MandelbrotProblem&)>& work);

} // namespace bench
