// The engine's group code under host threads: every overflow path, every width of lane group, with
// ThreadSanitizer.
#include "exactly_once.hpp"

#include <core/eventually.hpp>
#include <core/quiet_machine.hpp>
#include <core/takes.hpp>

#include <atomic>
#include <utility>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

template <class Config>
class GroupCode : public testing::Test {};
using Configs = TestedConfigs<
    testing::Types<Config<3, ThreadRunner<16>>, Config<16, ThreadRunner<8>>, Config<16, SerialRunner<5>>>,
    testing::Types<Config<1, ThreadRunner<1>>, Config<1, ThreadRunner<5>>, Config<3, ThreadRunner<4>>,
                   Config<16, ThreadRunner<8>>, Config<64, ThreadRunner<1>>, Config<64, ThreadRunner<6>>,
                   Config<16, SerialRunner<5>>, Config<64, SerialRunner<3>>, Config<3, ThreadRunner<16>>,
                   Config<3, SerialRunner<40>>>>; // groups of three have several rings
TYPED_TEST_SUITE(GroupCode, Configs);

/// The first seeds are long chains, a lane group's worth, and the rest ends at once.
struct FirstAreLong {
    std::uint32_t lanes;
    Link operator()(std::uint64_t index) const { return {index, index < lanes ? 30u : 0u, 0}; }
};
/// Which groups of the launch that runs have had a unit, or have left.
struct Attendance {
    static inline std::atomic<int> missing = 0;              ///< groups
    static inline std::atomic<std::uint64_t> seeds_left = 0; ///< of those that end at once
    static void sign_in() {
        static thread_local bool is_here = false; // each group of a launch has a thread of its own
        if (!std::exchange(is_here, true)) --missing;
    }
};
template <class Runner>
struct Attended : Runner {
    static void run(const NativeStream& stream, unsigned n, const std::function<void(unsigned)>& body) {
        Attendance::missing = static_cast<int>(n);
        Runner::run(stream, n, [&](unsigned i) {
            body(i);
            Attendance::sign_in();
        });
    }
};
/// None waits for a later one.
template <unsigned Groups>
struct Attended<SerialRunner<Groups>> : SerialRunner<Groups> {};
/// Long ones wait until each group has begun, as long as there are seeds for all.
struct SlowChain : Chain {
    using Serial = Chain;
    std::uint32_t lanes;
    void operator()(auto& lane, Link link) const {
        Attendance::sign_in();
        if (link.seed >= lanes) --Attendance::seeds_left;
        if (link.left > 0) // the limit: this group may itself have some of those seeds
            static_cast<void>(
                eventually([] { return Attendance::missing <= 0 || Attendance::seeds_left == 0; }, 100ms));
        Chain::operator()(lane, link);
    }
};

TYPED_TEST(GroupCode, FullTreesArriveExactlyOnce) {
    const BinaryTree tree{{}, 1 << 9};
    expect_exactly_once<TypeParam>(tree, Roots{}, 100, roomy);
    expect_exactly_once<TypeParam>(tree, Roots{}, 100, tiny);
}

