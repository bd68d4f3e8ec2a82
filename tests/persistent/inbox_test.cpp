// Kernels whose walks leave a Result under host threads: units gather in the inbox before they are finished.
// Every overflow path, every width of lane group, with ThreadSanitizer.
#include "exactly_once.hpp"
#include "meeting_walks.hpp"
#include "walks.kernels.hpp"

#include <atomic>
#include <stdexcept>
#include <utility>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

template <class Config>
class Inbox : public testing::Test {};
using Configs = TestedConfigs<
    testing::Types<Config<3, ThreadRunner<16>>, Config<16, ThreadRunner<8>>, Config<16, SerialRunner<5>>>,
    testing::Types<Config<1, ThreadRunner<1>>, Config<1, ThreadRunner<5>>, Config<3, ThreadRunner<4>>,
                   Config<16, ThreadRunner<8>>, Config<64, ThreadRunner<6>>, Config<16, SerialRunner<5>>>>;
TYPED_TEST_SUITE(Inbox, Configs);

constexpr std::uint64_t endless = std::uint64_t{1} << 30;

TYPED_TEST(Inbox, TreesArriveExactlyOnce) {
    const GatherTree tree{{{{{}, endless}}}};
    expect_exactly_once<TypeParam>(tree, Roots{}, 5000 / slower, roomy);
    const auto counters = expect_exactly_once<TypeParam>(tree, Roots{}, 500 / slower, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
}

TYPED_TEST(Inbox, ChainsArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(GatherChain{}, ChainStarts{30}, 1000 / slower, roomy);
    const auto counters = expect_exactly_once<TypeParam>(GatherChain{}, ChainStarts{30}, 1000 / slower, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.pushed, 0u);
}

TYPED_TEST(Inbox, RangesArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(GatherFireworks{{{{{}, 6, 100}}}}, Fuses{}, 20, roomy);
    expect_exactly_once<TypeParam>(GatherFireworks{{{{{}, 4, 100}}}}, Fuses{}, 5, tiny);
    expect_exactly_once<TypeParam>(GatherFireworks{{{{{}, 2, 0}}}}, Rockets{20}, 200 / slower, roomy);
    expect_exactly_once<TypeParam>(GatherFireworks{{{{{}, 2, 0}}}}, Rockets{20}, 100 / slower, tiny);
}

TYPED_TEST(Inbox, SeedsWithoutAUnitAreCompletedAtOnce) {
    const GatherTree tree{{{{{}, endless}}}};
    for (const std::uint64_t one_in : {std::uint64_t{2}, std::uint64_t{100}, ~std::uint64_t{0}})
        for (const EngineOptions& options : {roomy, tiny})
            EXPECT_GT(
                expect_exactly_once<TypeParam>(tree, SparseRoots{one_in}, 1001 / slower, options, 1).empty,
                0u);
}

TYPED_TEST(Inbox, LocalSumsThatFinishAddsToAreExact) {
    const TestDeadline deadline("the engine");
    for (const EngineOptions& options : {roomy, tiny}) {
        Bench<TypeParam, GatherTally, ChainStarts> bench(GatherTally{}, ChainStarts{150}, options);
        drain(bench.engine, 0, 100);
        EXPECT_EQ(bench.arrived, expected_arrivals(TallyChain{}, ChainStarts{150}, 0, 100));
    }
}

/// Walks of a given length, counted. begin and step of other kernels write nothing: they are repeated.
struct Counts {
    std::atomic<std::uint64_t> begun = 0, steps = 0, ended = 0, resolved = 0, finished = 0;
    std::atomic<std::uint64_t> in_a_row = 0, full = 0; ///< units that were finished without a step between
};
struct CountedWalk {
    struct State {
        std::uint64_t seed;
        std::uint32_t left;
    };
    struct Result {
        std::uint32_t left, resolved;
    };
    static constexpr unsigned phase_percent[] = {0, 100};
};
struct CountedWalks {
    using Units = Kinds<ResumableKind<Link, 1, CountedWalk>>;
    Arrivals arrivals;
    Counts* counts;
    std::uint32_t length, lanes = 0;

    static bool is_unresolved(std::uint64_t seed) { return seed % 3 == 0; }

    CountedWalk::State begin(auto&, const Link& link) const {
        ++counts->begun;
        const std::uint64_t varied = lanes == 0 ? 0 : mix(link.seed + link.left) % 20;
        return {link.seed, length + static_cast<std::uint32_t>(varied)};
    }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        ++counts->steps;
        counts->in_a_row = 0;
        if (--walk.left > 0) return Phase{walk.left % 2};
        return is_unresolved(walk.seed) ? Phase::unresolved : Phase::done;
    }
    void end(auto&, const CountedWalk::State& walk, auto&, CountedWalk::Result& result) const {
        ++counts->ended;
        result = {walk.left, 0};
    }
    void resolve(auto&, CountedWalk::Result& result, const Link& link) const {
        EXPECT_TRUE(is_unresolved(link.seed));
        ++counts->resolved;
        ++result.resolved;
    }
    void finish(auto& lane, const CountedWalk::Result& result, const Link& link) const {
        EXPECT_EQ(result.left, 0u);
        EXPECT_EQ(result.resolved, is_unresolved(link.seed) ? 1u : 0u);
        ++counts->finished;
        if (++counts->in_a_row == lanes) ++counts->full;
        arrivals.arrive(mix(link.seed) + link.left);
        if (link.left > 0) lane.spawn(Link{link.seed, link.left - 1, 0});
    }
};

