// Kernels with a resumable kind under host threads: every overflow path, every width of lane group, with
// ThreadSanitizer; and the rule by which a group votes.
#include "exactly_once.hpp"
#include "meeting_walks.hpp"
#include "walks.kernels.hpp"

#include <core/eventually.hpp>
#include <headrace/persistent/detail/phase_votes.hpp>

#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

template <class Config>
class Resumable : public testing::Test {};
using Configs = TestedConfigs<
    testing::Types<Config<3, ThreadRunner<16>>, Config<16, ThreadRunner<8>>, Config<16, SerialRunner<5>>>,
    testing::Types<Config<1, ThreadRunner<1>>, Config<1, ThreadRunner<5>>, Config<3, ThreadRunner<4>>,
                   Config<16, ThreadRunner<8>>, Config<64, ThreadRunner<1>>, Config<64, ThreadRunner<6>>,
                   Config<16, SerialRunner<5>>, Config<64, SerialRunner<3>>>>;
TYPED_TEST_SUITE(Resumable, Configs);

TYPED_TEST(Resumable, TreesArriveExactlyOnce) {
    const WalkTree tree{{{{}, std::uint64_t{1} << 30}}};
    expect_exactly_once<TypeParam>(tree, Roots{}, 5000 / slower, roomy);
    const auto counters = expect_exactly_once<TypeParam>(tree, Roots{}, 500 / slower, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
}

TYPED_TEST(Resumable, ChainsArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(WalkChain{}, ChainStarts{30}, 1000 / slower, roomy);
    const auto counters = expect_exactly_once<TypeParam>(WalkChain{}, ChainStarts{30}, 1000 / slower, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.pushed, 0u);
}

TYPED_TEST(Resumable, SeveralKindsArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(WalkPlant{{{{}, 9}}}, Sprouts{}, 200 / slower, roomy);
    expect_exactly_once<TypeParam>(WalkPlant{{{{}, 9}}}, Sprouts{}, 40 / slower, tiny);
}

TYPED_TEST(Resumable, RangesArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(WalkFireworks{{{{}, 6, 100}}}, Fuses{}, 20, roomy);
    expect_exactly_once<TypeParam>(WalkFireworks{{{{}, 4, 100}}}, Fuses{}, 5, tiny);
    expect_exactly_once<TypeParam>(WalkFireworks{{{{}, 2, 0}}}, Rockets{20}, 200 / slower, roomy);
    expect_exactly_once<TypeParam>(WalkFireworks{{{{}, 2, 0}}}, Rockets{20}, 100 / slower, tiny);
}

TYPED_TEST(Resumable, RangesOfSeveralKindsWithGapsArriveExactlyOnce) {
    const auto counters = expect_exactly_once<TypeParam>(WalkConifer{{{{}, 5}}}, Saplings{}, 30, roomy);
    EXPECT_GT(counters.empty, 0u);
    expect_exactly_once<TypeParam>(WalkConifer{{{{}, 4}}}, Saplings{}, 5, tiny);
}

TYPED_TEST(Resumable, SeedsWithoutAUnitAreCompletedAtOnce) {
    const WalkTree tree{{{{}, std::uint64_t{1} << 30}}};
    for (const std::uint64_t one_in : {std::uint64_t{2}, std::uint64_t{100}, ~std::uint64_t{0}})
        for (const EngineOptions& options : {roomy, tiny})
            EXPECT_GT(
                expect_exactly_once<TypeParam>(tree, SparseRoots{one_in}, 1001 / slower, options, 1).empty,
                0u);
}

TYPED_TEST(Resumable, LocalSumsThatFinishAddsToAreExact) {
    const TestDeadline deadline("the engine");
    for (const EngineOptions& options : {roomy, tiny}) {
        Bench<TypeParam, WalkTally, ChainStarts> bench(WalkTally{}, ChainStarts{150}, options);
        drain(bench.engine, 0, 100);
        EXPECT_EQ(bench.arrived, expected_arrivals(TallyChain{}, ChainStarts{150}, 0, 100));
    }
}

TEST(ResumableUnits, ThatAreHeavyArriveExactlyOnce) {
    for (const EngineOptions& options : {roomy, tiny})
        for (std::uint64_t turn = 0; turn < 16 / slower; ++turn) { // what groups share differs
            for (int sapling = 0; sapling < 10; ++sapling)
                expect_exactly_once_by_a_slow_clock(WalkConifer{{{{}, 3}}}, Saplings{}, 4, options);
            expect_exactly_once_by_a_slow_clock(WalkTree{{{{}, std::uint64_t{1} << 30}}}, Roots{}, 20,
                                                options);
            expect_exactly_once_by_a_slow_clock(WalkPlant{{{{}, 5}}}, Sprouts{}, 4, options);
            expect_exactly_once_by_a_slow_clock(WalkFireworks{{{{}, 2, 40}}}, Fuses{}, 2, options);
        }
}

/// What a test of steps counts. begin and step of other kernels write nothing: they are repeated.
struct StepCounts {
    std::atomic<std::uint64_t> begun = 0, steps = 0, finished = 0;
};

/// Walks of a given length, counted.
struct CountedWalk {
    struct State {
        std::uint64_t seed;
        std::uint32_t left, unused;
    };
    static constexpr unsigned phase_percent[] = {0, 100};
};
struct CountedWalks {
    using Units = Kinds<ResumableKind<Link, 1, CountedWalk>>;
    Arrivals arrivals;
    StepCounts* counts;
    std::uint32_t length;
    CountedWalk::State begin(auto&, const Link& link) const {
        ++counts->begun;
        return {link.seed, length, 0};
    }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        ++counts->steps;
        return --walk.left == 0 ? Phase::done : Phase{walk.left % 2};
    }
    void finish(auto& lane, CountedWalk::State& walk, const Link& link) const {
        EXPECT_EQ(walk.left, 0u);
        ++counts->finished;
        arrivals.arrive(mix(link.seed) + link.left);
        if (link.left > 0) lane.spawn(Link{link.seed, link.left - 1, 0});
    }
};

