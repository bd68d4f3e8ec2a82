// apps/barnes_hut/column_names.cpp - see column_names.hpp.
#include "column_names.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace barnes_hut {
namespace {

constexpr std::array<std::string_view, 5> of_places{"pos", "position", "positions", "coord", "coordinates"},
    of_velocities{"vel", "velocity", "velocities", "v", "speed"};

bool has(const std::array<std::string_view, 5>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

/// In small letters, without its unit and what joins words.
std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char letter : name.substr(0, name.find_first_of("[(")))
        if (letter != ' ' && letter != '_')
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return plain;
}

} // namespace

std::size_t column_of(std::string_view name) {
    const std::string plain = plain_name(name);
    if (const auto* const ours = std::ranges::find(columns, plain); ours != columns.end())
        return static_cast<std::size_t>(ours - columns.begin());
    const std::string_view all = plain, stem = all.substr(0, all.size() - (all.empty() ? 0 : 1));
    const std::size_t axis = all.empty() ? unused_column : std::string_view("x0y1z2").find(all.back()) / 2;
    if (axis < velocity_column && has(of_places, stem)) return axis;
    if (axis < velocity_column && has(of_velocities, stem)) return velocity_column + axis;
    return plain == "mass" || plain == "masses" ? mass_column : unused_column;
}

bool may_be_name(std::string_view word) {
    if (column_of(word) != unused_column) return true;
    std::string stem = plain_name(word.substr(0, word.find_first_of("_/.-=^*{<")));
    // One digit is an index; more are a number: M31.
    if (stem.size() > 1 && std::isdigit(static_cast<unsigned char>(stem.back())) != 0) stem.pop_back();
    return column_of(stem) != unused_column || has(of_places, stem) || has(of_velocities, stem);
}

} // namespace barnes_hut