TYPED_TEST(GroupCode, ADeepTreeFromOneSeedArrivesExactlyOnce) {
    const BinaryTree tree{{}, 1 << 15};
    expect_exactly_once<TypeParam>(tree, Roots{}, 1, roomy);
    const auto counters = expect_exactly_once<TypeParam>(tree, Roots{}, 1, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_GT(counters.restored, 0u);
}

TYPED_TEST(GroupCode, IrregularTreesArriveExactlyOnce) {
    const IrregularTree tree{{}, std::uint64_t{1} << 30};
    expect_exactly_once<TypeParam>(tree, Roots{}, 20000, roomy);
    expect_exactly_once<TypeParam>(tree, Roots{}, 2000, tiny);
}

TYPED_TEST(GroupCode, ChainsArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(Chain{}, ChainStarts{100}, 5000, roomy);
    const auto counters = expect_exactly_once<TypeParam>(Chain{}, ChainStarts{100}, 5000, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.pushed, 0u);
}

TYPED_TEST(GroupCode, GroupsThatPauseBetweenTwoUnitsGoOnWithTheirSeeds) {
    // A round in each launch. Who claims the first seeds is at work until the others have nothing left; then
    // its chains end all at once, and what it pauses is nothing but seeds.
    const EngineOptions often{.wishes = {}, .first_rounds = 1, .launch_time = 1ns};
    constexpr std::uint32_t lanes = TypeParam::Lanes::size;
    Attendance::missing = 0;
    Attendance::seeds_left = 39 * std::uint64_t{lanes};
    expect_exactly_once<Config<lanes, Attended<typename TypeParam::Runner>>>(
        SlowChain{{}, lanes}, FirstAreLong{lanes}, 40 * lanes, often);
    EXPECT_EQ(Attendance::seeds_left, 0u);
}

TYPED_TEST(GroupCode, SeveralKindsArriveExactlyOnce) {
    const Plant plant{{}, 9};
    expect_exactly_once<TypeParam>(plant, Sprouts{}, 500, roomy);
    expect_exactly_once<TypeParam>(plant, Sprouts{}, 100, tiny);
}

TYPED_TEST(GroupCode, ChainsThatChangeTheirKindWithEachStepArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(Ferry{}, Quays{60}, 3000, roomy);
    expect_exactly_once<TypeParam>(Ferry{}, Quays{60}, 3, roomy);
    expect_exactly_once<TypeParam>(Ferry{}, Quays{60}, 300 / slower, tiny);
}

TYPED_TEST(GroupCode, AConsumerVisitsEachIndexOnce) {
    expect_exactly_once<TypeParam>(Visit{}, Indices{}, 100000, roomy);
    std::uint64_t saved = 0;
    for (int turn = 0; turn < 20 && saved == 0; ++turn) { // by the clock, threads may claim what a round does
        const auto counters = expect_exactly_once<TypeParam>(Visit{}, Indices{}, 100003, tiny, 7);
        saved = counters.saved;
        EXPECT_EQ(counters.spawned, 0u);
    }
    EXPECT_GT(saved, 0u);
}

TYPED_TEST(GroupCode, SumsThatAreKeptNearAreExact) {
    for (const EngineOptions& options : {roomy, tiny}) {
        Bench<TypeParam, TallyChain, ChainStarts> chains(TallyChain{}, ChainStarts{150}, options);
        drain(chains.engine, 0, 100);
        EXPECT_EQ(chains.arrived, expected_arrivals(TallyChain{}, ChainStarts{150}, 0, 100));
        Bench<TypeParam, Tally, Indices> indices(Tally{}, Indices{}, options);
        drain(indices.engine, 0, 3000);
        EXPECT_EQ(indices.arrived, expected_arrivals(Tally{}, Indices{}, 0, 3000));
    }
}

TYPED_TEST(GroupCode, GroupKernelsProcessEachUnitOnceTogether) {
    const GroupTree tree{{{}, std::uint64_t{1} << 30}};
    expect_exactly_once<TypeParam>(tree, Roots{}, 2000, roomy);
    const auto counters = expect_exactly_once<TypeParam>(tree, Roots{}, 500, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
    expect_exactly_once<TypeParam>(GroupPlant{{}, 7}, Sprouts{}, 200, roomy);
    expect_exactly_once<TypeParam>(GroupPlant{{}, 7}, Sprouts{}, 50, tiny);
    expect_exactly_once<TypeParam>(GroupVisit{}, Indices{}, 3000, roomy);
    expect_exactly_once<TypeParam>(GroupVisit{}, Indices{}, 3000, tiny, 7);
}

TYPED_TEST(GroupCode, NothingToDoIsDoneAtOnce) {
    const auto counters = expect_exactly_once<TypeParam>(BinaryTree{{}, 4}, Roots{}, 10, roomy, 10);
    EXPECT_EQ(counters.rounds, 0u);
    expect_exactly_once<TypeParam>(Visit{}, Indices{}, 10, roomy, 10);
}

TYPED_TEST(GroupCode, RangesOfAnyLengthArriveExactlyOnce) {
    constexpr std::uint64_t lanes = TypeParam::Lanes::size;
    for (const std::uint64_t length :
         {std::uint64_t{0}, std::uint64_t{1}, lanes - 1, lanes, lanes + 1, 1'000'000 / slower})
        for (const EngineOptions& options : {roomy, tiny}) {
            const auto counters =
                expect_exactly_once<TypeParam>(Fireworks{{}, 1, length}, Fuses{}, 1, options);
            EXPECT_EQ(counters.units, 1 + length);
            EXPECT_EQ(counters.empty, 0u);
        }
}

TYPED_TEST(GroupCode, RangesThatSpawnRangesArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(Fireworks{{}, 6, 100}, Fuses{}, 50, roomy);
    const auto counters = expect_exactly_once<TypeParam>(Fireworks{{}, 4, 100}, Fuses{}, 20, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
    EXPECT_EQ(counters.pushed, counters.popped);
    expect_exactly_once<TypeParam>(GroupFireworks{{{}, 4, 50}}, Fuses{}, 10, roomy);
    expect_exactly_once<TypeParam>(GroupFireworks{{{}, 3, 50}}, Fuses{}, 5, tiny);
}

TYPED_TEST(GroupCode, RangesOfSeveralKindsArriveExactlyOnce) {
    const auto counters = expect_exactly_once<TypeParam>(Conifer{{}, 6}, Saplings{}, 50, roomy);
    EXPECT_GT(counters.empty, 0u);
    expect_exactly_once<TypeParam>(Conifer{{}, 4}, Saplings{}, 10, tiny);
}

TYPED_TEST(GroupCode, SeedsThatAreRangesArriveExactlyOnce) {
    const auto counters = expect_exactly_once<TypeParam>(Fireworks{{}, 2, 0}, Rockets{20}, 500, roomy);
    EXPECT_GT(counters.empty, 0u);
    expect_exactly_once<TypeParam>(Fireworks{{}, 2, 0}, Rockets{20}, 200, tiny);
    expect_exactly_once<TypeParam>(Fireworks{{}, 2, 0}, Rockets{1}, 200, tiny); // all are empty
}

TYPED_TEST(GroupCode, SeedsWithoutAUnitAreCompletedAtOnce) {
    const IrregularTree tree{{}, std::uint64_t{1} << 30};
    for (const std::uint64_t one_in : {std::uint64_t{2}, std::uint64_t{100}, ~std::uint64_t{0}})
        for (const EngineOptions& options : {roomy, tiny}) {
            const std::uint64_t seeds = 3000;
            const auto counters =
                expect_exactly_once<TypeParam>(tree, SparseRoots{one_in}, seeds + 1, options, 1);
            EXPECT_GT(counters.empty, 0u);
            if (one_in == ~std::uint64_t{0}) {
                EXPECT_EQ(counters.empty, seeds);
                EXPECT_EQ(counters.units, 0u);
            }
        }
}

TYPED_TEST(GroupCode, SeedsWithoutAUnitUseUpTheBudget) {
    const TestDeadline deadline("the engine");
    Bench<TypeParam, IrregularTree, SparseRoots> bench(IrregularTree{}, SparseRoots{~std::uint64_t{0}},
                                                       {.wishes = {}, .first_rounds = 2});
    bench.engine.start(1, std::uint64_t{1} << 40);
    EXPECT_EQ(bench.engine.collect(), Engine::State::paused);
    EXPECT_EQ(bench.engine.remaining() + bench.engine.counters().empty, (std::uint64_t{1} << 40) - 1);
}

TYPED_TEST(GroupCode, SeedsAreCountedIn64Bits) {
    const std::uint64_t begin = (std::uint64_t{1} << 33) - 1000;
    expect_exactly_once<TypeParam>(Visit{}, Indices{}, begin + 2000, roomy, begin);
    expect_exactly_once<TypeParam>(BinaryTree{{}, 16}, Roots{}, begin + 2000, roomy, begin);
}

TYPED_TEST(GroupCode, SpawningTooManyIsAnErrorAndTheEngineGoesOnAfterIt) {
    const TestDeadline deadline("the engine");
    Bench<TypeParam, Liar, Roots> bench(Liar{}, Roots{}, roomy);
    drain(bench.engine, 0, 900);
    try {
        drain(bench.engine, 0, 5000);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
        EXPECT_NE(error.message().find("spawned more"), std::string::npos);
    }
    drain(bench.engine, 1000, 1900);
    EXPECT_EQ(bench.engine.remaining(), 0u);
}

/// Throws at one unit.
struct Thrower {
    using Units = Kinds<Kind<Node, 2>>;
    Arrivals arrivals;
    std::uint64_t bad_seed = 0;
    void operator()(auto& lane, Node node) const {
        if (node.seed == bad_seed && node.heap == 5) throw std::runtime_error("unit 5 is bad");
        if (node.heap < 64) {
            lane.spawn(Node{node.seed, 2 * node.heap});
            lane.spawn(Node{node.seed, 2 * node.heap + 1});
        }
    }
};

TYPED_TEST(GroupCode, AnExceptionStopsAllGroupsAndReachesTheHost) {
    const TestDeadline deadline("the engine");
    Bench<TypeParam, Thrower, Roots> bench(Thrower{{}, 700}, Roots{}, roomy);
    try {
        drain(bench.engine, 0, 1000);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
        EXPECT_NE(error.message().find("unit 5 is bad"), std::string::npos);
    }
    drain(bench.engine, 0, 700); // the engine is as new
    EXPECT_EQ(bench.engine.remaining(), 0u);
}

TYPED_TEST(GroupCode, ARangeBeyond32BitsPausesAndCanBeLeft) {
    const TestDeadline deadline("the engine");
    Bench<TypeParam, Visit, Indices> bench(Visit{}, Indices{}, {.wishes = {}, .first_rounds = 2});
    const std::uint64_t end = std::uint64_t{5} << 32;
    bench.engine.start(3, end);
    ASSERT_EQ(bench.engine.collect(), Engine::State::paused);
    bench.engine.resume();
    ASSERT_EQ(bench.engine.collect(), Engine::State::paused);
    EXPECT_EQ(bench.engine.remaining() + bench.arrived.total(), end - 3);
    EXPECT_GT(bench.engine.remaining(), std::uint64_t{1} << 34);
    drain(bench.engine, 0, 10); // another start drops what was paused
    EXPECT_EQ(bench.engine.remaining(), 0u);
}

TYPED_TEST(GroupCode, ManyRunsInARowDoNotHang) {
    const TestDeadline deadline("a thousand runs");
    const BinaryTree tree{{}, 4};
    Bench<TypeParam, BinaryTree, Roots> bench(tree, Roots{}, tiny);
    const std::uint64_t runs = 1000 / slower;
    for (std::uint64_t run = 0; run < runs; ++run) drain(bench.engine, 0, 1 + run % 9);
    std::uint64_t trees = 0;
    for (std::uint64_t run = 0; run < runs; ++run) trees += 1 + run % 9;
    EXPECT_EQ(bench.arrived.total(), 7 * trees);
}

/// On a busy machine: what a launch does begins late.
class BusyStream final : public ThreadStream {
    Event enqueue(std::span<const Event> after, std::function<void()> work) override {
        takes(15ms);
        return ThreadStream::enqueue(after, std::move(work));
    }
};

TEST(Budget, IsNotCutWhereThatMakesLaunchesNoShorterButMore) {
    using Alone = Config<1, ThreadRunner<1>>;
    const TestDeadline deadline("the engine");
    on_a_quiet_machine([] {
        Bench<Alone, Visit, Indices, BusyStream> bench(Visit{}, Indices{},
                                                       {.wishes = {}, .launch_time = 2ms});
        drain(bench.engine, 0, 10000);
        ASSERT_EQ(bench.arrived, expected_arrivals(Visit{}, Indices{}, 0, 10000));
        EXPECT_LT(bench.engine.launch_times().size(), 100u) << "instead of one for each of 10000 rounds";
    });
}

/// Each round takes longer than a launch should.
struct LongVisit : Visit {
    void operator()(auto& lane, std::uint64_t index) const {
        takes(10ms);
        Visit::operator()(lane, index);
    }
};

TEST(Budget, IsARoundWhereRoundsAreWhatTakesTheTime) {
    using Alone = Config<1, ThreadRunner<1>>;
    const TestDeadline deadline("the engine");
    on_a_quiet_machine([] {
        Bench<Alone, LongVisit, Indices> bench(LongVisit{}, Indices{}, {.wishes = {}, .launch_time = 2ms});
        drain(bench.engine, 0, 100);
        ASSERT_EQ(bench.arrived, expected_arrivals(Visit{}, Indices{}, 0, 100));
        EXPECT_GT(bench.engine.launch_times().size(), 60u) << "nearly one for each of 100 rounds";
    });
}

// ---- that each path really ran
// ------------------------------------------------------------------------------------

using Crowd = Config<16, ThreadRunner<6>>;

TEST(OverflowPaths, APoolThatRunsOutPausesGrowsAndLosesNothing) {
    const TestDeadline deadline("the engine");
    // Three spawns a unit, an inbox for hardly one lane, one bundle: room runs out in every way.
    Bench<Crowd, IrregularTree, Roots> bench(IrregularTree{{}, std::uint64_t{1} << 30}, Roots{},
                                             {.wishes = {.liq_units = 4}, .bundles = 1});
    drain(bench.engine, 0, 20000 / slower);
    const EngineCounters counters = bench.engine.counters();
    EXPECT_GT(counters.narrow_rounds, 0u);
    EXPECT_GT(counters.no_bundle, 0u);
    EXPECT_GT(counters.pushed, 0u);
    EXPECT_EQ(counters.pushed, counters.popped);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
    EXPECT_GT(bench.engine.bundles(), 1u);
    EXPECT_EQ(bench.arrived,
              expected_arrivals(IrregularTree{{}, std::uint64_t{1} << 30}, Roots{}, 0, 20000 / slower));
}

TEST(OverflowPaths, IdleGroupsGetUnits) {
    // On a busy machine one group may have ended before another has begun.
    for (int tries = 0; tries < 100; ++tries) {
        const auto counters = expect_exactly_once<Crowd>(BinaryTree{{}, 1 << 18}, Roots{}, 1, roomy);
        if (counters.idle > 0 && counters.shared > 0 && counters.popped > 0) return;
    }
    FAIL() << "a hundred times no group was idle, or no idle group got units";
}

/// Units of a range that wait until each group has had one. The first of them takes so long that the others
/// are idle.
struct RollCall : Fireworks {
    using Serial = Fireworks;
    static inline std::atomic<int> begun = 0, late = 0;
    void operator()(auto& lane, Spark spark) const {
        Attendance::sign_in();
        constexpr int first_round = 16;
        if (const int before = spark.level == 0 ? 0 : begun++; before == 1)
            takes(10ms);
        else if (before > first_round && late == 0 &&
                 !eventually([] { return Attendance::missing <= 0; }, 100ms))
            ++late;
        Fireworks::operator()(lane, spark);
    }
};

TEST(OverflowPaths, ALoneRangeReachesAllIdleGroupsInOneStep) {
    // Cut in half, it would reach one of them, and both would wait for the others.
    for (int tries = 0; tries < 20; ++tries) {
        RollCall::begun = RollCall::late = 0;
        expect_exactly_once<Config<16, Attended<ThreadRunner<12>>>>(RollCall{{{}, 1, 5000}}, Fuses{}, 1,
                                                                    roomy);
        if (RollCall::late == 0) return; // on a busy machine groups may begin late
    }
    FAIL() << "twenty times groups waited for others, which had no part of the range";
}

TEST(OverflowPaths, AFullerKindIsPreferred) {
    const auto counters = expect_exactly_once<Crowd>(Plant{{}, 9}, Sprouts{}, 500, roomy);
    EXPECT_GT(counters.switches, 0u);
}

TEST(OverflowPaths, RecordsThatNobodyTookUpAreCarriedOn) {
    // One group after the other: the first uses up the budget, the others only find that all paused.
    using Serial = Config<16, SerialRunner<4>>;
    const auto counters = expect_exactly_once<Serial>(
        BinaryTree{{}, 1 << 12}, Roots{}, 64,
        {.wishes = {}, .first_rounds = 5, .launch_time = std::chrono::nanoseconds(1)});
    EXPECT_GT(counters.saved, 100u);
    EXPECT_EQ(counters.saved, counters.restored);
}

TEST(OverflowPaths, TenMillionUnitsArriveExactlyOnce) {
    const auto counters = expect_exactly_once<Crowd>(BinaryTree{{}, 1 << 13}, Roots{}, 640 / slower, roomy);
    EXPECT_GT(counters.units, 10'000'000u / slower);
}

} // namespace
} // namespace headrace::test