/// Launches as short as can be: one round, and no growth.
constexpr EngineOptions brief{.wishes = {}, .first_rounds = 1, .launch_time = 1ns};

template <class Config>
EngineCounters walk_counted(StepCounts& counts, std::uint32_t length, std::uint32_t links,
                            std::uint64_t seeds, const EngineOptions& options) {
    const TestDeadline deadline("the engine");
    Bench<Config, CountedWalks, ChainStarts> bench(CountedWalks{{}, &counts, length}, ChainStarts{links},
                                                   options);
    drain(bench.engine, 0, seeds);
    EXPECT_EQ(bench.arrived, expected_arrivals(Chain{}, ChainStarts{links}, 0, seeds));
    EXPECT_EQ(counts.finished, bench.arrived.total());
    return bench.engine.counters();
}

TYPED_TEST(Resumable, UnitsLongerThanALaunchAndItsDrainAreFinished) {
    StepCounts counts;
    const auto counters = walk_counted<TypeParam>(counts, 2000, 1, 20, brief);
    EXPECT_EQ(counters.units, 20u);
    // Each launch of a group finishes a unit at least. The others begin again.
    EXPECT_LE(counts.begun, counts.finished * (1 + TypeParam::Lanes::size));
}

TYPED_TEST(Resumable, APauseDrainsShortUnits) {
    StepCounts counts;
    const auto counters = walk_counted<TypeParam>(counts, 10, 8, 100 / slower, brief);
    EXPECT_GT(counters.saved, 0u);
    // 10 steps in two phases are fewer than 128 for all lanes together, if no lane waits for long.
    EXPECT_EQ(counts.begun, counts.finished);
    EXPECT_EQ(counts.steps, 10 * counts.finished);
}

TYPED_TEST(Resumable, WithoutAPauseEachUnitBeginsOnce) {
    StepCounts counts;
    const auto counters =
        walk_counted<TypeParam>(counts, 500, 3, 100, {.wishes = {}, .first_rounds = 1u << 30});
    EXPECT_EQ(counts.begun, counts.finished);
    EXPECT_EQ(counts.steps, 500 * counts.finished);
    // Lanes at work are units by rounds and lanes.
    EXPECT_LE(counters.units, counters.rounds * TypeParam::Lanes::size);
    if (TypeParam::Lanes::size == 1) {
        EXPECT_LE(counters.rounds, counters.units + TypeParam::Runner::threads({}));
    }
}

/// Walks whose last step of seed 700 names a phase that there is not, throws, or whose finish spawns too
/// much.
enum class Fault { phase, exception, spawns };
struct FaultyWalks {
    using Units = Kinds<ResumableKind<Node, 2, CountedWalk>>;
    Arrivals arrivals;
    Fault fault;
    CountedWalk::State begin(auto&, const Node& node) const { return {node.seed, 5, 0}; }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        if (--walk.left > 0) return Phase{walk.left % 2};
        if (walk.seed == 700 && fault == Fault::exception) throw std::runtime_error("unit 700 is bad");
        return walk.seed == 700 && fault == Fault::phase ? Phase{2} : Phase::done;
    }
    void finish(auto& lane, CountedWalk::State& walk) const {
        if (walk.seed == 700 && fault == Fault::spawns)
            for (std::uint64_t i = 0; i < 4; ++i) lane.spawn(Node{i, 1});
    }
};

