// tests/persistent/trees.kernels.hpp - kernels whose every unit can be counted, for all technologies.
#pragma once
#include <headrace/persistent/atomics.hpp>
#include <headrace/persistent/kernel.hpp>

#include <cstdint>
#include <optional>

namespace headrace::test {

/// A bijection of 64-bit words (splitmix64's finaliser): sums of it tell one set of ids from another.
HEADRACE_HOST_DEVICE inline std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/// Who arrived: how many, and the sum of their mixed ids. Several sums, so that lanes do not queue for one
/// address.
struct Arrivals {
    static constexpr std::uint32_t cells = 1024;
    std::uint64_t* words = nullptr; ///< counts[cells], sums[cells]

    HEADRACE_HOST_DEVICE void arrive(std::uint64_t id) const {
        const std::uint64_t mixed = mix(id);
        const std::uint64_t cell = mixed % cells;
        atomic_add(words[cell], std::uint64_t{1});
        atomic_add(words[cells + cell], mixed);
    }
};

/// A node of a tree whose ids are those of a heap, below each seed a tree of its own.
struct Node {
    std::uint64_t seed;
    std::uint64_t heap; ///< 1: the root; children of h are 2h and 2h + 1
    HEADRACE_HOST_DEVICE std::uint64_t id() const { return mix(seed) ^ heap; }
};

/// Full binary trees of `depth` levels: both children are spawned.
struct BinaryTree {
    using Units = Kinds<Kind<Node, 2>>;
    Arrivals arrivals;
    std::uint64_t first_leaf = 1; ///< heap numbers from here on are leaves: 2^(depth - 1)

    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        arrivals.arrive(node.id());
        if (node.heap >= first_leaf) return;
        lane.spawn(Node{node.seed, 2 * node.heap});
        lane.spawn(Node{node.seed, 2 * node.heap + 1});
    }
};

/// Trees whose nodes end by chance: depth and width differ from seed to seed.
struct IrregularTree {
    using Units = Kinds<Kind<Node, 4>>;
    Arrivals arrivals;
    std::uint64_t deepest = 1; ///< heap numbers from here on are leaves

    HEADRACE_HOST_DEVICE static unsigned children(const Node& node) {
        const std::uint64_t chance = mix(node.id()) % 16;
        return chance < 7 ? 0 : chance < 11 ? 1 : chance < 14 ? 2 : chance < 15 ? 3 : 4;
    }
    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        arrivals.arrive(node.id());
        if (node.heap >= deepest) return;
        for (unsigned child = 0; child < children(node); ++child)
            lane.spawn(Node{node.seed, 4 * node.heap + child});
    }
};

struct Roots {
    HEADRACE_KERNEL Node operator()(std::uint64_t index) const { return {index, 1}; }
};

/// A chain: every unit spawns one successor, so no queue is used at all.
struct Link {
    std::uint64_t seed;
    std::uint32_t left;
    std::uint32_t unused;
};
struct Chain {
    using Units = Kinds<Kind<Link, 1>>;
    Arrivals arrivals;
    HEADRACE_KERNEL void operator()(auto& lane, Link link) const {
        arrivals.arrive(mix(link.seed) + link.left);
        if (link.left > 0) lane.spawn(Link{link.seed, link.left - 1, 0});
    }
};
struct ChainStarts {
    std::uint32_t longest = 1;
    HEADRACE_HOST_DEVICE std::uint32_t length(std::uint64_t index) const {
        return static_cast<std::uint32_t>(mix(index) % longest);
    }
    HEADRACE_KERNEL Link operator()(std::uint64_t index) const { return {index, length(index), 0}; }
};

/// Three kinds of three sizes: a branch makes buds and a leaf, a bud makes a branch and leaves, a leaf makes
/// nothing.
struct Branch {
    std::uint64_t id;
    std::uint32_t depth;
    std::uint32_t unused;
};
struct Bud {
    std::uint64_t id;
    std::uint32_t depth;
    std::uint32_t ballast[5];
};
struct Leaf {
    std::uint32_t low, high;
};
struct Plant {
    using Units = Kinds<Kind<Branch, 3>, Kind<Bud, 3>, Kind<Leaf, 0>>;
    Arrivals arrivals;
    std::uint32_t depth = 1;

