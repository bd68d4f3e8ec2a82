// apps/program/png.hpp - PNG files in memory.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace program {

/// Pixels of 8 bits a channel, rows from the top, nothing between them.
struct PngImage {
    std::uint32_t width, height;
    int channels; ///< 1: grey, or numbers of colours; 3: RGB
    std::span<const std::uint8_t> pixels;
    std::span<const std::array<std::uint8_t, 3>> palette{}; ///< with one channel: colours, at most 256
    bool fast = false;                                      ///< a tenth more bytes in half of the time
    /// RGB whose neighbours are alike, as in pictures of a field: half of fast's bytes in half of its time.
    bool is_smooth = false;
};

/// The bytes of the file. Errors: io with libpng's words
[[nodiscard]] std::string encode_png(const PngImage& image);

} // namespace program
