// apps/optical_flow/level.hpp - the levels of a pyramid, and of what is to be done on them.
#pragma once
#include "size.hpp"

#include <string>
#include <vector>

namespace optical_flow {

/// What is computed. Levels are counted from the coarsest, 0.
struct Settings {
    int levels = 5, warps = 3, iterations = 500;
    double alpha = 0.2; ///< weight of smoothness, for brightness in [0, 1]
};

/// The coarsest first; each is half of the next one, rounded up.
[[nodiscard]] std::vector<Size> level_sizes(Size frame, int levels);

/// Iterations [begin, end) of one warp of a level. The first of a warp begins with what the warp needs, the
/// last adds to the flow what was found.
struct Block {
    int level, warp, begin, end;
    friend bool operator==(const Block&, const Block&) = default;
};

/// All of a pair of frames, in order: eight blocks of each warp, or fewer. They end at multiples of 8 or with
/// the warp, so that launches are the same however the work is divided.
[[nodiscard]] std::vector<Block> blocks_of(const Settings& settings);

} // namespace optical_flow
