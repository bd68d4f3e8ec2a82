// apps/fluorescence/phase.cpp - see phase.hpp.
#include "phase.hpp"

#include <algorithm>
#include <cmath>

namespace fluorescence {

namespace {

/// As kernels take it. `most`: what is beyond changes no angle that a float can tell, and its square may
/// overflow.
float bounded(double value, double most) { return static_cast<float>(std::clamp(value, -most, most)); }

} // namespace

std::vector<PhaseNode> phase_nodes(std::vector<PhaseRow> table) {
    // The unit of a table may be so small or so large that areas in it cannot be divided.
    const double largest = std::ranges::max(table, {}, &PhaseRow::density).density;
    for (PhaseRow& row : table) row.density /= largest;
    const auto area = [&](std::size_t row) { // of the piece between this row and the one before
        return (table[row].cosine - table[row - 1].cosine) * (table[row].density + table[row - 1].density) /
               2;
    };
    double all = 0, before = 0;
    for (std::size_t row = 1; row < table.size(); ++row) all += area(row);
    const double words = 0x1p32 / all;
    std::vector<PhaseNode> nodes;
    for (std::size_t row = table.size() - 1; row > 0; --row) {
        const PhaseRow &here = table[row], &next = table[row - 1];
        const double below = std::round(before * words);
        before += area(row);
        // A piece without a word is never chosen.
        if (below >= 0x1p32 || std::round(before * words) == below) continue;
        const double slope = (next.density - here.density) / (here.cosine - next.cosine);
        nodes.push_back({static_cast<std::uint32_t>(below), static_cast<float>(1 - here.cosine),
                         bounded(here.density * words, 1e18), bounded(slope * words, 1e28)});
    }
    return nodes;
}

} // namespace fluorescence
