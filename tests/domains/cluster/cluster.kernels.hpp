// tests/domains/cluster/cluster.kernels.hpp - kernels of jobs that follow one another.
#pragma once
#include <headrace/domains/view.hpp>

namespace headrace::test {

struct TwiceWords {
    View<const std::uint64_t> from;
    View<std::uint64_t> to;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { to[i] = 2 * from[i]; }
};

/// Each element becomes a mixture of its neighbours: whose values are wrong shows further on.
struct Mix {
    View<const std::uint64_t> from;
    View<std::uint64_t> to;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        const std::uint64_t last = from.size() - 1;
        to[i] = 3 * from[i] + 5 * from[i == 0 ? last : i - 1] + 7 * from[i == last ? 0 : i + 1];
    }
};

struct AddIndex {
    View<std::uint64_t> x;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { x[i] += i; }
};

/// Unit i writes element size - 1 - i.
struct WriteMirrored {
    View<std::uint64_t> x;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { x[x.size() - 1 - i] = 11 * i; }
};

struct AddWords {
    View<const std::uint64_t> from;
    Sum<std::uint64_t> sums;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        sums.add(i % sums.size(), from[i % from.size()]);
    }
};

} // namespace headrace::test