/// Launches as short as can be: one round, and no growth.
constexpr EngineOptions brief{.wishes = {}, .first_rounds = 1, .launch_time = 1ns};

template <class Config>
EngineCounters walk_counted(Counts& counts, std::uint32_t length, std::uint32_t links, std::uint64_t seeds,
                            const EngineOptions& options) {
    const TestDeadline deadline("the engine");
    Bench<Config, CountedWalks, ChainStarts> bench(CountedWalks{{}, &counts, length}, ChainStarts{links},
                                                   options);
    drain(bench.engine, 0, seeds);
    EXPECT_EQ(bench.arrived, expected_arrivals(Chain{}, ChainStarts{links}, 0, seeds));
    EXPECT_EQ(counts.finished, bench.arrived.total());
    return bench.engine.counters();
}

TYPED_TEST(Inbox, UnitsLongerThanALaunchAndItsDrainAreFinished) {
    Counts counts;
    EXPECT_EQ(walk_counted<TypeParam>(counts, 2000, 1, 20, brief).units, 20u);
    // Each launch of a group finishes a unit at least. The others begin again.
    EXPECT_LE(counts.begun, counts.finished * (1 + TypeParam::Lanes::size));
}

TYPED_TEST(Inbox, APauseDrainsShortUnits) {
    Counts counts;
    EXPECT_GT(walk_counted<TypeParam>(counts, 10, 8, 100 / slower, brief).saved, 0u);
    // 10 steps in two phases are fewer than 128 for all lanes together, if no lane waits for long.
    EXPECT_EQ(counts.begun, counts.finished);
    EXPECT_EQ(counts.ended, counts.finished);
    EXPECT_EQ(counts.steps, 10 * counts.finished);
}

TYPED_TEST(Inbox, WithoutAPauseEachUnitIsWalkedOnce) {
    Counts counts;
    const auto counters =
        walk_counted<TypeParam>(counts, 500, 3, 100, {.wishes = {}, .first_rounds = 1u << 30});
    EXPECT_EQ(counts.begun, counts.finished);
    EXPECT_EQ(counts.ended, counts.finished);
    EXPECT_EQ(counts.steps, 500 * counts.finished);
    EXPECT_GT(counts.resolved, 0u);
    EXPECT_LE(counters.units, counters.rounds * TypeParam::Lanes::size);
}

TEST(InboxOfAGroup, UnitsGatherUntilAllLanesCanFinishOne) {
    const TestDeadline deadline("the engine");
    constexpr std::uint32_t lanes = 32;
    Counts counts;
    ArrivalTable arrived;
    const CountedWalks kernel{{arrived.view()}, &counts, 1, lanes};
    const ChainStarts seeds{100};
    ThreadDevice device;
    ThreadStream stream;
    const Launcher launcher =
        on_cpu::make_launcher<CountedWalks, ChainStarts, HostLanes<lanes>, ThreadRunner<1>, StillClock>();
    Engine engine(device, stream, launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds));
    drain(engine, 0, 2000);
    EXPECT_EQ(arrived, expected_arrivals(Chain{}, seeds, 0, 2000));
    EXPECT_GT(counts.full * lanes, counts.finished * 9 / 10);
    EXPECT_GT(engine.counters().units, engine.counters().rounds * lanes * 6 / 10);
}

