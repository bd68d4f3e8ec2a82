// tests/domains/cluster/cluster.kernels.hpp - kernels of jobs that follow one another.
#pragma once
#include <headrace/domains/view.hpp>
#include <headrace/persistent/sync.hpp>

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

/// A node of a tree that is not balanced: full for some levels, and then with none or two children, by
/// chance.
struct Twig {
    std::uint64_t key, depth;

    [[nodiscard]] HEADRACE_HOST_DEVICE static Twig root(std::uint64_t seed) { return {mixed(seed + 1), 0}; }
    [[nodiscard]] HEADRACE_HOST_DEVICE bool has_children() const {
        constexpr std::uint64_t full = 11, most = 60;
        return depth < full || (depth < most && mixed(key) % 100 < 48);
    }
    [[nodiscard]] HEADRACE_HOST_DEVICE Twig child(std::uint64_t number) const {
        return {mixed(key + 3 * number + 1), depth + 1};
    }

private:
    HEADRACE_HOST_DEVICE static std::uint64_t mixed(std::uint64_t x) { // splitmix64
        x += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return x ^ x >> 31;
    }
};

struct TwigRoots {
    HEADRACE_KERNEL Twig operator()(std::uint64_t index) const { return Twig::root(index); }
};

/// Counts the nodes of such trees, and the nodes that each rank has done. A node takes some time.
struct CountTwigs {
    using Units = Kinds<Kind<Twig, 2>>;
    Sum<std::uint64_t> nodes, of_rank;
    std::uint64_t rank, turns;

    HEADRACE_KERNEL void operator()(auto& lane, Twig twig) const {
        std::uint64_t x = twig.key | 1;
        for (std::uint64_t turn = 0; turn < turns; ++turn)
            x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        nodes.add(twig.key % nodes.size(), 1 + (x == 0 ? 1 : 0)); // x is odd or even, and hardly ever 0
        of_rank.add(rank, 1);
        if (!twig.has_children()) return;
        lane.spawn(twig.child(0));
        lane.spawn(twig.child(1));
    }
};

} // namespace headrace::test
