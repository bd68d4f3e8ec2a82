// apps/hotspot/chip.cpp - see chip.hpp.
#include "chip.hpp"
#include "program/file_content.hpp"
#include "program/numbers.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hotspot {
namespace {

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
    constexpr std::size_t usual = 64, room = 4096; // bytes of a number with its blanks; of blanks at the ends
    constexpr std::size_t longest = 1000;          // bytes of one number
    const auto refuse = [&](std::size_t number, const std::string& what) {
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              file.string() + ": number " + std::to_string(number + 1) + " of " +
                                  std::to_string(cells.size()) + " " + what};
    };
    std::size_t done = 0; // cells
    const auto take = [&](std::string_view word) {
        if (done == cells.size()) refuse(done, "is there too: does --size fit the file?");
        const std::optional<double> number = program::parse_number(word);
        if (!number) refuse(done, "is no number: " + std::string(word.substr(0, 20)));
        cells[done] = static_cast<float>(*number);
        if (!std::isfinite(cells[done]))
            refuse(done, "is " + std::string(word.substr(0, 40)) + ", which is no finite float32");
        ++done;
    };
    const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
    std::string begun; // a word that may go on in the next piece
    program::read_pieces(file, usual * cells.size() + room, [&](std::string_view piece) {
        for (auto at = piece.begin(); at != piece.end();) {
            const auto stop = std::find_if(at, piece.end(), is_space);
            begun.append(at, std::min(stop, at + std::min<std::ptrdiff_t>(longest + 1, piece.end() - at)));
            if (begun.size() > longest)
                refuse(done, "is no number: it has more than " + std::to_string(longest) + " bytes");
            if (stop == piece.end()) break;
            if (!begun.empty()) take(begun);
            begun.clear();
            at = std::find_if_not(stop, piece.end(), is_space);
        }
    });
    if (!begun.empty()) take(begun);
    if (done < cells.size()) refuse(done, "is missing: does --size fit the file?");
}

void check_finite(std::span<const float> cells, int size) {
    const auto wrong = std::ranges::find_if_not(cells, [](float cell) { return std::isfinite(cell); });
    if (wrong == cells.end()) return;
    const auto place = wrong - cells.begin();
    throw headrace::Error{headrace::ErrorKind::invalid_argument,
                          "the temperature in row " + std::to_string(place / size + 1) + ", column " +
                              std::to_string(place % size + 1) + " has become " +
                              (std::isnan(*wrong) ? "no number" : "infinite") +
                              ": beyond float32; use smaller numbers for --temperatures and --power"};
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