TEST(InboxOfAGroup, HeavyUnitsArriveExactlyOnce) {
    for (const EngineOptions& options : {roomy, tiny})
        for (std::uint64_t turn = 0; turn < 16 / slower; ++turn) { // what groups share differs
            expect_exactly_once_by_a_slow_clock(GatherFireworks{{{{{}, 3, 20}}}}, Fuses{}, 4, options);
            expect_exactly_once_by_a_slow_clock(GatherTree{{{{{}, endless}}}}, Roots{}, 40, options);
        }
}

struct MeetingSlots : MeetingWalks {
    struct Walk {
        struct State {
            std::uint64_t heap;
        };
        struct Result {
            std::uint32_t unused;
        };
        static constexpr unsigned phase_percent[] = {0};
    };
    using Units = Kinds<ResumableKind<Node, 4, Walk>>;
    Walk::State begin(auto&, const Node& node) const {
        begin_at(node);
        return {node.heap};
    }
    Phase step(Constant<0>, auto&, Walk::State& walk) const { return next_of(walk.heap); }
    void end(auto&, const Walk::State&, auto&, Walk::Result&) const {}
    void finish(auto& lane, const Walk::Result&, const Node& node) const { arrive(lane, node); }
};

TEST(InboxOfAGroup, IsSharedByAGroupThatWalks) {
    expect_that_all_groups_walk<MeetingSlots, 2>();
    expect_that_all_groups_walk<MeetingSlots, 3>();
    expect_that_all_groups_walk<MeetingSlots, 4>();
}

TEST(InboxOfAGroup, KeepsALoneUnitWhereOthersAreIdle) {
    for (int turn = 0; turn < 20; ++turn)
        for (std::uint64_t units = 1; units < 4; ++units) expect_that_all_groups_walk<MeetingSlots, 4>(units);
}

/// Of seed 700 a step names a phase that there is not, or throws; or its end throws, or its finish spawns too
/// much.
enum class Fault { phase, unresolved, step_throws, end_throws, spawns };
struct FaultyWalks {
    using Units = Kinds<ResumableKind<Node, 2, CountedWalk>>;
    Arrivals arrivals;
    Fault fault;
    CountedWalk::State begin(auto&, const Node& node) const { return {node.seed, 5}; }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        if (--walk.left > 0) return Phase{walk.left % 2};
        if (walk.seed != 700) return Phase::done;
        if (fault == Fault::step_throws) throw std::runtime_error("unit 700 is bad");
        return fault == Fault::phase        ? Phase{2}
               : fault == Fault::unresolved ? Phase::unresolved
                                            : Phase::done;
    }
    void end(auto&, const CountedWalk::State& walk, auto&, CountedWalk::Result& result) const {
        if (walk.seed == 700 && fault == Fault::end_throws) throw std::runtime_error("unit 700 is bad");
        result = {walk.left, 0};
    }
    void finish(auto& lane, const CountedWalk::Result&, const Node& node) const {
        if (node.seed == 700 && fault == Fault::spawns)
            for (std::uint64_t i = 0; i < 4; ++i) lane.spawn(Node{i, 1});
    }
};

TYPED_TEST(Inbox, MistakesAreErrorsAndTheEngineGoesOnAfterThem) {
    const std::pair<Fault, const char*> mistakes[] = {
        {Fault::phase, "a phase that the kind does not have"},
        {Fault::unresolved, "a phase that the kind does not have"},
        {Fault::step_throws, "unit 700 is bad"},
        {Fault::end_throws, "unit 700 is bad"},
        {Fault::spawns, "spawned more"}};
    for (const auto& [fault, words] : mistakes)
        expect_failure_of_unit_700<TypeParam>(FaultyWalks{{}, fault}, words);
}

} // namespace
} // namespace headrace::test