    HEADRACE_HOST_DEVICE static Leaf leaf(std::uint64_t id) {
        return {static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32)};
    }
    HEADRACE_KERNEL void operator()(auto& lane, Branch branch) const {
        arrivals.arrive(branch.id);
        lane.spawn(leaf(mix(branch.id + 1)));
        if (branch.depth >= depth) return;
        lane.spawn(Bud{mix(branch.id + 2), branch.depth + 1, {1, 2, 3, 4, 5}});
        if (mix(branch.id) % 3 != 0) lane.spawn(Bud{mix(branch.id + 3), branch.depth + 1, {1, 2, 3, 4, 5}});
    }
    HEADRACE_KERNEL void operator()(auto& lane, Bud bud) const {
        // A ballast that did not survive the queues shows as an id that is not expected.
        const bool whole = bud.ballast[0] == 1 && bud.ballast[2] == 3 && bud.ballast[4] == 5;
        arrivals.arrive(whole ? bud.id : 0);
        if (bud.depth < depth) lane.spawn(Branch{mix(bud.id + 4), bud.depth + 1, 0});
        lane.spawn(leaf(mix(bud.id + 5)));
        lane.spawn(leaf(mix(bud.id + 6)));
    }
    HEADRACE_KERNEL void operator()(auto&, Leaf leaf) const {
        arrivals.arrive(std::uint64_t{leaf.high} << 32 | leaf.low);
    }
};
struct Sprouts {
    HEADRACE_KERNEL Branch operator()(std::uint64_t index) const { return {mix(index), 0, 0}; }
};

/// Chains whose links change their kind with each step: nothing stays in its lane.
struct Crossing {
    std::uint64_t seed;
    std::uint32_t left;
    std::uint32_t unused;
};
struct Return : Crossing {};
struct Ferry {
    using Units = Kinds<Kind<Crossing, 1>, Kind<Return, 1>>;
    Arrivals arrivals;
    HEADRACE_KERNEL void operator()(auto& lane, Crossing link) const {
        arrivals.arrive(mix(link.seed) + link.left);
        if (link.left > 0) lane.spawn(Return{{link.seed, link.left - 1, 0}});
    }
    HEADRACE_KERNEL void operator()(auto& lane, Return link) const {
        arrivals.arrive(mix(link.seed) + link.left);
        if (link.left > 0) lane.spawn(Crossing{link.seed, link.left - 1, 0});
    }
};
struct Quays {
    std::uint32_t longest = 1;
    HEADRACE_KERNEL Crossing operator()(std::uint64_t index) const {
        return {index, static_cast<std::uint32_t>(mix(index) % longest), 0};
    }
};

/// Sparks whose followers are ranges: the first make `width` each, the later ones a few or none, and perhaps
/// one more that is no range.
struct Spark {
    std::uint64_t id;
    std::uint32_t level;
    std::uint32_t unused;
};
struct Burst {
    std::uint64_t id;
    std::uint32_t level;
    std::uint32_t unused;
};
struct Sparks {
    HEADRACE_KERNEL Spark operator()(std::uint64_t index, const Burst& burst) const {
        return {mix(burst.id + index), burst.level, 0};
    }
};
struct Fireworks {
    using Units = Kinds<Kind<Spark, 2>, RangeKind<Burst, Sparks>>;
    Arrivals arrivals;
    std::uint32_t depth = 1;
    std::uint64_t width = 1;

    static constexpr std::uint64_t first = (std::uint64_t{1} << 32) - 3; ///< indices go beyond 32 bits

