// apps/fluorescence/read_toml.hpp - a problem of a table that a program has made.
#pragma once
#include "problem.hpp"

#include <toml++/toml.h>

#include <string>

namespace fluorescence {

/// As parse_toml, of the same keys. `where` begins every complaint, which names the layer instead of a line.
/// Errors  invalid_argument
[[nodiscard]] Problem problem_of(const toml::table& table, const std::string& where);

} // namespace fluorescence
