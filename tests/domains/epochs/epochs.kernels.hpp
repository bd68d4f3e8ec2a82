// tests/domains/epochs/epochs.kernels.hpp - kernels whose results tell which units were done, and how often.
// numbered.cl is Numbered in OpenCL C.
#pragma once
#include <headrace/domains/view.hpp>

namespace headrace::test {

/// A number that tells much about `i`.
HEADRACE_HOST_DEVICE inline std::uint64_t mixed(std::uint64_t i) {
    i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ULL;
    return i ^ (i >> 27);
}

/// Unit i adds a number of its own to one cell, and one to the count of that cell.
struct Numbered {
    Sum<std::uint64_t> sums, counts;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        sums.add(i % sums.size(), mixed(i));
        counts.add(i % sums.size(), 1);
    }
};

/// Seed i makes one unit, which makes another.
struct Twice {
    std::uint64_t seed;
    std::uint32_t turn;
};
struct NumberedTwice {
    using Units = Kinds<Kind<Twice, 1>>;
    Sum<std::uint64_t> sums;

    HEADRACE_KERNEL void operator()(auto& lane, Twice unit) const {
        sums.add(unit.seed % sums.size(), mixed(unit.seed) + unit.turn);
        if (unit.turn == 0) lane.spawn(Twice{unit.seed, 1});
    }
};
struct FirstTurns {
    HEADRACE_KERNEL Twice operator()(std::uint64_t i) const { return {i, 0}; }
};

/// Every two units share a row.
struct HalfRows {
    View<std::uint64_t> rows;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { rows[i] = mixed(i); }
};

} // namespace headrace::test
