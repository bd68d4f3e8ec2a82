// apps/fluorescence/incidence.cpp - see incidence.hpp.
#include "incidence.hpp"
#include "tissue.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fluorescence {
namespace {

bool is_along_axis(SourceKind kind) {
    return kind == SourceKind::pencil || kind == SourceKind::gaussian || kind == SourceKind::disc;
}

bool has_clear_first_layer(const Problem& problem) {
    const Optical& first = problem.layers.front().excitation;
    return first.mua + first.mus == 0 && problem.layers.size() > 1;
}

/// Fresnel's reflectance for unpolarised light whose ray has that sine, squared.
double reflectance_of(double n, double n_beyond, double square_sine) {
    if (n == n_beyond) return 0;
    const double square_beyond = square_sine * (n / n_beyond) * (n / n_beyond);
    if (square_beyond >= 1) return 1;
    const double in = std::sqrt(1 - square_sine), out = std::sqrt(1 - square_beyond);
    const double s = (n * in - n_beyond * out) / (n * in + n_beyond * out),
                 p = (n * out - n_beyond * in) / (n * out + n_beyond * in);
    return (s * s + p * p) / 2;
}

/// Of all rays of a fibre, of which each square of a sine has as many, up to the flattest.
double mean_reflectance(double n, double n_beyond, double square_sine) {
    constexpr int steps = 100'000;
    double sum = 0;
    for (int i = 0; i < steps; ++i) sum += reflectance_of(n, n_beyond, square_sine * (i + 0.5) / steps);
    return sum / steps;
}

double square(double x) { return x * x; }

double sine_of(const SourceSpec& source) { return std::sin(source.angle / 180 * std::numbers::pi); }

/// The layer in which the source is, and how far below its top.
struct Place {
    std::uint32_t layer;
    double depth, n;
};
Place place_of(const Problem& problem) {
    double top = 0;
    for (std::uint32_t layer = 0; layer < problem.layers.size(); ++layer) {
        const LayerSpec& here = problem.layers[layer];
        if (problem.source.depth < top + here.thickness) return {layer, problem.source.depth - top, here.n};
        top += here.thickness;
    }
    return {0, 0, problem.layers.front().n}; // on layers without thickness
}

} // namespace

double specular_reflectance(const Problem& problem) {
    const SourceSpec& source = problem.source;
    const LayerSpec& first = problem.layers.front();
    if (is_along_axis(source.kind)) {
        const double surface = reflectance_of(problem.n_above, first.n, 0);
        if (!has_clear_first_layer(problem)) return surface;
        // Back and forth within the clear layer. Source: as transport.h, eq. 3.5
        const double below = reflectance_of(first.n, problem.layers[1].n, 0);
        return surface + (1 - surface) * (1 - surface) * below / (1 - surface * below);
    }
    if (source.kind == SourceKind::oblique)
        return reflectance_of(problem.n_above, first.n, square(sine_of(source)));
    if (source.kind == SourceKind::fibre && source.depth == 0)
        return mean_reflectance(problem.n_above, first.n,
                                square(source.numerical_aperture / problem.n_above));
    return 0; // it is within
}

std::uint32_t first_layer_of(const Problem& problem) {
    if (is_along_axis(problem.source.kind)) return has_clear_first_layer(problem) ? 1 : 0;
    return problem.source.depth > 0 ? place_of(problem).layer : 0;
}

double passes_before(const Problem& problem) {
    if (!is_along_axis(problem.source.kind) || !has_clear_first_layer(problem)) return 0;
    const double below = reflectance_of(problem.layers[0].n, problem.layers[1].n, 0);
    return (1 + below) / (1 - below); // what passes is 1 - below of what comes down; below of it goes up
}

double passes_in_first_layer(const Problem& problem) {
    const double n = problem.layers[0].n,
                 again = reflectance_of(n, problem.n_above, 0) * reflectance_of(n, problem.layers[1].n, 0);
    return again > 0 ? 1 / std::log(again) : 0; // so often is a logarithm larger by less
}

Source make_source(const Problem& problem) {
    const SourceSpec& spec = problem.source;
    Source source{};
    source.radius = static_cast<float>(spec.radius);
    source.uz = 1;
    switch (spec.kind) {
    case SourceKind::pencil:
        source.kind = FLUORESCENCE_SOURCE_PENCIL;
        break;
    case SourceKind::gaussian:
        source.kind = FLUORESCENCE_SOURCE_GAUSSIAN;
        break;
    case SourceKind::disc:
        source.kind = FLUORESCENCE_SOURCE_DISC;
        break;
    case SourceKind::isotropic:
        source.kind = FLUORESCENCE_SOURCE_ISOTROPIC;
        break;
    case SourceKind::oblique: {
        source.kind = FLUORESCENCE_SOURCE_OBLIQUE;
        const double sine = sine_of(spec) * problem.n_above / problem.layers.front().n;
        if (sine >= 1) break; // all is reflected
        source.ux = static_cast<float>(sine);
        source.uz = static_cast<float>(std::sqrt(1 - sine * sine));
        break;
    }
    case SourceKind::fibre:
        source.kind = FLUORESCENCE_SOURCE_FIBRE;
        source.is_outside = spec.depth == 0 ? 1 : 0;
        source.surface = side_of(problem.n_above, problem.layers.front().n);
        const double n = source.is_outside != 0 ? problem.n_above : place_of(problem).n;
        source.square_sine = static_cast<float>(std::min(1.0, square(spec.numerical_aperture / n)));
        break;
    }
    if (spec.depth > 0) source.depth = static_cast<float>(place_of(problem).depth);
    return source;
}

} // namespace fluorescence
