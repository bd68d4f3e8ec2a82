// apps/mandelbrot/picture.cpp - see picture.hpp. The one unit that sees libpng.
#include "picture.hpp"
#include <headrace/core/error.hpp>

#include <png.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

namespace mandelbrot {
namespace {

using Colour = std::array<std::uint8_t, 3>;

/// Black, and then 255 colours of which the last is next to the first.
std::array<Colour, 256> make_palette() {
    std::array<Colour, 256> palette{};
    for (int i = 1; i < 256; ++i)
        for (int channel = 0; channel < 3; ++channel) {
            const double turn = (i - 1) / 255.0 + 0.08 * channel + 0.5;
            palette[i][channel] =
                static_cast<std::uint8_t>(std::lround(127.5 * (1 + std::cos(2 * std::numbers::pi * turn))));
        }
    return palette;
}

} // namespace

Statistics statistics_of(std::span<const int> steps, int threshold) {
    Statistics sums;
    for (const int n : steps) {
        sums.early += n < 10;
        sums.inside += n == threshold;
        sums.steps += n;
    }
    return sums;
}

std::string encode_png(int width, int height, std::span<const int> steps, int threshold) {
    static const std::array<Colour, 256> palette = make_palette();
    constexpr int stride = 8; // colours from one number of steps to the next
    std::vector<std::uint8_t> colours(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
        colours[i] = steps[i] == threshold ? 0 : static_cast<std::uint8_t>(1 + steps[i] % 255 * stride % 255);

    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = PNG_FORMAT_RGB_COLORMAP;
    image.flags = PNG_IMAGE_FLAG_FAST; // a tenth more bytes in half of the time
    image.colormap_entries = palette.size();
    std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
    png_alloc_size_t size = bytes.size();
    if (png_image_write_to_memory(&image, bytes.data(), &size, 0, colours.data(), 0, palette.data()) == 0)
        throw headrace::Error{headrace::ErrorKind::io, std::string("libpng: ") + image.message};
    bytes.resize(size);
    return bytes;
}

std::filesystem::path file_of_frame(const std::filesystem::path& folder, std::size_t number) {
    char name[40];
    std::snprintf(name, sizeof name, "frame_%05zu.png", number);
    return folder / name;
}

} // namespace mandelbrot
