// bench/feeding.kernels.hpp - units that take about as long as they are told, and leave a mark.
#pragma once
#include <headrace/domains/view.hpp>

namespace bench {

struct MarkRules {
    static constexpr std::uint64_t cells = 4096;

    /// Fused multiplications and additions on GPUs. (Of integers a compiler may fold four into one, and do
    /// the rest of them with other instructions in one kernel than in the other.)
    HEADRACE_HOST_DEVICE static std::uint64_t mark(std::uint64_t index, std::uint32_t turns) {
        const float step = static_cast<float>(index % 64 + 1);
        float x = static_cast<float>(index % 1021);
        for (std::uint32_t turn = 0; turn < turns; ++turn) x = x * 0.9990234375f + step;
        return static_cast<std::uint64_t>(x);
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
