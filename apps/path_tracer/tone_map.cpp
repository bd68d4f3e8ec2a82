// apps/path_tracer/tone_map.cpp - see tone_map.hpp.
#include "tone_map.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace path_tracer {
namespace {

/// Row by row.
using Matrix = std::array<Rgb, 3>;

Rgb times(const Matrix& matrix, Rgb colour) {
    const auto row = [&](const Rgb& factors) {
        return factors.r * colour.r + factors.g * colour.g + factors.b * colour.b;
    };
    return {row(matrix[0]), row(matrix[1]), row(matrix[2])};
}

template <class Function>
Rgb of_each(Rgb colour, Function function) {
    return {function(colour.r), function(colour.g), function(colour.b)};
}

float bounded(float value) { return value > 0 ? std::min(value, 1.0f) : 0.0f; } // NaN is black

Rgb aces(Rgb colour) {
    constexpr Matrix to_rendering = {
        {{0.59719f, 0.35458f, 0.04823f}, {0.07600f, 0.90834f, 0.01566f}, {0.02840f, 0.13383f, 0.83777f}}};
    constexpr Matrix to_screen = {{{1.60475f, -0.53108f, -0.07367f},
                                   {-0.10208f, 1.10813f, -0.00605f},
                                   {-0.00327f, -0.07276f, 1.07602f}}};
    const auto curve = [](float x) {
        const float bright = std::min(x, 1e6f); // beyond, squares would not be finite
        return (bright * (bright + 0.0245786f) - 0.000090537f) /
               (bright * (0.983729f * bright + 0.4329510f) + 0.238081f);
    };
    return of_each(times(to_screen, of_each(times(to_rendering, colour), curve)), bounded);
}

Rgb agx(Rgb colour) {
    constexpr Matrix inset = {{{0.842479062f, 0.0784336f, 0.0792237451f},
                               {0.0423282422f, 0.878468636f, 0.0791661274f},
                               {0.0423756549f, 0.0784336f, 0.879142974f}}};
    constexpr Matrix outset = {{{1.196879006f, -0.0980208811f, -0.0990297441f},
                                {-0.0528968518f, 1.151903130f, -0.0989611768f},
                                {-0.0529716355f, -0.0980434501f, 1.151073673f}}};
    static constexpr float darkest = -12.47393f, brightest = 4.026069f; // stops
    const auto curve = [](float value) {
        const float stops = std::log2(std::max(value, 1e-10f));
        const float x = (std::clamp(stops, darkest, brightest) - darkest) / (brightest - darkest);
        const float x2 = x * x, x4 = x2 * x2;
        return 15.5f * x4 * x2 - 40.14f * x4 * x + 31.96f * x4 - 6.868f * x2 * x + 0.4298f * x2 +
               0.1191f * x - 0.00232f;
    };
    const Rgb shown = times(outset, of_each(times(inset, colour), curve)); // as for a screen of gamma 2.2
    return of_each(shown, [](float value) { return std::pow(bounded(value), 2.2f); });
}

} // namespace

void map_tones(ToneMap map, std::span<Rgb> pixels) {
    if (map == ToneMap::none) return;
    for (Rgb& pixel : pixels) pixel = map == ToneMap::aces ? aces(pixel) : agx(pixel);
}

} // namespace path_tracer
