// tests/persistent/walks.kernels.hpp - the kernels of trees.kernels.hpp with a resumable kind: its units are
// processed in steps, and the same units must arrive.
#pragma once
#include "trees.kernels.hpp"

namespace headrace::test {

/// A walk of random length between three phases. It checks that each step is of the phase that the last step
/// named, and that the scratch keeps what steps wrote to it.
struct RandomWalk {
    struct State {
        std::uint64_t id;
        std::uint32_t step, length;
        bool is_broken;
    };
    struct Scratch {
        std::uint32_t met[16];
    };
    static constexpr unsigned phase_percent[] = {0, 25, 60};

    /// Most walks are short. Some take longer than a group has for a drain.
    HEADRACE_HOST_DEVICE static std::uint32_t length_of(std::uint64_t id) {
        const std::uint64_t chance = mix(id + 17);
        return static_cast<std::uint32_t>(chance % 128 == 0 ? 1 + chance / 128 % 300 : 1 + chance / 128 % 12);
    }
    HEADRACE_HOST_DEVICE static std::uint32_t word(std::uint64_t id, std::uint32_t step) {
        return static_cast<std::uint32_t>(mix(id + step));
    }
    HEADRACE_HOST_DEVICE static std::uint32_t phase_of(std::uint64_t id, std::uint32_t step) {
        return step == 0 ? 0 : word(id, step) % 16 < 10 ? 0 : word(id, step) % 16 < 14 ? 1 : 2;
    }
    HEADRACE_HOST_DEVICE static State begin(std::uint64_t id) { return {id, 0, length_of(id), false}; }
    HEADRACE_HOST_DEVICE static Phase step(std::uint32_t phase, State& walk, Scratch& scratch) {
        walk.is_broken = walk.is_broken || phase != phase_of(walk.id, walk.step);
        scratch.met[walk.step % 16] = word(walk.id, walk.step);
        ++walk.step;
        if (walk.step < walk.length) return Phase{phase_of(walk.id, walk.step)};
        for (std::uint32_t back = 1; back <= walk.step && back <= 16; ++back) {
            const std::uint32_t at = walk.step - back;
            walk.is_broken = walk.is_broken || scratch.met[at % 16] != word(walk.id, at);
        }
        return Phase::done;
    }
    /// What arrives: 0 is an id that no serial version expects.
    HEADRACE_HOST_DEVICE static std::uint64_t arrival(const State& walk) {
        return walk.is_broken || walk.step != walk.length ? 0 : walk.id;
    }
};

/// begin and step of a kernel whose resumable units have an id.
template <class Tree>
struct Walking : Tree {
    using Serial = Tree;

