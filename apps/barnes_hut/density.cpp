// apps/barnes_hut/density.cpp - see density.hpp.
#include "density.hpp"
#include "program/png.hpp"

#include <algorithm>
#include <cmath>

namespace barnes_hut {

std::vector<double> projected_density(const Bodies& bodies, std::uint32_t pixels) {
    double mass = 0, x = 0, y = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        mass += bodies.masses[i];
        x += bodies.masses[i] * bodies.places[i].x;
        y += bodies.masses[i] * bodies.places[i].y;
    }
    if (mass > 0) {
        x /= mass;
        y /= mass;
    }
    std::vector<double> away;
    for (const Vector& place : bodies.places)
        away.push_back(std::max(std::abs(place.x - x), std::abs(place.y - y)));
    const auto almost_last = away.begin() + static_cast<std::ptrdiff_t>((away.size() - 1) * 99 / 100);
    std::ranges::nth_element(away, almost_last);
    const double half = *almost_last > 0 ? *almost_last : 1;

    std::vector<double> density(std::size_t{pixels} * pixels);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double column = ((bodies.places[i].x - x) / half + 1) / 2 * pixels;
        const double row = (1 - (bodies.places[i].y - y) / half) / 2 * pixels;
        if (!(column >= 0 && column <= pixels && row >= 0 && row <= pixels)) continue;
        const auto at = [&](double place) { return std::min(static_cast<std::uint32_t>(place), pixels - 1); };
        density[std::size_t{at(row)} * pixels + at(column)] += bodies.masses[i];
    }
    return density;
}

std::string density_png(const Bodies& bodies, std::uint32_t pixels) {
    constexpr double decades = 5;
    const std::vector<double> density = projected_density(bodies, pixels);
    const double densest = *std::ranges::max_element(density);
    std::vector<std::uint8_t> greys;
    greys.reserve(density.size());
    for (const double here : density) {
        const double bright = here > 0 ? 1 + std::log10(here / densest) / decades : 0;
        greys.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(bright, 0.0, 1.0))));
    }
    return program::encode_png({.width = pixels, .height = pixels, .channels = 1, .pixels = greys});
}

} // namespace barnes_hut
