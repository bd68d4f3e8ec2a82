// apps/path_tracer/alias_table.cpp - see alias_table.hpp.
#include "alias_table.hpp"

#include <cstddef>
#include <numeric>

namespace path_tracer {

std::vector<AliasColumn> alias_table(std::span<const double> weights) {
    const std::size_t count = weights.size();
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<AliasColumn> table(count);
    std::vector<double> filled(count);
    std::vector<std::uint32_t> poor, rich;
    for (std::size_t i = 0; i < count; ++i) {
        table[i] = {1, static_cast<std::uint32_t>(i)};
        filled[i] = weights[i] / total * static_cast<double>(count);
        (filled[i] < 1 ? poor : rich).push_back(static_cast<std::uint32_t>(i));
    }
    while (!poor.empty() && !rich.empty()) {
        const std::uint32_t low = poor.back(), high = rich.back();
        poor.pop_back();
        table[low].keep = static_cast<float>(filled[low]);
        table[low].alias = high;
        filled[high] -= 1 - filled[low];
        if (filled[high] < 1) {
            rich.pop_back();
            poor.push_back(high);
        }
    }
    return table; // what is left over differs from 1 by rounding only
}

} // namespace path_tracer
