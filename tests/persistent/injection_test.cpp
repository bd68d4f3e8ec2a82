// Launches that get seeds from the host while they run, under host threads: whenever seeds come and whenever
// all pause, each unit arrives once.
#include "drain.hpp"
#include "thread_bench.hpp"
#include "walks.kernels.hpp"

#include <core/eventually.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

template <class Config, class Kernel, class Seeds>
using FedBench = Bench<Config, Kernel, Seeds, LaterStream>;

/// [0, end) in ranges of at most `longest` seeds, some of none.
std::vector<SeedRange> cut(std::uint64_t end, std::uint64_t longest, std::mt19937_64& random) {
    std::vector<SeedRange> ranges;
    for (std::uint64_t begin = 0; begin < end;) {
        const std::uint64_t next = std::min(end, begin + random() % (longest + 1));
        ranges.push_back({begin, next});
        begin = next;
    }
    return ranges;
}

void inject(Engine& engine, SeedRange range) {
    EXPECT_TRUE(eventually([&] { return engine.inject(range.next, range.end); }));
}

/// How the host behaves while the engine runs.
struct Host {
    std::uint64_t longest = 100;  ///< seeds in a range
    bool shuffled = true;         ///< ranges do not adjoin
    unsigned one_in_waits = 50;   ///< after a range, until the launch idles or is about to; 0: never
    unsigned one_in_pauses = 100; ///< after a range; 0: never
};

template <class Config, class Kernel, class Seeds>
EngineCounters expect_injected_exactly_once(Kernel kernel, const Seeds& seeds, std::uint64_t end,
                                            const EngineOptions& options, const Host& host) {
    const TestDeadline deadline("an engine with injection");
    FedBench<Config, Kernel, Seeds> bench(kernel, seeds, options);
    Engine& engine = bench.engine;
    std::mt19937_64 random(Config::Lanes::size * 1000 + end);
    std::vector<SeedRange> ranges = cut(end, host.longest, random);
    if (host.shuffled) std::shuffle(ranges.begin(), ranges.end(), random);
    const auto one_in = [&](unsigned n) { return n != 0 && random() % n == 0; };
    engine.open();
    std::thread injector([&] {
        std::uint64_t injected = 0;
        for (const SeedRange& range : ranges) {
            inject(engine, range);
            injected += range.end - range.next;
            if (one_in(host.one_in_waits)) {
                const std::uint64_t enough = injected - std::min(injected, random() % host.longest);
                EXPECT_TRUE(eventually([&] { return engine.completed() >= enough; }));
            }
            if (one_in(host.one_in_pauses)) engine.request_pause();
        }
        engine.close();
    });
    while (engine.collect() == Engine::State::paused) engine.resume();
    injector.join();
    EXPECT_EQ(bench.arrived, expected_arrivals(serial(kernel), seeds, 0, end));
    EXPECT_EQ(engine.counters().units, bench.arrived.total());
    EXPECT_EQ(engine.remaining(), 0u);
    EXPECT_EQ(engine.injected(), end);
    EXPECT_EQ(engine.consumed(), end);
    EXPECT_EQ(engine.completed(), end);
    EXPECT_EQ(engine.counters().saved, engine.counters().restored);
    return engine.counters();
}

template <class Config>
class Injection : public testing::Test {};
using Configs = TestedConfigs<
    testing::Types<Config<3, ThreadRunner<16>>, Config<16, ThreadRunner<1>>, Config<16, SerialRunner<5>>>,
    testing::Types<Config<1, ThreadRunner<5>>, Config<3, ThreadRunner<4>>, Config<16, ThreadRunner<1>>,
                   Config<64, ThreadRunner<6>>, Config<16, SerialRunner<5>>,
                   Config<3, ThreadRunner<16>>>>; // the last has several rings
TYPED_TEST_SUITE(Injection, Configs);

constexpr EngineOptions roomy{};
/// Everything so small that every way out is taken, time included.
constexpr EngineOptions tiny{.wishes = {.liq_units = 4}, .bundles = 1, .launch_time = 2ms};

