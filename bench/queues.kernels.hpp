// bench/queues.kernels.hpp - work units so light that queues are what they cost: trees, and packets that
// wander. Every program of a row takes the same steps, from here.
//
// Sums tell one set of units from another: of the nodes of a tree one in 1024 signs, since an addition for
// each would cost more than the node; a packet leaves a mark at each step.
#pragma once
#include <headrace/domains/view.hpp>
#include <headrace/persistent/kernel.hpp>
#include <headrace/persistent/sync.hpp>

#include <cstdint>

namespace bench {

using headrace::Sum;

/// A bijection of 32-bit words.
/// Source    A. Appleby, MurmurHash3, the finaliser
HEADRACE_HOST_DEVICE inline std::uint32_t scatter(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
}

// ---- trees

struct Node {
    std::uint32_t state;
    std::uint32_t levels; ///< below this one, at most
};

/// Binary trees: a node ends by chance, or with its last level; else it has two children.
struct TreeRules {
    static constexpr std::uint32_t sums = 4096;
    static constexpr std::uint32_t one_in_eight = 0, never = 8; ///< values of `ending`
    Sum<std::uint64_t> signatures;
    std::uint32_t ending = never; ///< what three bits of chance must be for a node to end

    /// False: it has no children.
    HEADRACE_HOST_DEVICE bool grow(Node node, Node& first, Node& second) const {
        const std::uint32_t chance = scatter(node.state);
        if ((chance >> 3 & 1023) == 0) signatures.add(chance >> 20, chance);
        first = {chance ^ 0x9e3779b9u, node.levels - 1};
        second = {chance + 0x7f4a7c15u, node.levels - 1};
        return node.levels > 0 && (chance & 7) != ending;
    }
};

struct Roots {
    std::uint32_t levels = 0;
    HEADRACE_KERNEL Node operator()(std::uint64_t index) const {
        return {static_cast<std::uint32_t>(index) * 0x9e3779b9u + 1, levels};
    }
};

/// `ResidentLanes`: for how many on a multiprocessor the compiler saves registers.
template <unsigned ResidentLanes>
struct GrowTreesAt {
    using Units = headrace::Kinds<headrace::Kind<Node, 2>>;
    static constexpr unsigned resident_lanes = ResidentLanes;
    TreeRules rules;

    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        Node first, second;
        if (!rules.grow(node, first, second)) return;
        lane.spawn(first);
        lane.spawn(second);
    }
};

using GrowTrees = GrowTreesAt<1>; ///< as many registers as the compiler likes

/// The same in units of 16 bytes.
struct WideNode {
    Node node;
    std::uint32_t ballast[2];
};
struct WideRoots {
    Roots roots;
    HEADRACE_KERNEL WideNode operator()(std::uint64_t index) const { return {roots(index), {1, 2}}; }
};
struct GrowWideTrees {
    using Units = headrace::Kinds<headrace::Kind<WideNode, 2>>;
    static constexpr unsigned resident_lanes = 1280; // queues take their time: others work meanwhile
    TreeRules rules;

    HEADRACE_KERNEL void operator()(auto& lane, WideNode wide) const {
        WideNode first = wide, second = wide;
        if (!rules.grow(wide.node, first.node, second.node)) return;
        lane.spawn(first);
        lane.spawn(second);
    }
};

/// How many nodes a tree has, visited by one thread that keeps the second children.
HEADRACE_HOST_DEVICE inline std::uint64_t count_nodes(const TreeRules& rules, Node node) {
    Node kept[32], second;
    std::uint32_t top = 0;
    for (std::uint64_t nodes = 1;; ++nodes)
        if (rules.grow(node, node, second))
            kept[top++] = second;
        else if (top > 0)
            node = kept[--top];
        else
            return nodes;
}

/// The same by calls.
HEADRACE_HOST_DEVICE inline std::uint64_t count_by_calls(const TreeRules& rules, Node node) {
    Node first, second;
    if (!rules.grow(node, first, second)) return 1;
    return 1 + count_by_calls(rules, first) + count_by_calls(rules, second);
}

// ---- grains

/// Light units: each signs, perhaps.
struct GrainRules {
    static constexpr std::uint32_t sums = TreeRules::sums;
    Sum<std::uint64_t> signatures;

    HEADRACE_HOST_DEVICE void settle(std::uint32_t state) const {
        const std::uint32_t chance = scatter(state);
        if ((chance >> 3 & 1023) == 0) signatures.add(chance >> 20, chance);
    }
};
struct Grain {
    std::uint32_t state;
    std::uint32_t sows; ///< so many others: the first one does
};

/// Each grain from a seed of its own.
struct SettleGrains {
    using Units = headrace::Kinds<headrace::Kind<Grain, 0>>;
    GrainRules rules;
    HEADRACE_KERNEL void operator()(auto&, Grain grain) const { rules.settle(grain.state); }
};
struct Grains {
    HEADRACE_KERNEL Grain operator()(std::uint64_t index) const {
        return {static_cast<std::uint32_t>(index), 0};
    }
};

/// All but one from a range that this one spawns.
struct Handful {
    std::uint32_t first;
};
struct GrainsOfHandful {
    HEADRACE_KERNEL Grain operator()(std::uint64_t index, const Handful& handful) const {
        return {handful.first + static_cast<std::uint32_t>(index), 0};
    }
};
struct SowGrains {
    using Units = headrace::Kinds<headrace::Kind<Grain, 1>, headrace::RangeKind<Handful, GrainsOfHandful>>;
    GrainRules rules;
    HEADRACE_KERNEL void operator()(auto& lane, Grain grain) const {
        rules.settle(grain.state);
        if (grain.sows > 0) lane.spawn_range(0, grain.sows, Handful{grain.state + 1});
    }
};
struct Sowers {
    std::uint32_t sows = 0;
    HEADRACE_KERNEL Grain operator()(std::uint64_t index) const {
        return {static_cast<std::uint32_t>(index) * (sows + 1), sows};
    }
};

// ---- packets

struct Packet {
    std::uint32_t state;
    std::uint32_t stream; ///< odd: each packet has random numbers of its own
};

/// Steps of geometrically distributed number, 32 on average, with one scattered addition each.
struct WalkRules {
    static constexpr std::uint32_t cells = 1 << 20;
    Sum<float> grid; ///< whole numbers below 2^24: exact in any order

    /// False: it ends here.
    HEADRACE_HOST_DEVICE bool step(Packet& packet) const {
        packet.state = packet.state * 747796405u + packet.stream;
        const std::uint32_t chance = scatter(packet.state);
        grid.add(chance % cells, 1.0f);
        return chance >> 27 != 0;
    }
};

struct Starts {
    HEADRACE_KERNEL Packet operator()(std::uint64_t index) const {
        const auto number = static_cast<std::uint32_t>(index);
        return {scatter(number), 2 * number + 1};
    }
};

struct Walk {
    using Units = headrace::Kinds<headrace::Kind<Packet, 1>>;
    WalkRules rules;

    HEADRACE_KERNEL void operator()(auto& lane, Packet packet) const {
        if (rules.step(packet)) lane.spawn(packet);
    }
};

} // namespace bench