TYPED_TEST(Resumable, MistakesAreErrorsAndTheEngineGoesOnAfterThem) {
    const std::pair<Fault, const char*> mistakes[] = {{Fault::phase, "a phase that the kind does not have"},
                                                      {Fault::exception, "unit 700 is bad"},
                                                      {Fault::spawns, "spawned more"}};
    for (const auto& [fault, words] : mistakes)
        expect_failure_of_unit_700<TypeParam>(FaultyWalks{{}, fault}, words);
}

/// Two units of two groups. Unit 0 walks without end. Unit 1 names a phase that there is not, after the group
/// of unit 0 has begun to drain.
struct EndlessWalks {
    using Units = Kinds<ResumableKind<Node, 1, CountedWalk>>;
    struct Progress {
        std::atomic<std::uint64_t> begun = 0, steps = 0;
        std::atomic<bool> is_late = false;
        std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now() + 1min;
    };
    Arrivals arrivals;
    Progress* progress;
    CountedWalk::State begin(auto&, const Node& node) const {
        ++progress->begun;
        return {node.seed, 1, 0};
    }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        static_cast<void>(eventually([&] { return progress->begun >= 2; }));
        if (walk.seed == 1) {
            static_cast<void>(eventually([&] { return progress->steps > 1000; })); // a drain has 128 steps
            return Phase{2};
        }
        ++progress->steps;
        if (std::chrono::steady_clock::now() < progress->end) return Phase{0};
        progress->is_late = true;
        return Phase::done;
    }
    void finish(auto&, CountedWalk::State&) const {}
};

TEST(ResumableUnits, DoNotGoOnBeforeAPauseAfterAnotherGroupHasFailed) {
    const TestDeadline deadline("the engine");
    EndlessWalks::Progress progress;
    Bench<Config<1, ThreadRunner<2>>, EndlessWalks, Roots> bench(EndlessWalks{{}, &progress}, Roots{}, brief);
    EXPECT_THROW(drain(bench.engine, 0, 2), Error);
    EXPECT_FALSE(progress.is_late);
}

/// Units whose steps take until another thread has had a unit. Each seed has 32 of them.
struct SharedWalks {
    using Units = Kinds<ResumableKind<Node, 32, CountedWalk>>;
    struct Threads {
        std::mutex mutex;
        std::set<std::thread::id> ids;
    };
    Arrivals arrivals;
    Threads* threads;
    CountedWalk::State begin(auto&, const Node& node) const { return {node.heap, 3, 0}; }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        if (walk.seed > 1)
            static_cast<void>(eventually(
                [&] {
                    const std::lock_guard lock(threads->mutex);
                    threads->ids.insert(std::this_thread::get_id());
                    return threads->ids.size() > 1;
                },
                20ms));
        return --walk.left == 0 ? Phase::done : Phase{0};
    }
    void finish(auto& lane, CountedWalk::State& walk, const Node& node) const {
        arrivals.arrive(node.id());
        if (walk.seed == 1)
            for (std::uint64_t child = 2; child < 34; ++child) lane.spawn(Node{node.seed, child});
    }
};

TEST(ResumableUnits, AreSharedWithIdleGroups) {
    const TestDeadline deadline("the engine");
    SharedWalks::Threads threads;
    Bench<Config<16, ThreadRunner<4>>, SharedWalks, Roots> bench(SharedWalks{{}, &threads}, Roots{}, roomy);
    drain(bench.engine, 0, 1);
    EXPECT_EQ(bench.arrived.total(), 33u);
    EXPECT_GT(threads.ids.size(), 1u);
    EXPECT_GT(bench.engine.counters().shared, 0u);
}

struct MeetingLanes : MeetingWalks {
    using Units = Kinds<ResumableKind<Node, 4, CountedWalk>>;
    CountedWalk::State begin(auto&, const Node& node) const {
        begin_at(node);
        return {node.heap, 1, 0};
    }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        return next_of(walk.seed);
    }
    void finish(auto& lane, CountedWalk::State&, const Node& node) const { arrive(lane, node); }
};

TEST(ResumableUnits, AreAllSharedByAGroupThatWalks) {
    expect_that_all_groups_walk<MeetingLanes, 2>();
    expect_that_all_groups_walk<MeetingLanes, 3>();
    expect_that_all_groups_walk<MeetingLanes, 4>();
}

