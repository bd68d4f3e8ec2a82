// tests/domains/job.kernels.hpp - kernels small enough to be checked by a line of host code.
#pragma once
#include <headrace/domains/view.hpp>
#include <headrace/persistent/sync.hpp>

namespace headrace::test {

/// out[i] = a * in[i] + out[i] * b: b = 0 writes, b = 1 updates.
struct Scale {
    View<const float> in;
    View<float> out;
    float a;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { out[i] = a * in[i]; }
};

struct Increment {
    View<std::uint32_t> x;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { x[i] += 1; }
};

/// x[i] after so many steps, each of which waits for the one before.
struct Settle {
    View<float> x;
    std::uint32_t steps;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        float value = x[i];
        for (std::uint32_t step = 0; step < steps; ++step) value = 0.5F * value + 1.0F;
        x[i] = value;
    }
};

/// Counts indices by their remainder.
struct Histogram {
    Sum<std::uint64_t> bins;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { bins.add(i % bins.size(), 1); }
};

/// A full binary tree below every seed: each node adds one to its seed's counter.
struct Node {
    std::uint32_t seed, depth;
};

struct Tree {
    using Units = Kinds<Kind<Node, 2>>;
    Sum<std::uint32_t> nodes;
    std::uint32_t depth;

    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        nodes.add(node.seed, 1);
        if (node.depth == depth) return;
        lane.spawn(Node{node.seed, node.depth + 1});
        lane.spawn(Node{node.seed, node.depth + 1});
    }
};

struct Roots {
    HEADRACE_KERNEL Node operator()(std::uint64_t index) const {
        return Node{static_cast<std::uint32_t>(index), 0};
    }
};

/// Of trees that a domain names.
struct ListedRoots {
    View<const std::uint32_t> list;

    HEADRACE_KERNEL Node operator()(std::uint64_t index) const { return Node{list[index], 0}; }
};

/// Units that follow one another without an end.
struct Endless {
    using Units = Kinds<Kind<Node, 1>>;
    Sum<std::uint64_t> turns;

    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        std::uint64_t x = node.depth | 1;
        for (int turn = 0; turn < 1000; ++turn) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        turns.add(0, x & 1);
        lane.spawn(Node{node.seed, node.depth + 1});
    }
};

/// Sums of a struct of scalars.
struct Pair {
    using Scalar = float;
    float x, y;
};

struct AddPairs {
    Sum<Pair> sums;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        sums.add(i % sums.size(), Pair{1.0F, 2.0F});
    }
};

/// Sums of every kind of number.
struct AddNumbers {
    Sum<std::int32_t> int32;
    Sum<std::uint32_t> uint32;
    Sum<std::int64_t> int64;
    Sum<std::uint64_t> uint64;
    Sum<long> one_long;
    Sum<long long> long_long;
    Sum<float> float32;
    Sum<double> float64;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const {
        int32.add(0, -3);
        uint32.add(0, 3);
        int64.add(0, -3'000'000'000);
        uint64.add(0, 3'000'000'000);
        one_long.add(0, -5);
        long_long.add(0, -7);
        float32.add(0, -0.5F);
        float64.add(0, -0.25);
    }
};

#if !defined(__CUDACC__) && !defined(__HIPCC__)
    #define HEADRACE_TEST_THROW throw 42
#else
    #define HEADRACE_TEST_THROW
#endif

/// Throws at one index: kernels may do so on the CPU.
struct Thrower {
    std::uint64_t at;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        if (i == at) HEADRACE_TEST_THROW;
    }
};

#if !defined(__CUDACC__) && !defined(__HIPCC__)
    #define HEADRACE_TEST_IS_SET(word) (HostSync::load(word, HostSync::acquire) != 0)
#else
    #define HEADRACE_TEST_IS_SET(word) true
#endif

/// Does not end before `*released` is set by another thread, which is for the CPU alone; never, if it is
/// null.
struct Stuck {
    Sum<std::uint64_t> turns;
    const std::uint32_t* released;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const {
        while (released == nullptr || !HEADRACE_TEST_IS_SET(*released)) turns.add(0, 1);
    }
};

/// Takes long: for cancelling.
struct Spin {
    Sum<std::uint64_t> turns;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        std::uint64_t x = i | 1;
        for (int turn = 0; turn < 10000; ++turn) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        turns.add(0, x & 1);
    }
};

} // namespace headrace::test