    template <std::uint32_t P>
    HEADRACE_KERNEL Phase step(Constant<P>, auto&, RandomWalk::State& walk,
                               RandomWalk::Scratch& scratch) const {
        return RandomWalk::step(P, walk, scratch);
    }
};

/// One kind, which spawns: the unit is kept for finish.
struct WalkTree : Walking<IrregularTree> {
    using Units = Kinds<ResumableKind<Node, 4, RandomWalk>>;
    HEADRACE_KERNEL RandomWalk::State begin(auto&, const Node& node) const {
        return RandomWalk::begin(node.id());
    }
    HEADRACE_KERNEL void finish(auto& lane, RandomWalk::State& walk, const Node& node) const {
        arrivals.arrive(RandomWalk::arrival(walk));
        if (node.heap >= deepest) return;
        for (unsigned child = 0; child < children(node); ++child)
            lane.spawn(Node{node.seed, 4 * node.heap + child});
    }
};

/// One phase and no scratch, and no queues: each unit spawns its successor. The State gives the unit back.
struct WalkChain : Chain {
    using Serial = Chain;
    struct CountDown {
        struct State {
            Link link;
            std::uint32_t left;
        };
        static constexpr unsigned phase_percent[] = {0};
    };
    using Units = Kinds<ResumableKind<Link, 1, CountDown>>;
    static constexpr unsigned drain_steps = 3;
    HEADRACE_KERNEL CountDown::State begin(auto&, const Link& link) const {
        return {link, RandomWalk::length_of(link.seed + link.left)};
    }
    HEADRACE_KERNEL Phase step(Constant<0>, auto&, CountDown::State& walk) const {
        return --walk.left > 0 ? Phase{0} : Phase::done;
    }
    HEADRACE_KERNEL void finish(auto& lane, CountDown::State& walk) const { (*this)(lane, walk.link); }
    HEADRACE_KERNEL Link unit(const CountDown::State& walk) const { return walk.link; }
};

/// Each unit adds to local sums when it is finished.
struct WalkTally : Walking<TallyChain> {
    using Units = Kinds<ResumableKind<Link, 2, RandomWalk>>;
    HEADRACE_KERNEL RandomWalk::State begin(auto&, const Link& link) const {
        return RandomWalk::begin(mix(link.seed + 1) + link.left); // not 0
    }
    HEADRACE_KERNEL void finish(auto& lane, RandomWalk::State& walk, const Link& link) const {
        if (RandomWalk::arrival(walk) != 0) (*this)(lane, link);
    }
};

/// Branches walk; buds and leaves are called.
struct WalkPlant : Walking<Plant> {
    using Units = Kinds<Kind<Bud, 3>, ResumableKind<Branch, 3, RandomWalk>, Kind<Leaf, 0>>;
    HEADRACE_KERNEL RandomWalk::State begin(auto&, const Branch& branch) const {
        return RandomWalk::begin(branch.id);
    }
    HEADRACE_KERNEL void finish(auto& lane, RandomWalk::State& walk, const Branch& branch) const {
        (*this)(lane, Branch{RandomWalk::arrival(walk), branch.depth, 0});
    }
};

/// Sparks walk, and make ranges of sparks.
struct WalkFireworks : Walking<Fireworks> {
    using Units = Kinds<ResumableKind<Spark, 2, RandomWalk>, RangeKind<Burst, Sparks>>;
    HEADRACE_KERNEL RandomWalk::State begin(auto&, const Spark& spark) const {
        return RandomWalk::begin(spark.id);
    }
    HEADRACE_KERNEL void finish(auto& lane, RandomWalk::State& walk, const Spark& spark) const {
        (*this)(lane, Spark{RandomWalk::arrival(walk), spark.level, 0});
    }
};

/// Seeds of a called kind, ranges of walking shoots, and ranges with gaps of called needles. Called
/// units need not fill a group.
struct WalkConifer : Walking<Conifer> {
    using Units = Kinds<RangeKind<Twig, Needles>, Kind<Stem, 2>, ResumableKind<Shoot, 2, RandomWalk>,
                        RangeKind<Whorl, Shoots>, Kind<Needle, 0>>;
    static constexpr unsigned gather_percent = 25;
    HEADRACE_KERNEL RandomWalk::State begin(auto&, const Shoot& shoot) const {
        return RandomWalk::begin(shoot.id);
    }
    HEADRACE_KERNEL void finish(auto& lane, RandomWalk::State& walk, const Shoot& shoot) const {
        Shoot arrived = shoot;
        arrived.id = RandomWalk::arrival(walk);
        (*this)(lane, arrived);
    }
};

// ---- the same with results: units gather before they are finished ---------------------------------------

/// What arrives is in the Result. Of some walks it is wrong until they are resolved.
struct GatheredWalk : RandomWalk {
    struct Result {
        std::uint64_t arrival;
        std::uint32_t resolved; ///< times
    };
    HEADRACE_HOST_DEVICE static bool is_unresolved(std::uint64_t id) { return mix(id + 99) % 5 == 0; }
    HEADRACE_HOST_DEVICE static Phase step(std::uint32_t phase, State& walk, Scratch& scratch) {
        const Phase next = RandomWalk::step(phase, walk, scratch);
        return next == Phase::done && is_unresolved(walk.id) ? Phase::unresolved : next;
    }
    HEADRACE_HOST_DEVICE static void end(const State& walk, const Scratch& scratch, Result& result) {
        const bool kept = scratch.met[(walk.step - 1) % 16] == word(walk.id, walk.step - 1);
        result.arrival = kept ? arrival(walk) : 0;
        result.resolved = 0;
    }
    HEADRACE_HOST_DEVICE static std::uint64_t arrival_of(const Result& result) {
        return result.resolved == (is_unresolved(result.arrival) ? 1u : 0u) ? result.arrival : 0;
    }
};

/// All but finish of a kernel whose resumable units have an id.
template <class Tree>
struct WalkingWithResult : Tree {
    using Serial = Tree;

