// apps/hotspot/chip.cpp - see chip.hpp.
#include "chip.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <system_error>

namespace hotspot {
namespace {

using headrace::Error;
using headrace::ErrorKind;

// Rodinia's chip, in metres, watts and kelvin.
constexpr double thickness = 0.0005, side = 0.016;
constexpr double heat_capacity = 0.5 * 1.75e6; // of a cubic metre, fitted to a package
constexpr double conductivity = 100;           // of a metre
constexpr double most_power = 3e6;             // on a square metre
constexpr double precision = 0.001;            // of a step
constexpr double ambient = 80;

/// A number in [0, 1) that looks as if it had nothing to do with `key`. Keyed, so that any part of the cells
/// can be made alone. Source: G. Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014
double uniform(std::uint64_t key) {
    key = (key + 1) * 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((key ^ (key >> 31)) >> 11) * 0x1p-53;
}

} // namespace

Factors factors_of(int size) {
    const double cell = side / size;
    const double capacity = heat_capacity * thickness * cell * cell;
    const double to_neighbour =
        2 * conductivity * thickness; // cells are squares: across and down are the same
    const double to_sink = conductivity * cell * cell / thickness;
    const double rodinia = precision * heat_capacity * thickness / most_power;
    // A cell may give away 0.9 of its difference to those around it in a step; more than all would overshoot.
    const double longest = 0.9 * capacity / (4 * to_neighbour + to_sink);
    const double share = std::min(rodinia, longest) / capacity;
    const auto factor = [share](double conductance) { return static_cast<float>(share * conductance); };
    return {factor(to_neighbour), factor(to_neighbour), factor(to_sink), factor(1),
            static_cast<float>(ambient)};
}

void read_cells(const std::filesystem::path& file, std::span<float> cells) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
        throw Error{ErrorKind::not_found, file.string() + ": there is no such file"};
    std::ifstream stream(file, std::ios::binary);
    std::string text(std::filesystem::file_size(file), '\0');
    if (!stream.read(text.data(), static_cast<std::streamsize>(text.size())))
        throw Error{ErrorKind::io,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};

    const auto refuse = [&](std::size_t number, const std::string& what) {
        throw Error{ErrorKind::invalid_argument, file.string() + ": number " + std::to_string(number + 1) +
                                                     " of " + std::to_string(cells.size()) + " " + what};
    };
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto skip_space = [&] {
        while (at != end && std::isspace(static_cast<unsigned char>(*at))) ++at;
    };
    for (std::size_t i = 0; i < cells.size(); ++i) {
        skip_space();
        if (at == end) refuse(i, "is missing: does --size fit the file?");
        const auto [stop, error] = std::from_chars(at, end, cells[i]);
        if (error != std::errc{} || !std::isfinite(cells[i]) ||
            (stop != end && !std::isspace(static_cast<unsigned char>(*stop))))
            refuse(i, "is no number: " +
                          std::string(at, std::find_if(at, std::min(at + 20, end),
                                                       [](unsigned char c) { return std::isspace(c); })));
        at = stop;
    }
    skip_space();
    if (at != end) refuse(cells.size(), "is there too: does --size fit the file?");
}

std::string text_of(std::span<const float> cells) {
    std::string text;
    text.reserve(cells.size() * 11);
    for (const float cell : cells) {
        char number[32];
        text.append(number, std::to_chars(number, number + sizeof number, cell).ptr);
        text += '\n';
    }
    return text;
}

void make_temperatures(std::span<float> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<float>(323.15 + 10 * uniform(i));
}

void make_power(int size, std::span<float> cells) {
    constexpr int units = 16;
    const double most = most_power * side / size * side / size;
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
            const std::int64_t unit = std::int64_t{y} * units / size * units + std::int64_t{x} * units / size;
            cells[static_cast<std::size_t>(y) * size + x] = static_cast<float>(most * uniform(~unit));
        }
}

} // namespace hotspot