    HEADRACE_HOST_DEVICE void spread(auto& lane, Spark spark) const {
        if (spark.level >= depth) return;
        const std::uint64_t count = spark.level == 0 ? width : mix(spark.id + 7) % 4;
        lane.spawn_range(first, first + count, Burst{spark.id, spark.level + 1, 0});
        if (spark.level > 0 && mix(spark.id) % 4 == 0) lane.spawn(Spark{~spark.id, spark.level + 1, 0});
    }
    HEADRACE_KERNEL void operator()(auto& lane, Spark spark) const {
        arrivals.arrive(spark.id);
        spread(lane, spark);
    }
};
struct Fuses {
    HEADRACE_KERNEL Spark operator()(std::uint64_t index) const { return {mix(index), 0, 0}; }
};
/// Seeds that are ranges, some of them empty.
struct Rockets {
    std::uint64_t longest = 1;
    HEADRACE_KERNEL Range<Burst> operator()(std::uint64_t index) const {
        return {index, index + mix(index) % longest, {mix(index), 1, 0}};
    }
};

/// Three kinds and two of ranges, one of them with gaps: a stem makes ranges of shoots and of needles, a
/// shoot makes a stem and perhaps needles.
struct Stem {
    std::uint64_t id;
    std::uint32_t depth;
    std::uint32_t unused;
};
struct Shoot {
    std::uint64_t id;
    std::uint32_t depth;
    std::uint32_t ballast[5];
};
struct Needle {
    std::uint32_t low, high;
};
struct Whorl {
    std::uint64_t id;
    std::uint32_t depth;
    std::uint32_t ballast[3];
};
struct Shoots {
    HEADRACE_KERNEL Shoot operator()(std::uint64_t index, const Whorl& whorl) const {
        const bool whole = whorl.ballast[0] == 1 && whorl.ballast[2] == 3;
        return {whole ? mix(whorl.id + index) : 0, whorl.depth, {1, 2, 3, 4, 5}};
    }
};
struct Twig {
    std::uint64_t id;
};
struct Needles {
    HEADRACE_KERNEL std::optional<Needle> operator()(std::uint64_t index, const Twig& twig) const {
        const std::uint64_t id = mix(twig.id ^ index);
        if (id % 3 == 0) return std::nullopt;
        return Needle{static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32)};
    }
};
struct Conifer {
    using Units = Kinds<RangeKind<Twig, Needles>, Kind<Stem, 2>, Kind<Shoot, 2>, RangeKind<Whorl, Shoots>,
                        Kind<Needle, 0>>;
    Arrivals arrivals;
    std::uint32_t depth = 1;

    HEADRACE_KERNEL void operator()(auto& lane, Stem stem) const {
        arrivals.arrive(stem.id);
        lane.spawn_range(0, mix(stem.id + 1) % 50, Twig{stem.id});
        if (stem.depth < depth)
            lane.spawn_range(5, 5 + mix(stem.id + 2) % 4, Whorl{stem.id, stem.depth + 1, {1, 2, 3}});
    }
    HEADRACE_KERNEL void operator()(auto& lane, Shoot shoot) const {
        const bool whole = shoot.ballast[0] == 1 && shoot.ballast[2] == 3 && shoot.ballast[4] == 5;
        arrivals.arrive(whole ? shoot.id : 0);
        lane.spawn(Stem{mix(shoot.id + 3), shoot.depth, 0});
        if (shoot.id % 2 == 0) lane.spawn_range(0, 3, Twig{shoot.id});
    }
    HEADRACE_KERNEL void operator()(auto&, Needle needle) const {
        arrivals.arrive(std::uint64_t{needle.high} << 32 | needle.low);
    }
};
struct Saplings {
    HEADRACE_KERNEL Stem operator()(std::uint64_t index) const { return {mix(index), 0, 0}; }
};

/// Roots for a few of the indices.
struct SparseRoots {
    std::uint64_t one_in = 10;
    HEADRACE_KERNEL std::optional<Node> operator()(std::uint64_t index) const {
        if (mix(index) % one_in != 0) return std::nullopt;
        return Node{index, 1};
    }
};

/// A consumer: each index arrives.
struct Visit {
    Arrivals arrivals;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t index) const { arrivals.arrive(index); }
};

/// Adds amounts of either sign to sums that are kept near. `spread`: so many sums lie between two that are
/// used, to make more than a GPU has room for.
struct Tally {
    Arrivals arrivals; ///< `words` are the sums
    std::uint32_t spread = 1;

