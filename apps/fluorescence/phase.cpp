// apps/fluorescence/phase.cpp - see phase.hpp.
#include "phase.hpp"

#include <cmath>

namespace fluorescence {

std::vector<PhaseNode> phase_nodes(const std::vector<PhaseRow>& table) {
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
                         static_cast<float>(here.density * words), static_cast<float>(slope * words)});
    }
    return nodes;
}

} // namespace fluorescence
