// tests/domains/bounds.kernels.hpp - kernels that use an element next to their own, in every view.
#pragma once
#include <headrace/domains/exact_sum.hpp>
#include <headrace/domains/reduction.hpp>
#include <headrace/domains/view.hpp>

#include <cstdint>

namespace headrace::test {

/// to[i + write] becomes from[i + read].
struct Shift {
    View<const float> from;
    View<float> to;
    std::uint64_t read, write;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { to[i + write] = from[i + read]; }
};

/// A picture of `width` columns: the sum of an element and of that so many columns further on.
struct AddColumns {
    View<const float> from;
    View<float> to;
    std::uint64_t width, columns;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const std::uint64_t y = i / width, x = i % width;
        to(y, x) = from(y, x) + from(y, x + columns);
    }
};

/// Element i of each, `shift` further on.
struct UseReplicas {
    Sum<std::uint32_t> sum;
    Sum<ExactSum<double>> exact;
    Reduction<std::int32_t, Max> most;
    Scatter<float> scattered;
    std::uint64_t sum_shift, exact_shift, most_shift, scatter_shift;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        sum.add(i + sum_shift, 1);
        exact.add(i + exact_shift, 1.0);
        most.combine(i + most_shift, static_cast<std::int32_t>(i));
        scattered[i + scatter_shift] = static_cast<float>(i);
    }
};

} // namespace headrace::test
