// tests/apps/png_builder.hpp - PNG files of every kind that the format has, made in code.
#pragma once
#include <png.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace path_tracer::test {

struct PngParts {
    std::uint32_t width = 1, height = 1;
    int bits = 8;                       ///< of a sample
    int kind = PNG_COLOR_TYPE_RGB;      ///< libpng's number
    std::vector<std::uint16_t> samples; ///< rows from the top, one pixel behind the other
    std::vector<std::array<std::uint8_t, 3>> palette{};
    std::vector<std::uint8_t> opacities{}; ///< of the palette
};

/// Throws std::runtime_error if libpng fails.
inline std::string png_of(const PngParts& parts) {
    std::string bytes;
    png_structp png = png_create_write_struct(
        PNG_LIBPNG_VER_STRING, nullptr,
        [](png_structp, png_const_charp what) { throw std::runtime_error(what); }, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(
        png, &bytes,
        [](png_structp own, png_bytep from, std::size_t count) {
            static_cast<std::string*>(png_get_io_ptr(own))->append(reinterpret_cast<char*>(from), count);
        },
        nullptr);
    png_set_IHDR(png, info, parts.width, parts.height, parts.bits, parts.kind, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    std::vector<png_color> palette;
    for (const auto& [red, green, blue] : parts.palette) palette.push_back({red, green, blue});
    if (!palette.empty()) png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
    if (!parts.opacities.empty())
        png_set_tRNS(png, info, parts.opacities.data(), static_cast<int>(parts.opacities.size()), nullptr);
    png_write_info(png, info);
    const std::size_t of_row = parts.samples.size() / parts.height;
    for (std::uint32_t row = 0; row < parts.height; ++row) {
        std::vector<std::uint8_t> line;
        for (std::size_t i = 0; i < of_row; ++i) {
            const std::uint16_t sample = parts.samples[row * of_row + i];
            if (parts.bits == 16) line.push_back(static_cast<std::uint8_t>(sample >> 8));
            line.push_back(static_cast<std::uint8_t>(sample & 0xff));
        }
        png_write_row(png, line.data());
    }
    png_write_end(png, nullptr);
    png_destroy_write_struct(&png, &info);
    return bytes;
}

} // namespace path_tracer::test