    static constexpr std::uint32_t used = 2 * Arrivals::cells;
    HEADRACE_KERNEL std::uint32_t local_sums() const { return used * spread; }
    HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t number) const {
        return arrivals.words[number / spread];
    }
    HEADRACE_HOST_DEVICE void add(auto& lane, std::uint64_t id) const {
        for (std::uint64_t i = 0; i < 4; ++i) {
            const std::uint64_t word = mix(4 * id + i);
            // Some sums are in high demand; some amounts are as large as they can be, or 0.
            const auto sum = static_cast<std::uint32_t>(i == 0 ? word % 3 : word % used) * spread;
            const auto amount = static_cast<std::int32_t>(word >> 32 >> (i == 3 ? 31 : 0));
            const auto find = [&]() -> std::uint64_t& { return sum_of(sum); };
            if (i == 1)
                lane.add(sum, static_cast<std::uint32_t>(amount), find);
            else
                lane.add(sum, amount, find);
        }
    }
    HEADRACE_KERNEL void operator()(auto& lane, std::uint64_t index) const { add(lane, index); }
};

/// The same by a consumer-producer: each link of a chain adds.
struct TallyChain {
    using Units = Kinds<Kind<Link, 2>>;
    Arrivals arrivals;
    std::uint32_t spread = 1;

    HEADRACE_KERNEL std::uint32_t local_sums() const { return Tally::used * spread; }
    HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t number) const {
        return arrivals.words[number / spread];
    }
    HEADRACE_KERNEL void operator()(auto& lane, Link link) const {
        Tally{arrivals, spread}.add(lane, mix(link.seed) + link.left);
        if (link.left > 0) lane.spawn(Link{link.seed, link.left - 1, 0});
        if (link.left > 100) lane.spawn(Link{link.seed + 1, link.left % 7, 0});
    }
};

/// What a lane group can do together, tried out: true if all lanes agree with what plain arithmetic says.
/// `key` varies what is computed.
template <class Group>
HEADRACE_HOST_DEVICE bool group_works(const Group& group, std::uint64_t key) {
    constexpr std::uint32_t lanes = Group::size;
    std::uint32_t* scratch = group.scratch();
    // Each lane's word, read by its neighbour.
    group.each([&](std::uint32_t lane) {
        scratch[lane] = static_cast<std::uint32_t>(mix(key + lane));
        scratch[lanes + lane] = ~0u; // the memory is ours up to the last word
    });
    group.sync();
    typename Group::template PerLane<bool> odd;
    group.each([&](std::uint32_t lane) {
        const std::uint32_t next = (lane + 1) % lanes;
        odd[lane] = scratch[next] == static_cast<std::uint32_t>(mix(key + next)) && next % 2 == 1;
    });
    group.sync(); // all have read before anyone writes again
    const auto votes = group.ballot([&](std::uint32_t lane) { return odd[lane]; });
    const std::uint64_t before_each =
        group.sum([&](std::uint32_t lane) { return std::uint64_t{Group::count_below(votes, lane)}; });
    std::uint64_t expected = 0;
    std::uint32_t odds = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        expected += odds;
        odds += (lane + 1) % lanes % 2;
    }
    const float floats = group.sum([&](std::uint32_t lane) { return 0.5f * static_cast<float>(lane); });
    const auto led = group.by_leader([&] { return mix(key); });
    return before_each == expected && Group::count(votes) == odds && led == mix(key) &&
           floats == 0.25f * static_cast<float>(lanes * (lanes - 1));
}
constexpr std::uint32_t group_scratch(std::uint32_t lanes) { return 2 * lanes; }

/// IrregularTree, its units processed by whole groups.
struct GroupTree : IrregularTree {
    using Serial = IrregularTree;
    static constexpr bool by_group = true;
    static constexpr std::uint32_t scratch_words(std::uint32_t lanes) { return group_scratch(lanes); }

    HEADRACE_KERNEL void operator()(auto& group, Node node) const {
        const bool works = group_works(group, node.id());
        group.by_leader([&] {
            arrivals.arrive(works ? node.id() : 0); // 0: an id that is not expected
            return 0u;
        });
        if (node.heap >= deepest) return;
        for (unsigned child = 0; child < children(node); ++child)
            group.spawn(Node{node.seed, 4 * node.heap + child});
    }
};

