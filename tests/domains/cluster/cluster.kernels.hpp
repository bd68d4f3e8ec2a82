// tests/domains/cluster/cluster.kernels.hpp - kernels of jobs that follow one another.
#pragma once
#include <headrace/domains/view.hpp>

namespace headrace::test {

struct TwiceWords {
    View<const std::uint64_t> from;
    View<std::uint64_t> to;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { to[i] = 2 * from[i]; }
};

struct AddWords {
    View<const std::uint64_t> from;
    Sum<std::uint64_t> sums;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        sums.add(i % sums.size(), from[i % from.size()]);
    }
};

} // namespace headrace::test
