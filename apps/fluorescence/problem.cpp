// apps/fluorescence/problem.cpp - see problem.hpp.
#include "problem.hpp"
#include "layout.h"
#include <headrace/core/error.hpp>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <system_error>

namespace fluorescence {

using headrace::Error;
using headrace::ErrorKind;

namespace {

std::optional<std::string> complaint(const Optical& optical) {
    if (!(optical.mua >= 0)) return "mua must be 0 or more";
    if (!(optical.mus >= 0)) return "mus must be 0 or more";
    if (!(std::abs(optical.g) <= 1)) return "g must be from -1 to 1";
    if (!std::isfinite(optical.mua) || !std::isfinite(optical.mus)) return "mua and mus must be finite";
    return std::nullopt;
}

} // namespace

std::optional<std::string> complaint(const LayerSpec& layer) {
    if (!(layer.n >= least_n && layer.n <= most_n)) return "n must be from 0.01 to 100";
    if (!(layer.thickness >= 0)) return "d must be 0 cm or more";
    if (const auto found = complaint(layer.excitation)) return found;
    if (layer.emission)
        if (const auto found = complaint(*layer.emission)) return "emission: " + *found;
    if (!(layer.fluorophore_mua >= 0 && layer.fluorophore_mua <= layer.excitation.mua))
        return "fluorophore: mua must be from 0 to the layer's mua, of which it is part";
    if (!(layer.quantum_yield >= 0 && layer.quantum_yield <= 1))
        return "fluorophore: quantum_yield must be from 0 to 1";
    return std::nullopt;
}

std::optional<std::string> source_complaint(const Problem& problem) {
    const SourceSpec& source = problem.source;
    double depth = 0, n = problem.n_above; // of what the source is in
    for (const LayerSpec& layer : problem.layers) {
        if (source.depth > 0 && source.depth >= depth) n = layer.n;
        depth += layer.thickness;
    }
    if (source.depth > 0 && source.depth >= depth) return "depth must be within the layers";
    if (source.numerical_aperture > n)
        return "numerical_aperture must be at most n of what the fibre's end is in";
    return std::nullopt;
}

std::vector<Problem> read_problems(const std::filesystem::path& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
        throw Error{ErrorKind::not_found, file.string() + ": there is no such file"};
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream)
        throw Error{ErrorKind::io,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    if (file.extension() == ".toml") return {parse_toml(text, file.string())};
    return parse_mci(text, file.string());
}

} // namespace fluorescence