/// Two kinds, by whole groups: a branch makes a bud and a leaf, a bud makes a branch or two.
struct GroupPlant {
    using Units = Kinds<Kind<Branch, 2>, Kind<Bud, 2>, Kind<Leaf, 0>>;
    static constexpr bool by_group = true;
    Arrivals arrivals;
    std::uint32_t depth = 1;

    HEADRACE_HOST_DEVICE void arrive(auto& group, std::uint64_t id) const {
        group.by_leader([&] {
            arrivals.arrive(id);
            return 0u;
        });
    }
    HEADRACE_KERNEL void operator()(auto& group, Branch branch) const {
        arrive(group, branch.id);
        group.spawn(Plant::leaf(mix(branch.id + 1)));
        if (branch.depth < depth) group.spawn(Bud{mix(branch.id + 2), branch.depth + 1, {1, 2, 3, 4, 5}});
    }
    HEADRACE_KERNEL void operator()(auto& group, Bud bud) const {
        arrive(group, bud.ballast[0] == 1 && bud.ballast[4] == 5 ? bud.id : 0);
        group.spawn(Branch{mix(bud.id + 3), bud.depth, 0});
        if (mix(bud.id) % 3 != 0) group.spawn(Branch{mix(bud.id + 4), bud.depth, 0});
    }
    HEADRACE_KERNEL void operator()(auto& group, Leaf leaf) const {
        arrive(group, std::uint64_t{leaf.high} << 32 | leaf.low);
    }
};

/// Fireworks, by whole groups.
struct GroupFireworks : Fireworks {
    using Serial = Fireworks;
    static constexpr bool by_group = true;
    HEADRACE_KERNEL void operator()(auto& group, Spark spark) const {
        group.by_leader([&] {
            arrivals.arrive(spark.id);
            return 0u;
        });
        spread(group, spark);
    }
};

/// Numbers that a group goes through one by one.
struct Stretch {
    std::uint64_t begin, end;
};
struct Stretches {
    std::uint64_t length;
    HEADRACE_KERNEL Stretch operator()(std::uint64_t index) const {
        return {index * length, (index + 1) * length};
    }
};

/// Each number arrives; what is left of a stretch is shared when others are idle.
struct GroupShare {
    using Units = Kinds<Kind<Stretch, 3>>;
    static constexpr bool by_group = true;
    Arrivals arrivals;

    HEADRACE_KERNEL void operator()(auto& group, Stretch stretch) const {
        while (stretch.begin < stretch.end) {
            group.by_leader([&] {
                arrivals.arrive(stretch.begin);
                return 0u;
            });
            ++stretch.begin;
            if (stretch.begin % 16 == 0 && group.others_are_idle()) break;
        }
        const std::uint64_t third = (stretch.end - stretch.begin + 2) / 3;
        for (; stretch.begin < stretch.end; stretch.begin += third)
            group.spawn(Stretch{stretch.begin,
                                stretch.end - stretch.begin < third ? stretch.end : stretch.begin + third});
    }
};

/// A group consumer: each index arrives.
struct GroupVisit : Visit {
    using Serial = Visit;
    static constexpr bool by_group = true;
    static constexpr std::uint32_t scratch_words(std::uint32_t lanes) { return group_scratch(lanes); }

    HEADRACE_KERNEL void operator()(auto& group, std::uint64_t index) const {
        const bool works = group_works(group, index);
        group.by_leader([&] {
            arrivals.arrive(works ? index : ~index);
            return 0u;
        });
    }
};

/// Spawns one more than it declares, for one seed in a thousand.
struct Liar {
    using Units = Kinds<Kind<Node, 2>>;
    Arrivals arrivals;
    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        if (node.heap == 1 && node.seed % 1000 == 999)
            for (unsigned i = 0; i < 3; ++i) lane.spawn(Node{node.seed, 2 + i});
    }
};

} // namespace headrace::test
