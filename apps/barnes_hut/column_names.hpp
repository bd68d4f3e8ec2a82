// apps/barnes_hut/column_names.hpp - what columns of a table of bodies are called.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace barnes_hut {

/// The order of what we write, and of tables without names. Tables with four columns have x, y, z, m.
constexpr std::array<const char*, 7> columns{"x", "y", "z", "vx", "vy", "vz", "m"};
constexpr std::size_t mass_column = 6, velocity_column = 3;
/// For a name that is none of ours.
constexpr std::size_t unused_column = columns.size();

/// Our column of that name, whatever its case and its unit: "Mass [kg]".
[[nodiscard]] std::size_t column_of(std::string_view name);

/// Whether that is a name, or may be meant as one that column_of() does not know: "mass_kg", "x1", "pos.x".
[[nodiscard]] bool may_be_name(std::string_view word);

} // namespace barnes_hut
