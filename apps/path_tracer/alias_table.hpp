// apps/path_tracer/alias_table.hpp - choices by weight, with one look at a table.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace path_tracer {

/// Each column is taken equally often, and stays with this chance; else its alias is taken.
struct AliasColumn {
    float keep;
    std::uint32_t alias;
};

/// A table that takes each place as often as its share of all weights.
///
/// `weights`: 0 or more, not all of them 0
/// Source  Vose, "A linear algorithm for generating random numbers with a given distribution", 1991
[[nodiscard]] std::vector<AliasColumn> alias_table(std::span<const double> weights);

} // namespace path_tracer
