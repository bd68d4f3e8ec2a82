// apps/mandelbrot/picture.hpp - what the host makes of a picture's steps: numbers that sum it up, and a PNG.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace mandelbrot {

struct Statistics {
    std::int64_t early = 0;  ///< pixels that left in fewer than 10 steps: the paper's signature of a picture
    std::int64_t inside = 0; ///< pixels that never left
    std::int64_t steps = 0;  ///< of all pixels
};
[[nodiscard]] Statistics statistics_of(std::span<const int> steps, int threshold);

/// Colours go round with the steps; what never left is black. Errors: io
[[nodiscard]] std::string encode_png(int width, int height, std::span<const int> steps, int threshold);

/// frame_00007.png.
[[nodiscard]] std::filesystem::path file_of_frame(const std::filesystem::path& folder, std::size_t number);

} // namespace mandelbrot
