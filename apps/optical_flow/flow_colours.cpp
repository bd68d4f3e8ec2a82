// apps/optical_flow/flow_colours.cpp - see flow_colours.hpp.
#include "flow_colours.hpp"
#include "pixel_parts.hpp"
#include "program/png.hpp"
#include <headrace/core/error.hpp>

#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace optical_flow {
namespace {

using Colour = std::array<float, 3>; ///< 0 to 1

/// From one pure colour to the next, one channel rises or falls: more steps where the eye tells more apart.
constexpr auto wheel = [] {
    struct Arc {
        int steps, channel;
        bool rises;
    };
    constexpr Arc arcs[] = {{15, 1, true},  // red to yellow
                            {6, 0, false},  // to green
                            {4, 2, true},   // to cyan
                            {11, 1, false}, // to blue
                            {13, 0, true},  // to magenta
                            {6, 2, false}}; // to red
    std::array<Colour, 55> colours{};
    Colour now{1, 0, 0};
    std::size_t next = 0;
    for (const Arc& arc : arcs) {
        for (int i = 0; i < arc.steps; ++i) {
            const float part = static_cast<float>(i) / static_cast<float>(arc.steps);
            now[arc.channel] = arc.rises ? part : 1 - part;
            colours[next++] = now;
        }
        now[arc.channel] = arc.rises ? 1.0f : 0.0f;
    }
    return colours;
}();

/// As in files of the Middlebury benchmark; NaN is not below either.
bool is_known(float u, float v) { return std::abs(u) <= 1e9f && std::abs(v) <= 1e9f; }
float length(float u, float v) { return std::sqrt(u * u + v * v); }

/// Of (u, v), which is not 0, from the right by way of down: 0 to 1, right to 2e-6, a ten-thousandth of a
/// step of the wheel. std::atan2 was half of the time that colours took. Source  M. Abramowitz, I. Stegun,
/// "Handbook of Mathematical Functions", 1964, 4.4.49
float turns_of(float u, float v) {
    const float across = std::abs(u), down = std::abs(v);
    const float slope = std::min(across, down) / std::max(across, down), square = slope * slope;
    float sum = 0.0028662257f;
    for (const float factor : {-0.0161657367f, 0.0429096138f, -0.0752896400f, 0.1065626393f, -0.1420889944f,
                               0.1999355085f, -0.3333314528f, 1.0f})
        sum = sum * square + factor;
    float turns = slope * sum / (2 * std::numbers::pi_v<float>);
    if (down > across) turns = 0.25f - turns;
    if (u < 0) turns = 0.5f - turns;
    return v < 0 ? 1 - turns : turns;
}

/// The wheel closes: Middlebury's own code has 54 steps all around, and a jump at the right.
Colour hue(float u, float v) {
    const float turns = u == 0 && v == 0 ? 0 : turns_of(u, v);
    const float place = turns * static_cast<float>(wheel.size());
    const auto first = static_cast<std::size_t>(place);
    const float part = place - static_cast<float>(first);
    const Colour &from = wheel[first % wheel.size()], &to = wheel[(first + 1) % wheel.size()];
    Colour between;
    for (int i = 0; i < 3; ++i) between[i] = from[i] + part * (to[i] - from[i]);
    return between;
}

void colour_one(float u, float v, float longest, std::uint8_t* rgb) {
    if (!is_known(u, v)) {
        std::fill_n(rgb, 3, std::uint8_t{0});
        return;
    }
    const float saturation = longest > 0 ? length(u, v) / longest : 0;
    constexpr float dimmed = 0.75f;
    for (const float full : hue(u, v)) {
        const float channel = saturation <= 1 ? 1 - saturation * (1 - full) : dimmed * full;
        *rgb++ = static_cast<std::uint8_t>(255 * channel + 0.5f); // none is negative
    }
}

float longest_of(std::span<const float> u, std::span<const float> v) {
    return tbb::parallel_reduce(
        parts_of(u.size()), 0.0f,
        [&](const PixelPart& part, float longest) {
            for (std::size_t i = part.begin(); i != part.end(); ++i)
                if (is_known(u[i], v[i])) longest = std::max(longest, length(u[i], v[i]));
            return longest;
        },
        [](float a, float b) { return std::max(a, b); });
}

} // namespace

void colour(std::span<const float> u, std::span<const float> v, float longest, std::span<std::uint8_t> rgb) {
    HEADRACE_ASSERT(u.size() == v.size() && rgb.size() == 3 * u.size());
    HEADRACE_ASSERT(longest >= 0);
    if (longest == 0) longest = longest_of(u, v);
    tbb::parallel_for(parts_of(u.size()), [&](const PixelPart& part) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) colour_one(u[i], v[i], longest, &rgb[3 * i]);
    });
}

std::string encode_png(Size size, std::span<const float> u, std::span<const float> v, float longest) {
    HEADRACE_ASSERT(u.size() == size.pixels());
    std::vector<std::uint8_t> rgb(3 * size.pixels());
    colour(u, v, longest, rgb);
    return program::encode_png({.width = static_cast<std::uint32_t>(size.width),
                                .height = static_cast<std::uint32_t>(size.height),
                                .channels = 3,
                                .pixels = rgb,
                                .is_smooth = true});
}

} // namespace optical_flow