    HEADRACE_KERNEL GatheredWalk::State begin(auto&, const auto& unit) const {
        return RandomWalk::begin(Tree::id_of(unit));
    }
    template <std::uint32_t P>
    HEADRACE_KERNEL Phase step(Constant<P>, auto&, GatheredWalk::State& walk,
                               GatheredWalk::Scratch& scratch) const {
        return GatheredWalk::step(P, walk, scratch);
    }
    HEADRACE_KERNEL void end(auto&, const GatheredWalk::State& walk, GatheredWalk::Scratch& scratch,
                             GatheredWalk::Result& result) const {
        GatheredWalk::end(walk, scratch, result);
    }
    HEADRACE_KERNEL void resolve(auto&, GatheredWalk::Result& result, const auto& unit) const {
        result.resolved += result.arrival == Tree::id_of(unit) ? 1 : 5;
    }
};

struct NodeIds : IrregularTree {
    HEADRACE_HOST_DEVICE static std::uint64_t id_of(const Node& node) { return node.id(); }
};
/// One kind, which spawns several units.
struct GatherTree : WalkingWithResult<NodeIds> {
    using Serial = IrregularTree;
    using Units = Kinds<ResumableKind<Node, 4, GatheredWalk>>;
    HEADRACE_KERNEL void finish(auto& lane, const GatheredWalk::Result& result, const Node& node) const {
        arrivals.arrive(GatheredWalk::arrival_of(result));
        if (node.heap >= deepest) return;
        for (unsigned child = 0; child < children(node); ++child)
            lane.spawn(Node{node.seed, 4 * node.heap + child});
    }
};

struct LinkIds : TallyChain {
    HEADRACE_HOST_DEVICE static std::uint64_t id_of(const Link& link) {
        return mix(link.seed + 1) + link.left; // not 0
    }
};
/// Each unit adds to local sums when it is finished.
struct GatherTally : WalkingWithResult<LinkIds> {
    using Serial = TallyChain;
    using Units = Kinds<ResumableKind<Link, 2, GatheredWalk>>;
    static constexpr unsigned resolve_percent = 100;
    HEADRACE_KERNEL void finish(auto& lane, const GatheredWalk::Result& result, const Link& link) const {
        if (GatheredWalk::arrival_of(result) != 0) (*this)(lane, link);
    }
};

/// begin writes to the scratch, and nothing is ever unresolved.
struct GatherChain : Chain {
    using Serial = Chain;
    struct CountDown {
        struct State {
            std::uint32_t left;
        };
        struct Scratch {
            std::uint64_t begun;
        };
        struct Result {
            std::uint64_t begun;
        };
        static constexpr unsigned phase_percent[] = {0};
    };
    using Units = Kinds<ResumableKind<Link, 1, CountDown>>;
    static constexpr unsigned drain_steps = 3;
    HEADRACE_KERNEL CountDown::State begin(auto&, const Link& link, CountDown::Scratch& scratch) const {
        scratch.begun = link.seed + link.left;
        return {RandomWalk::length_of(link.seed + link.left)};
    }
    HEADRACE_KERNEL Phase step(Constant<0>, auto&, CountDown::State& walk) const {
        return --walk.left > 0 ? Phase{0} : Phase::done;
    }
    HEADRACE_KERNEL void end(auto&, const CountDown::State&, CountDown::Scratch& scratch,
                             CountDown::Result& result) const {
        result.begun = scratch.begun;
    }
    HEADRACE_KERNEL void finish(auto& lane, const CountDown::Result& result, const Link& link) const {
        if (result.begun == link.seed + link.left) (*this)(lane, link);
    }
};

struct SparkIds : Fireworks {
    HEADRACE_HOST_DEVICE static std::uint64_t id_of(const Spark& spark) { return spark.id; }
};
/// Sparks walk, and make ranges of sparks.
struct GatherFireworks : WalkingWithResult<SparkIds> {
    using Serial = Fireworks;
    using Units = Kinds<ResumableKind<Spark, 2, GatheredWalk>, RangeKind<Burst, Sparks>>;
    HEADRACE_KERNEL void finish(auto& lane, const GatheredWalk::Result& result, const Spark& spark) const {
        (*this)(lane, Spark{GatheredWalk::arrival_of(result), spark.level, 0});
    }
};

} // namespace headrace::test
