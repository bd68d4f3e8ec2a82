// apps/coexec/rap.kernels.hpp - how to divide a resource between two activities so that they earn most, for
// every amount of it. A work unit is an amount; its work grows with it. rap.cl has it in OpenCL C.
#pragma once
#include <headrace/domains/view.hpp>

namespace coexec {

struct Divide {
    headrace::View<const std::int32_t> first, second; ///< what an activity earns with so much
    headrace::View<std::int32_t> best;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t amount) const {
        const std::int32_t* const a = first.origin;
        const std::int32_t* const b = second.origin + amount;
        const auto last = static_cast<std::int64_t>(amount);
        std::int32_t most = a[0] + b[0];
        for (std::int64_t i = 1; i <= last; ++i) {
            const std::int32_t sum = a[i] + b[-i];
            most = sum > most ? sum : most;
        }
        best[amount] = most;
    }
};

} // namespace coexec
