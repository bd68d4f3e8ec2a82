// bench/feeding.kernels.hpp - units that take about as long as they are told, and leave a mark.
#pragma once
#include <headrace/domains/view.hpp>

namespace bench {

struct MarkRules {
    static constexpr std::uint64_t cells = 4096;

    HEADRACE_HOST_DEVICE static std::uint64_t mark(std::uint64_t index, std::uint32_t turns) {
        std::uint64_t x = index | 1;
        for (std::uint32_t turn = 0; turn < turns; ++turn)
            x = x * 6364136223846793005u + 1442695040888963407u;
        return x >> 32;
    }
};

/// A consumer: index i adds its mark to a cell.
struct Mark {
    headrace::Sum<std::uint64_t> cells;
    std::uint32_t turns;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        cells.add(i % MarkRules::cells, MarkRules::mark(i, turns));
    }
};

} // namespace bench