/// Walks that end as units of another kind. How many of these ran one after the other, without a step between
/// them: that many lanes had one.
struct Hit {
    std::uint64_t id;
};
struct Gathering {
    using Units = Kinds<ResumableKind<Link, 1, CountedWalk>, Kind<Hit, 1>>;
    struct Runs {
        std::uint64_t now = 0, full = 0, calls = 0;
    };
    Arrivals arrivals;
    Runs* runs;
    std::uint32_t lanes;
    CountedWalk::State begin(auto&, const Link& link) const {
        return {link.seed, 1 + static_cast<std::uint32_t>(mix(link.seed + link.left) % 20), 0};
    }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        runs->now = 0;
        return --walk.left == 0 ? Phase::done : Phase{walk.left % 2};
    }
    void finish(auto& lane, CountedWalk::State&, const Link& link) const {
        lane.spawn(Hit{link.seed << 8 | link.left});
    }
    void operator()(auto& lane, Hit hit) const {
        ++runs->calls;
        if (++runs->now == lanes) ++runs->full;
        arrivals.arrive(mix(hit.id >> 8) + hit.id % 256);
        if (hit.id % 256 > 0) lane.spawn(Link{hit.id >> 8, static_cast<std::uint32_t>(hit.id % 256) - 1, 0});
    }
};

/// Seeds of a called kind.
struct HitStarts {
    ChainStarts links;
    Hit operator()(std::uint64_t index) const { return {index << 8 | links(index).left}; }
};

template <class Seeds>
void expect_full_groups(const Seeds& seeds) {
    const TestDeadline deadline("the engine");
    constexpr std::uint32_t lanes = 32;
    Gathering::Runs runs;
    ArrivalTable arrived;
    const Gathering kernel{arrived.view(), &runs, lanes};
    ThreadDevice device;
    ThreadStream stream;
    const Launcher launcher =
        on_cpu::make_launcher<Gathering, Seeds, HostLanes<lanes>, ThreadRunner<1>, StillClock>();
    Engine engine(device, stream, launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds));
    drain(engine, 0, 2000);
    EXPECT_EQ(arrived, expected_arrivals(Chain{}, ChainStarts{100}, 0, 2000));
    EXPECT_GT(runs.full * lanes, runs.calls * 3 / 4);
    EXPECT_GT(engine.counters().units, engine.counters().rounds * lanes * 6 / 10);
}

TEST(ResumableUnits, UnitsThatAreCalledGatherUntilTheyFillTheGroup) {
    expect_full_groups(ChainStarts{100});
    expect_full_groups(HitStarts{{100}});
}

/// Unit 0 spawns a walk, and many other units are called. `seen`: how many of them when the walk ended.
struct LoneWalk {
    using Units = Kinds<ResumableKind<Link, 0, CountedWalk>, Kind<Hit, 1>>;
    struct Calls {
        std::uint64_t now = 0, seen = 0;
    };
    static constexpr std::uint32_t steps = 20;
    Arrivals arrivals;
    Calls* calls;
    CountedWalk::State begin(auto&, const Link& link) const { return {link.seed, steps, 0}; }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, CountedWalk::State& walk) const {
        return --walk.left == 0 ? Phase::done : Phase{walk.left % 2};
    }
    void finish(auto&, CountedWalk::State&) const { calls->seen = calls->now; }
    void operator()(auto& lane, Hit hit) const {
        ++calls->now;
        if (hit.id == 0) lane.spawn(Link{});
    }
};
struct Hits {
    Hit operator()(std::uint64_t index) const { return {index}; }
};

TEST(ResumableUnits, DoNotWaitForAllCalls) {
    const TestDeadline deadline("the engine");
    constexpr std::uint64_t lanes = 32, hits = 200'000;
    LoneWalk::Calls calls;
    const LoneWalk kernel{{}, &calls};
    const Hits seeds;
    ThreadDevice device;
    ThreadStream stream;
    const Launcher launcher =
        on_cpu::make_launcher<LoneWalk, Hits, HostLanes<lanes>, ThreadRunner<1>, StillClock>();
    Engine engine(device, stream, launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds),
                  {.wishes = {}, .first_rounds = 1u << 30});
    drain(engine, 0, hits);
    EXPECT_EQ(calls.now, hits);
    // A step within 32 turns for each of two phases. Other turns are calls.
    EXPECT_LE(calls.seen, std::uint64_t{LoneWalk::steps + 2} * 2 * phase_patience * lanes);
}

