// apps/fluorescence/phase.cpp - see phase.hpp.
#include "phase.hpp"

#include <algorithm>
#include <cmath>

namespace fluorescence {

std::vector<PhaseNode> phase_nodes(const std::vector<PhaseRow>& table) {
    // Only the shape of the table counts: its numbers may be as small or as large as doubles are.
    const double largest = std::ranges::max_element(table, {}, &PhaseRow::density)->density;
    const auto density = [&](std::size_t row) { return table[row].density / largest; };
    const auto area = [&](std::size_t row) { // of the piece between this row and the one before
        return (table[row].cosine - table[row - 1].cosine) * (density(row) + density(row - 1)) / 2;
    };
    double all = 0, before = 0;
    for (std::size_t row = 1; row < table.size(); ++row) all += area(row);
    const double words = 0x1p32 / all;
    std::vector<PhaseNode> nodes;
    for (std::size_t row = table.size() - 1; row > 0; --row) {
        const double below = std::round(before * words);
        before += area(row);
        // A piece without a word is never chosen.
        if (below >= 0x1p32 || std::round(before * words) == below) continue;
        const double here = table[row].cosine, next = table[row - 1].cosine;
        const double slope = (density(row - 1) - density(row)) / (here - next);
        nodes.push_back({static_cast<std::uint32_t>(below), static_cast<float>(1 - here),
                         static_cast<float>(density(row) * words), static_cast<float>(slope * words)});
    }
    return nodes;
}

} // namespace fluorescence