TYPED_TEST(Injection, AConsumersIndicesArriveExactlyOnce) {
    expect_injected_exactly_once<TypeParam>(Visit{}, Indices{}, 100'000 / slower, roomy, {});
    expect_injected_exactly_once<TypeParam>(Visit{}, Indices{}, 100'000 / slower, tiny, {.longest = 500});
    expect_injected_exactly_once<TypeParam>(Visit{}, Indices{}, 100'000 / slower, roomy, {.shuffled = false});
}

TYPED_TEST(Injection, ResumableUnitsArriveExactlyOnce) {
    const WalkTree tree{{{{}, std::uint64_t{1} << 30}}};
    expect_injected_exactly_once<TypeParam>(tree, Roots{}, 3000 / slower, roomy, {});
    expect_injected_exactly_once<TypeParam>(tree, Roots{}, 1000 / slower, tiny, {.longest = 20});
    expect_injected_exactly_once<TypeParam>(WalkPlant{{{{}, 5}}}, Sprouts{}, 300 / slower, tiny, {});
}

/// Counts the lane groups that have left.
struct CountingRunner : ThreadRunner<4> {
    static inline std::atomic<unsigned> left = 0;
    static void run(const NativeStream& stream, unsigned n, const std::function<void(unsigned)>& body) {
        ThreadRunner<4>::run(stream, n, [&](unsigned i) {
            body(i);
            ++left;
        });
    }
};

/// A unit that ends when all other lane groups have left.
struct LastToLeave {
    Arrivals arrivals;
    void operator()(auto&, std::uint64_t index) const {
        EXPECT_TRUE(eventually([] { return CountingRunner::left == 3; }));
        arrivals.arrive(index);
    }
};

TEST(InjectionIntoConsumers, WhoFindsNoMoreSeedsDoesNotWaitForTheLastUnits) {
    const TestDeadline deadline("an engine with injection");
    const EngineOptions patient{.wishes = {}, .launch_time = 1h};
    CountingRunner::left = 0;
    FedBench<Config<3, CountingRunner>, LastToLeave, Indices> bench(LastToLeave{}, Indices{}, patient);
    bench.engine.open();
    inject(bench.engine, {0, 1});
    bench.engine.close();
    EXPECT_EQ(bench.engine.collect(), Engine::State::finished);
    EXPECT_EQ(bench.arrived.total(), 1u);
}

TEST(InjectionIntoConsumers, TasksOfOneUnitAreKeptByWhoHearsOfThem) {
    const TestDeadline deadline("an engine with injection");
    FedBench<Config<16, ThreadRunner<1>>, Visit, Indices> bench(Visit{}, Indices{},
                                                                {.wishes = {}, .launch_time = 1h});
    Engine& engine = bench.engine;
    engine.open();
    constexpr std::uint64_t tasks =
        HR_INJECTION_SEGMENTS + 100; // as segments they would not fit into a launch
    for (std::uint64_t i = 0; i < tasks; ++i) {
        inject(engine, {2 * i, 2 * i + 1});
        ASSERT_TRUE(eventually([&] { return engine.completed() == i + 1; }));
    }
    engine.close();
    EXPECT_EQ(engine.collect(), Engine::State::finished);
    EXPECT_EQ(engine.launches(), 1u);
    EXPECT_EQ(bench.arrived.total(), tasks);
}

TYPED_TEST(Injection, TreesArriveExactlyOnceWhilePoolsGrowAndAllPause) {
    const IrregularTree tree{{}, std::uint64_t{1} << 30};
    expect_injected_exactly_once<TypeParam>(tree, Roots{}, 5000 / slower, roomy, {.longest = 20});
    expect_injected_exactly_once<TypeParam>(tree, Roots{}, 2000 / slower, tiny, {.longest = 20});
    expect_injected_exactly_once<TypeParam>(BinaryTree{{}, 1 << 9}, Roots{}, 50, tiny, {.longest = 3});
}

TYPED_TEST(Injection, ChainsArriveExactlyOnce) {
    expect_injected_exactly_once<TypeParam>(Chain{}, ChainStarts{100}, 5000 / slower, roomy, {.longest = 20});
    expect_injected_exactly_once<TypeParam>(Chain{}, ChainStarts{100}, 2000 / slower, tiny,
                                            {.one_in_pauses = 10});
}

TYPED_TEST(Injection, SeveralKindsArriveExactlyOnce) {
    expect_injected_exactly_once<TypeParam>(Plant{{}, 7}, Sprouts{}, 500 / slower, roomy, {.longest = 5});
    expect_injected_exactly_once<TypeParam>(Plant{{}, 7}, Sprouts{}, 100, tiny,
                                            {.longest = 5, .one_in_pauses = 10});
}

TYPED_TEST(Injection, GroupKernelsProcessEachUnitOnceTogether) {
    const GroupTree tree{{{}, std::uint64_t{1} << 30}};
    expect_injected_exactly_once<TypeParam>(tree, Roots{}, 500, roomy, {.longest = 5});
    expect_injected_exactly_once<TypeParam>(tree, Roots{}, 200, tiny, {.longest = 5});
    expect_injected_exactly_once<TypeParam>(GroupVisit{}, Indices{}, 3000, tiny, {.one_in_pauses = 10});
}

TYPED_TEST(Injection, MoreRangesThatDoNotAdjoinThanSegmentsNeedMoreLaunches) {
    constexpr std::uint64_t ranges = 5000, seeds = 65; // more than a group keeps, which takes no segment
    // None pauses but for want of segments.
    const EngineOptions patient{.wishes = {}, .launch_time = 1h};
    const TestDeadline deadline("an engine with injection");
    FedBench<TypeParam, Visit, Indices> bench(Visit{}, Indices{}, patient);
    Engine& engine = bench.engine;
    engine.open();
    std::thread injector([&] {
        for (std::uint64_t i = 0; i < ranges; ++i) inject(engine, {2 * i * seeds, (2 * i + 1) * seeds});
        engine.close();
    });
    while (engine.collect() == Engine::State::paused) engine.resume();
    injector.join();
    EXPECT_EQ(engine.launches(), 1 + ranges / HR_INJECTION_SEGMENTS);
    ArrivalTable expected;
    for (std::uint64_t i = 0; i < ranges; ++i)
        for (std::uint64_t seed = 0; seed < seeds; ++seed) expected.view().arrive(2 * i * seeds + seed);
    EXPECT_EQ(bench.arrived, expected);
}

TYPED_TEST(Injection, TenThousandRangesThatAdjoinAreOneToTheLaunch) {
    const EngineOptions patient{.wishes = {}, .launch_time = 1h};
    expect_injected_exactly_once<TypeParam>(
        Visit{}, Indices{}, 10'000, patient,
        {.longest = 1, .shuffled = false, .one_in_waits = 0, .one_in_pauses = 0});
}

TYPED_TEST(Injection, NothingInjectedEndsWhenItIsClosed) {
    for (const bool is_running : {false, true}) {
        const auto counters = expect_injected_exactly_once<TypeParam>(Chain{}, ChainStarts{9}, 0, roomy, {});
        EXPECT_EQ(counters.units, 0u);
        FedBench<TypeParam, Visit, Indices> bench(Visit{}, Indices{}, roomy);
        const unsigned before = bench.stream.launches_begun();
        bench.engine.open();
        EXPECT_TRUE(!is_running || eventually([&] { return bench.stream.launches_begun() > before; }));
        EXPECT_TRUE(bench.engine.inject(5, 5));
        bench.engine.close();
        while (bench.engine.collect() == Engine::State::paused) bench.engine.resume();
        EXPECT_EQ(bench.arrived.total(), 0u);
    }
}

TYPED_TEST(Injection, WhatIsCompletedIsToldWhileTheLaunchGoesOn) {
    const TestDeadline deadline("an engine with injection");
    FedBench<TypeParam, Chain, ChainStarts> bench(Chain{}, ChainStarts{20},
                                                  {.wishes = {}, .launch_time = 1h});
    Engine& engine = bench.engine;
    engine.open();
    for (std::uint64_t injected = 0; injected < 50;) {
        const std::uint64_t more = 1 + injected % 3;
        inject(engine, {injected, injected + more});
        injected += more;
        ASSERT_TRUE(eventually([&] { return engine.completed() == injected; }));
        EXPECT_EQ(engine.consumed(), injected);
        // Plain reads of what units wrote: ThreadSanitizer sees whether `completed` orders them.
        EXPECT_EQ(bench.arrived, expected_arrivals(Chain{}, ChainStarts{20}, 0, injected));
    }
    engine.close();
    EXPECT_EQ(engine.collect(), Engine::State::finished);
    EXPECT_EQ(engine.launches(), 1u);
}

/// Injects, pauses now and then, and looks at what is told meanwhile.
template <class Config, class Kernel, class Seeds>
void expect_nothing_is_taken_back(const Kernel& kernel, const Seeds& seeds, std::uint64_t ranges,
                                  std::uint64_t in_range) {
    const TestDeadline deadline("an engine with injection");
    FedBench<Config, Kernel, Seeds> bench(kernel, seeds, {.wishes = {}, .launch_time = 1h});
    Engine& engine = bench.engine;
    engine.open();
    std::jthread injector([&] {
        for (std::uint64_t i = 0; i < ranges; ++i) {
            inject(engine, {i * in_range, (i + 1) * in_range});
            // Now and then until it is about to idle.
            ASSERT_TRUE(i % 7 != 0 || eventually([&] { return engine.completed() >= i * in_range; }));
            if (i % 101 == 100) engine.request_pause();
        }
        engine.close();
    });
    std::jthread reader([&] {
        for (std::uint64_t completed = 0, consumed = 0; completed < ranges * in_range;) {
            const std::uint64_t completed_now = engine.completed(), consumed_now = engine.consumed();
            ASSERT_GE(completed_now, completed);
            ASSERT_GE(consumed_now, consumed);
            ASSERT_GE(consumed_now, completed_now);
            completed = completed_now;
            consumed = consumed_now;
            std::this_thread::yield();
        }
    });
    while (engine.collect() == Engine::State::paused) engine.resume();
    EXPECT_EQ(engine.completed(), ranges * in_range);
    EXPECT_EQ(bench.arrived, expected_arrivals(kernel, seeds, 0, ranges * in_range));
}

/// Whoever finishes tells so, and they may overtake each other.
TYPED_TEST(Injection, WhatIsToldIsNeverTakenBack) {
    expect_nothing_is_taken_back<TypeParam>(Chain{}, ChainStarts{2}, 2000, 1);
    expect_nothing_is_taken_back<TypeParam>(Chain{}, ChainStarts{9}, 500, 65);
    expect_nothing_is_taken_back<TypeParam>(Visit{}, Indices{}, 2000, 1);
    expect_nothing_is_taken_back<TypeParam>(Visit{}, Indices{}, 500, 65); // more than a group keeps
}

TYPED_TEST(Injection, AnIdleLaunchPausesOnRequestAndInTimeAndGoesOn) {
    const TestDeadline deadline("an engine with injection");
    FedBench<TypeParam, BinaryTree, Roots> bench(BinaryTree{{}, 4}, Roots{},
                                                 {.wishes = {}, .launch_time = 1h});
    Engine& engine = bench.engine;
    engine.open();
    engine.request_pause();
    EXPECT_EQ(engine.collect(), Engine::State::paused);
    inject(engine, {0, 10});
    engine.resume();
    ASSERT_TRUE(eventually([&] { return engine.completed() == 10; }));
    engine.request_pause();
    EXPECT_EQ(engine.collect(), Engine::State::paused);
    EXPECT_EQ(engine.remaining(), 0u);
    engine.close();
    engine.resume();
    EXPECT_EQ(engine.collect(), Engine::State::finished);
    EXPECT_EQ(bench.arrived.total(), 70u);

    FedBench<TypeParam, Visit, Indices> brief(Visit{}, Indices{}, {.wishes = {}, .launch_time = 1ms});
    brief.engine.open();
    EXPECT_EQ(brief.engine.collect(), Engine::State::paused);
    brief.engine.resume();
    EXPECT_EQ(brief.engine.collect(), Engine::State::paused);
}

TYPED_TEST(Injection, ALaunchThatIsNotOpenedTellsHowFarItIsAndPausesOnRequest) {
    const TestDeadline deadline("an engine that is asked to pause");
    const EngineOptions patient{.wishes = {}, .first_rounds = 1u << 30};
    FedBench<TypeParam, Visit, Indices> bench(Visit{}, Indices{}, patient);
    Engine& engine = bench.engine;
    constexpr std::uint64_t no_end = std::uint64_t{1} << 60;
    engine.start(0, no_end);
    ASSERT_TRUE(eventually([&] { return engine.consumed() > 0; }));
    const std::uint64_t told = engine.consumed();
    engine.request_pause();
    ASSERT_EQ(engine.collect(), Engine::State::paused);
    const std::uint64_t end = engine.unclaimed().next;
    EXPECT_LE(told, end);
    engine.give_back(end);
    while (engine.remaining() > 0) { // asked once, it pauses once
        engine.resume();
        EXPECT_EQ(engine.collect(), Engine::State::finished);
    }
    EXPECT_EQ(bench.arrived, expected_arrivals(Visit{}, Indices{}, 0, end));
}

TYPED_TEST(Injection, AnEngineMayGoAwayWhileItsLaunchIsOpen) {
    const TestDeadline deadline("an engine with injection");
    FedBench<TypeParam, BinaryTree, Roots> bench(BinaryTree{{}, 1 << 20}, Roots{},
                                                 {.wishes = {}, .launch_time = 1h});
    bench.engine.open();
    inject(bench.engine, {0, 100});
}

TYPED_TEST(Injection, AFailureEndsTheLaunchAndTheEngineGoesOnAfterIt) {
    const TestDeadline deadline("an engine with injection");
    FedBench<TypeParam, Liar, Roots> bench(Liar{}, Roots{}, {.wishes = {}, .launch_time = 1h});
    Engine& engine = bench.engine;
    const auto run = [&](std::uint64_t end) {
        engine.open();
        inject(engine, {0, 900}); // none of which lies
        EXPECT_TRUE(eventually([&] { return engine.completed() == 900; }));
        inject(engine, {900, end});
        engine.close();
        while (engine.collect() == Engine::State::paused) engine.resume();
    };
    run(900);
    EXPECT_THROW(run(5000), Error);
    run(900);
    EXPECT_EQ(engine.remaining(), 0u);
    const std::uint64_t before = engine.counters().units;
    drain(engine, 0, 900); // an engine that had injections starts as ever
    EXPECT_EQ(engine.counters().units, before + 900);
}

} // namespace
} // namespace headrace::test