// ---- the rule --------------------------------------------------------------------------------------------

using Votes = PhaseVotes<2>;
constexpr std::uint32_t nodes = 0, triangles = 1, refills = 2;

/// As for rays: a refill below 26 lanes, triangles once 8 wait.
std::uint32_t chosen(Votes votes) { return next_phase(votes, PhaseLimits<2>{26, {0, 8}}, 32); }

TEST(PhaseVotes, ChooseALaterPhaseOnceEnoughLanesWaitForIt) {
    EXPECT_EQ(chosen({{32, 0}}), nodes);
    EXPECT_EQ(chosen({{25, 7}}), nodes);
    EXPECT_EQ(chosen({{24, 8}}), triangles);
    EXPECT_EQ(chosen({{0, 32}}), triangles);
    EXPECT_EQ(chosen({{0, 5}, 0, 0, true}), triangles) << "no lane waits for a node";
    EXPECT_EQ(chosen({{1, 5}, 0, 0, true}), nodes);
}

TEST(PhaseVotes, RefillWhereTooFewLanesAreBusy) {
    EXPECT_EQ(chosen({{26, 0}, 6}), nodes);
    EXPECT_EQ(chosen({{25, 0}, 7}), refills);
    EXPECT_EQ(chosen({{17, 8}, 0}), refills);
    EXPECT_EQ(chosen({{0, 0}}), refills);
    EXPECT_EQ(chosen({{0, 0}, 0, 0, true}), refills);
}

TEST(PhaseVotes, DoNotRefillAgainAtOnceWhereThereWasNothing) {
    EXPECT_EQ(chosen({{20, 0}, 0, 0, true}), nodes);
    EXPECT_EQ(chosen({{20, 0}, 6, 0, true}), nodes);
    EXPECT_EQ(chosen({{20, 0}, 7, 0, true}), refills) << "lanes that are done may spawn";
}

TEST(PhaseVotes, ChooseTheFullestPhaseWhereNoneHasEnough) {
    const PhaseLimits<3> limits{0, {16, 16, 16}};
    EXPECT_EQ(next_phase(PhaseVotes<3>{{10, 12, 10}}, limits, 32), 1u);
    EXPECT_EQ(next_phase(PhaseVotes<3>{{10, 10, 0}}, limits, 32), 1u);
    EXPECT_EQ(next_phase(PhaseVotes<3>{{1, 0, 0}}, limits, 32), 0u);
    EXPECT_EQ(next_phase(PhaseVotes<3>{{10, 20, 16}}, limits, 64), 2u);
}

/// Whatever the votes are: a phase is chosen only if a lane waits for it, and each phase that is waited for
/// without end is chosen again within 32 turns for each phase, also if refills call units in other turns.
TEST(PhaseVotes, NeverStarveALane) {
    std::mt19937 random(1);
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    for (int round = 0; round < 2000; ++round) {
        const std::uint32_t lanes = 1u << below(7);
        PhaseLimits<3> limits{below(lanes + 1), {}};
        for (std::uint32_t& least : limits.least) least = below(lanes + 1);
        const std::uint32_t patient = below(3);
        std::uint32_t waits = 0;
        for (std::uint32_t turn = below(1u << 30), end = turn + 300; turn != end; ++turn) {
            PhaseVotes<3> votes{{}, 0, turn, below(2) == 0};
            std::uint32_t left = lanes - 1;
            for (std::uint32_t phase = 0; phase < 3; ++phase) {
                votes.waiting[phase] = below(left + 1);
                left -= votes.waiting[phase];
            }
            ++votes.waiting[patient];
            const std::uint32_t next = next_phase(votes, limits, lanes);
            if (next < 3) {
                ASSERT_GT(votes.waiting[next], 0u);
            }
            waits = next == patient ? 0 : waits + 1;
            ASSERT_LT(waits, 3 * phase_patience) << round;
        }
    }
}

TEST(PhaseVotes, AreOfSharesOfTheLanes) {
    using Rays = ResumableKind<Node, 1, RandomWalk>; // 0, 25 and 60 percent
    EXPECT_EQ((least_waiting<Rays, 0>(32)), 0u);
    EXPECT_EQ((least_waiting<Rays, 1>(32)), 8u);
    EXPECT_EQ((least_waiting<Rays, 1>(64)), 16u);
    EXPECT_EQ((least_waiting<Rays, 2>(16)), 10u);
    EXPECT_EQ((least_waiting<Rays, 2>(1)), 1u);
}

} // namespace
} // namespace headrace::test
