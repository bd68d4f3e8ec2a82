// apps/mandelbrot/picture.cpp - see picture.hpp.
#include "picture.hpp"
#include "program/png.hpp"

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

    return program::encode_png({.width = static_cast<std::uint32_t>(width),
                                .height = static_cast<std::uint32_t>(height),
                                .channels = 1,
                                .pixels = colours,
                                .palette = palette,
                                .fast = true});
}

std::filesystem::path file_of_frame(const std::filesystem::path& folder, std::size_t number) {
    char name[40];
    std::snprintf(name, sizeof name, "frame_%05zu.png", number);
    return folder / name;
}

} // namespace mandelbrot
