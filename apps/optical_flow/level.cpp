// apps/optical_flow/level.cpp - see level.hpp.
#include "level.hpp"

#include <algorithm>

namespace optical_flow {

std::vector<Size> level_sizes(Size frame, int levels) {
    std::vector<Size> sizes{frame};
    for (int level = 1; level < levels; ++level)
        sizes.push_back({(sizes.back().width + 1) / 2, (sizes.back().height + 1) / 2});
    std::ranges::reverse(sizes);
    return sizes;
}

std::vector<Block> blocks_of(const Settings& settings) {
    // The finest level's warps may be a quarter of all work: 3 % in a block. Thousands take long to divide.
    const int of_a_warp = std::clamp(1000 / (settings.levels * settings.warps), 1, 8);
    constexpr int step = 8;
    const int each = std::max(1, (settings.iterations + of_a_warp * step - 1) / (of_a_warp * step)) * step;
    std::vector<Block> blocks;
    for (int level = 0; level < settings.levels; ++level)
        for (int warp = 0; warp < settings.warps; ++warp)
            for (int begin = 0; begin < std::max(settings.iterations, 1); begin += each)
                blocks.push_back({level, warp, begin, std::min(begin + each, settings.iterations)});
    return blocks;
}

} // namespace optical_flow
