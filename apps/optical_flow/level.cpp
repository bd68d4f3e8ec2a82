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

std::vector<Block> blocks_of(Size frame, const Settings& settings) {
    constexpr double most_of_all = 0.06; // of the work: what devices may differ by at a cut
    constexpr int step = 8;
    const std::vector<Size> sizes = level_sizes(frame, settings.levels);
    double pixels = 0;
    for (const Size size : sizes) pixels += static_cast<double>(size.pixels());
    std::vector<Block> blocks;
    for (int level = 0; level < settings.levels; ++level) {
        const double share = static_cast<double>(sizes[static_cast<std::size_t>(level)].pixels()) / pixels /
                             settings.warps; // of a warp
        const int wanted = std::max(1, static_cast<int>(share / most_of_all));
        const int each = (settings.iterations / wanted + step - 1) / step * step;
        for (int warp = 0; warp < settings.warps; ++warp)
            for (int begin = 0; begin < std::max(settings.iterations, 1); begin += std::max(each, step))
                blocks.push_back(
                    {level, warp, begin, std::min(begin + std::max(each, step), settings.iterations)});
    }
    return blocks;
}

} // namespace optical_flow
