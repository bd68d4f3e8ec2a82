// The engine on every device of this machine, through the units that headrace_add_kernels generated.
#include "bind_on_device.hpp"
#include "cpu_only.kernels.hpp"
#include "drain.hpp"
#include "expected.hpp"
#include "walks.kernels.hpp"

#include "devices/devices_fixture.hpp"
#include <core/eventually.hpp>
#include <core/takes.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

/// One device, with memory that every arrival is counted in.
class EngineOnDevice : public OnDevices {
protected:
    void SetUp() override {
        OnDevices::SetUp();
        if (devices_.empty()) return; // skipped
        stream_ = device().make_stream(Timing::all);
        words_ = device().allocate(sizeof(std::uint64_t) * 2 * Arrivals::cells);
        forget();
    }
    void forget() { stream_->fill_zero(*words_, 0, words_->size()).wait(); }

    ArrivalTable arrived() {
        ArrivalTable table;
        stream_->copy_out(table.words().data(), *words_, 0, words_->size()).wait();
        return table;
    }

    template <class Kernel, class Seeds>
    std::unique_ptr<BoundKernel> bind(Kernel kernel, const Seeds& seeds) {
        return bind_on_device(device(), kernel, seeds, *words_);
    }

    template <class Kernel, class Seeds>
    EngineCounters expect_exactly_once(const Kernel& kernel, const Seeds& seeds, std::uint64_t begin,
                                       std::uint64_t end, const EngineOptions& options = {}) {
        forget();
        Engine engine(device(), *stream_, bind(kernel, seeds), options);
        drain(engine, begin, end);
        const ArrivalTable expected = expected_arrivals(serial(kernel), seeds, begin, end);
        EXPECT_EQ(arrived().total(), expected.total());
        EXPECT_EQ(arrived(), expected);
        EXPECT_EQ(engine.counters().units, expected.total());
        EXPECT_EQ(engine.counters().units + engine.counters().empty,
                  engine.counters().spawned + (end - begin));
        EXPECT_EQ(engine.remaining(), 0u);
        EXPECT_FALSE(engine.launch_times().empty());
        for (const EventTimes& launch : engine.launch_times()) EXPECT_GT(launch.end, launch.begin);
        return engine.counters();
    }

    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Memory> words_;
};

/// Everything so small that every way out is taken.
constexpr EngineOptions tiny{.wishes = {.groups = 64, .liq_units = 4}, .bundles = 1, .first_rounds = 3};
constexpr EngineOptions single{.wishes = {.groups = 1}};

TEST_P(EngineOnDevice, TenMillionUnitsOfFullTreesArriveExactlyOnce) {
    const auto counters = expect_exactly_once(BinaryTree{{}, 1 << 13}, Roots{}, 0, 640);
    EXPECT_GT(counters.units, 10'000'000u);
}

TEST_P(EngineOnDevice, ADeepTreeFromOneSeedIsShared) {
    const auto counters = expect_exactly_once(BinaryTree{{}, 1 << 22}, Roots{}, 0, 1);
    EXPECT_EQ(counters.pushed, counters.popped);
}

TEST_P(EngineOnDevice, IrregularTreesArriveExactlyOnce) {
    expect_exactly_once(IrregularTree{{}, std::uint64_t{1} << 30}, Roots{}, 0, 300000);
}

TEST_P(EngineOnDevice, TenMillionUnitsOfChainsArriveExactlyOnce) {
    const auto counters = expect_exactly_once(Chain{}, ChainStarts{200}, 0, 110000);
    EXPECT_GT(counters.units, 10'000'000u);
}

TEST_P(EngineOnDevice, SeveralKindsArriveExactlyOnce) {
    expect_exactly_once(Plant{{}, 9}, Sprouts{}, 0, 20000);
}

TEST_P(EngineOnDevice, ANarrowerEngineOfTheSameKernelTakesNoLocalMemoryAway) {
    const BinaryTree tree{{}, 1 << 9};
    try {
        // On a GPU both have more than the 48 KB of a block that nobody must ask for.
        Engine wide(device(), *stream_, bind(tree, Roots{}), {.wishes = {.liq_units = 2048}});
        Engine narrow(device(), *stream_, bind(tree, Roots{}), {.wishes = {.liq_units = 1024}});
        drain(wide, 0, 1000);
        drain(narrow, 1000, 2000);
        drain(wide, 2000, 3000);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        GTEST_SKIP() << error.what();
    }
    EXPECT_EQ(arrived(), expected_arrivals(serial(tree), Roots{}, 0, 3000));
}

TEST_P(EngineOnDevice, ChainsThatChangeTheirKindWithEachStepArriveExactlyOnce) {
    if (device().info().technology == "opencl") GTEST_SKIP() << "trees.cl has no Ferry";
    expect_exactly_once(Ferry{}, Quays{200}, 0, 30000);
    expect_exactly_once(Ferry{}, Quays{2000}, 0, 3);
    const EngineOptions often{.wishes = {}, .first_rounds = 2, .launch_time = 1ns};
    expect_exactly_once(Ferry{}, Quays{50}, 0, 2000, often);
}

TEST_P(EngineOnDevice, RangesOfAnyLengthArriveExactlyOnce) {
    const std::uint64_t lanes = Engine(device(), *stream_, bind(Fireworks{}, Fuses{})).shape().lanes;
    for (const std::uint64_t length :
         {std::uint64_t{0}, std::uint64_t{1}, lanes - 1, lanes, lanes + 1, std::uint64_t{1'000'000}})
        for (const EngineOptions& options : {EngineOptions{}, tiny, single}) {
            if (length > lanes + 1 && options == tiny) continue; // launches of three rounds
            const auto counters = expect_exactly_once(Fireworks{{}, 1, length}, Fuses{}, 0, 1, options);
            EXPECT_EQ(counters.units, 1 + length);
        }
}

TEST_P(EngineOnDevice, RangesThatSpawnRangesArriveExactlyOnce) {
    expect_exactly_once(Fireworks{{}, 6, 1000}, Fuses{}, 0, 50);
    const auto counters = expect_exactly_once(Fireworks{{}, 3, 300}, Fuses{}, 0, 30, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
    EXPECT_EQ(counters.pushed, counters.popped);
    expect_exactly_once(GroupFireworks{{{}, 4, 100}}, Fuses{}, 0, 30);
    expect_exactly_once(GroupFireworks{{{}, 3, 50}}, Fuses{}, 0, 5, tiny);
}

TEST_P(EngineOnDevice, RangesOfSeveralKindsArriveExactlyOnce) {
    EXPECT_GT(expect_exactly_once(Conifer{{}, 7}, Saplings{}, 0, 300).empty, 0u);
    expect_exactly_once(Conifer{{}, 5}, Saplings{}, 0, 30, tiny);
    expect_exactly_once(Conifer{{}, 5}, Saplings{}, 0, 30, single);
}

TEST_P(EngineOnDevice, SeedsThatAreRangesArriveExactlyOnce) {
    EXPECT_GT(expect_exactly_once(Fireworks{{}, 2, 0}, Rockets{20}, 0, 100'000).empty, 0u);
    expect_exactly_once(Fireworks{{}, 2, 0}, Rockets{20}, 0, 1000, tiny);
    expect_exactly_once(Fireworks{{}, 2, 0}, Rockets{1}, 0, 1000, tiny); // all are empty
}

TEST_P(EngineOnDevice, SeedsWithoutAUnitAreCompletedAtOnce) {
    const IrregularTree tree{{}, std::uint64_t{1} << 30};
    for (const std::uint64_t one_in : {std::uint64_t{2}, std::uint64_t{100}, ~std::uint64_t{0}}) {
        const auto counters = expect_exactly_once(tree, SparseRoots{one_in}, 1, 100'000);
        EXPECT_GT(counters.empty, 0u);
        if (one_in == ~std::uint64_t{0}) {
            EXPECT_EQ(counters.units, 0u);
        }
        expect_exactly_once(tree, SparseRoots{one_in}, 1, 3000, tiny);
    }
}

TEST_P(EngineOnDevice, SeedsWithoutAUnitUseUpTheBudget) {
    Engine engine(device(), *stream_, bind(IrregularTree{}, SparseRoots{~std::uint64_t{0}}),
                  {.wishes = {}, .first_rounds = 2});
    engine.start(1, std::uint64_t{1} << 40);
    EXPECT_EQ(engine.collect(), Engine::State::paused);
    EXPECT_EQ(engine.remaining() + engine.counters().empty, (std::uint64_t{1} << 40) - 1);
}

TEST_P(EngineOnDevice, NothingToDoIsDoneAtOnce) {
    const auto expect_nothing = [&](auto kernel, const auto& seeds) {
        Engine engine(device(), *stream_, bind(kernel, seeds));
        EXPECT_EQ(drain(engine, 7, 7), 0u);
        EXPECT_EQ(engine.counters().rounds, 0u);
        if (!engine.fine_grained_host_coherence()) return;
        engine.open();
        EXPECT_TRUE(engine.inject(3, 3));
        EXPECT_TRUE(engine.inject(0, 0));
        engine.close();
        while (engine.collect() == Engine::State::paused) engine.resume();
        EXPECT_EQ(engine.injected(), 0u);
        EXPECT_EQ(engine.completed(), 0u);
        EXPECT_EQ(engine.counters().rounds, 0u);
    };
    expect_nothing(Visit{}, Indices{});
    expect_nothing(BinaryTree{{}, 4}, Roots{});
    expect_nothing(Plant{{}, 4}, Sprouts{});
    expect_nothing(Fireworks{{}, 1, 10}, Fuses{});
    expect_nothing(Fireworks{{}, 1, 10}, Rockets{5});
    expect_nothing(IrregularTree{}, SparseRoots{2});
    expect_nothing(GroupTree{}, Roots{});
}

TEST_P(EngineOnDevice, AConsumerVisitsEachIndexOnce) {
    expect_exactly_once(Visit{}, Indices{}, 5, 10'000'003);
}

TEST_P(EngineOnDevice, TinyQueuesTakeEveryWayOutAndLoseNothing) {
    const auto counters =
        expect_exactly_once(IrregularTree{{}, std::uint64_t{1} << 30}, Roots{}, 0, 20000, tiny);
    EXPECT_GT(counters.narrow_rounds, 0u);
    EXPECT_GT(counters.no_bundle, 0u);
    EXPECT_GT(counters.pushed, 0u);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
    expect_exactly_once(BinaryTree{{}, 1 << 12}, Roots{}, 0, 100, tiny);
    expect_exactly_once(Plant{{}, 7}, Sprouts{}, 0, 300, tiny);
    expect_exactly_once(Chain{}, ChainStarts{100}, 0, 5000, tiny);
    expect_exactly_once(Visit{}, Indices{}, 0, 100000, tiny);
}

TEST_P(EngineOnDevice, AUnitIsSharedWhereOthersAreIdle) {
    if (device().info().technology == "opencl") GTEST_SKIP() << "trees.cl has no kernel that shares";
    constexpr std::uint64_t length = 300'001, seeds = 3;
    for (const EngineOptions& options : {EngineOptions{}, tiny, single}) {
        forget();
        Engine engine(device(), *stream_, bind(GroupShare{}, Stretches{length}), options);
        drain(engine, 0, seeds);
        ArrivalTable expected;
        for (std::uint64_t id = 0; id < seeds * length; ++id) expected.view().arrive(id);
        EXPECT_EQ(arrived(), expected);
        if (options.wishes.groups == 1) {
            EXPECT_EQ(engine.counters().units, seeds); // there is nobody else
        } else if (options.wishes.groups == 0 && device().info().kind == DeviceKind::gpu) {
            EXPECT_GT(engine.counters().units, 3 * seeds);
        }
    }
}

TEST_P(EngineOnDevice, GroupKernelsProcessEachUnitOnceTogether) {
    const GroupTree tree{{{}, std::uint64_t{1} << 30}};
    expect_exactly_once(tree, Roots{}, 0, 30000);
    expect_exactly_once(GroupTree{{{}, std::uint64_t{1} << 40}}, Roots{}, 0, 1, single);
    const auto counters = expect_exactly_once(tree, Roots{}, 0, 5000, tiny);
    EXPECT_GT(counters.saved, 0u);
    EXPECT_EQ(counters.saved, counters.restored);
    expect_exactly_once(GroupPlant{{}, 9}, Sprouts{}, 0, 3000);
    expect_exactly_once(GroupPlant{{}, 7}, Sprouts{}, 0, 300, tiny);
    expect_exactly_once(GroupVisit{}, Indices{}, 5, 200'003);
    expect_exactly_once(GroupVisit{}, Indices{}, 0, 10'000, tiny);
}

TEST_P(EngineOnDevice, ResumableUnitsArriveExactlyOnce) {
    const bool all = device().info().technology != "opencl"; // PoCL compiles each for seconds
    const WalkTree tree{{{{}, std::uint64_t{1} << 30}}};
    for (const EngineOptions& options : {EngineOptions{}, tiny, single}) {
        if (!all && options == single) continue;
        const std::uint64_t few = options.wishes.groups == 0 ? 10 : 1;
        const auto counters = expect_exactly_once(tree, Roots{}, 0, 2000 * few, options);
        EXPECT_EQ(counters.saved, counters.restored);
        EXPECT_EQ(counters.pushed, counters.popped);
        if (!all && options == tiny) continue;
        expect_exactly_once(WalkPlant{{{{}, 7}}}, Sprouts{}, 0, 100 * few, options);
        expect_exactly_once(WalkConifer{{{{}, 5}}}, Saplings{}, 0, 10 * few, options);
        if (!all) continue;
        expect_exactly_once(tree, SparseRoots{10}, 1, 1000 * few, options);
        expect_exactly_once(WalkChain{}, ChainStarts{50}, 0, 1000 * few, options);
        expect_exactly_once(WalkFireworks{{{{}, 3, 300}}}, Fuses{}, 0, 3 * few, options);
        expect_exactly_once(WalkFireworks{{{{}, 2, 0}}}, Rockets{20}, 0, 500 * few, options);
    }
    const EngineOptions often{.wishes = {}, .first_rounds = 1, .launch_time = 1ns};
    EXPECT_GT(expect_exactly_once(tree, Roots{}, 0, 2000, often).saved, 0u);
    expect_exactly_once(WalkPlant{{{{}, 7}}}, Sprouts{}, 0, 100, often);
}

TEST_P(EngineOnDevice, UnitsThatGatherInTheInboxArriveExactlyOnce) {
    if (device().info().technology == "opencl") GTEST_SKIP() << "kernels in OpenCL C have no inbox";
    const GatherTree tree{{{{{}, std::uint64_t{1} << 30}}}};
    for (const EngineOptions& options : {EngineOptions{}, tiny, single}) {
        const std::uint64_t few = options.wishes.groups == 0 ? 10 : 1;
        const auto counters = expect_exactly_once(tree, Roots{}, 0, 2000 * few, options);
        EXPECT_EQ(counters.saved, counters.restored);
        EXPECT_EQ(counters.pushed, counters.popped);
        expect_exactly_once(GatherChain{}, ChainStarts{50}, 0, 1000 * few, options);
        expect_exactly_once(GatherFireworks{{{{{}, 3, 300}}}}, Fuses{}, 0, 3 * few, options);
        expect_exactly_once(GatherFireworks{{{{{}, 2, 0}}}}, Rockets{20}, 0, 500 * few, options);
    }
    const EngineOptions often{.wishes = {}, .first_rounds = 1, .launch_time = 1ns};
    EXPECT_GT(expect_exactly_once(tree, Roots{}, 0, 2000, often).saved, 0u);
    expect_exactly_once(GatherChain{}, ChainStarts{50}, 0, 2000, often);
}

TEST_P(EngineOnDevice, GroupsThatPauseBetweenTwoUnitsGoOnWithTheirSeeds) {
    // Few rounds in each launch: where chains end, what is paused is nothing but claimed seeds.
    for (const std::uint32_t longest : {1, 50}) {
        const EngineOptions often{.wishes = {.groups = 2}, .first_rounds = longest, .launch_time = 1ns};
        const auto counters = expect_exactly_once(Chain{}, ChainStarts{longest}, 0, 2000, often);
        EXPECT_EQ(counters.saved, counters.restored);
    }
}

TEST_P(EngineOnDevice, GroupsRefillWhenTheyAreTold) {
    for (const std::uint32_t percent : {1u, 100u}) {
        const EngineOptions options{.wishes = {.refill_percent = percent}};
        expect_exactly_once(IrregularTree{{}, std::uint64_t{1} << 30}, Roots{}, 0, 5000, options);
        expect_exactly_once(Chain{}, ChainStarts{50}, 0, 5000, options);
    }
}

TEST_P(EngineOnDevice, ASingleGroupDrainsEverything) {
    expect_exactly_once(BinaryTree{{}, 1 << 12}, Roots{}, 0, 20, single);
    expect_exactly_once(Plant{{}, 7}, Sprouts{}, 0, 100, single);
    expect_exactly_once(Visit{}, Indices{}, 0, 10000, single);
}

TEST_P(EngineOnDevice, SeedsAreCountedIn64Bits) {
    const std::uint64_t begin = (std::uint64_t{1} << 33) - 5000;
    expect_exactly_once(BinaryTree{{}, 16}, Roots{}, begin, begin + 10000);
    expect_exactly_once(Visit{}, Indices{}, begin, begin + 10000);
}

TEST_P(EngineOnDevice, ARangeBeyond32BitsPausesAndCanBeLeft) {
    Engine engine(device(), *stream_, bind(Visit{}, Indices{}), {.wishes = {}, .first_rounds = 2});
    const std::uint64_t end = std::uint64_t{5} << 36;
    engine.start(3, end);
    ASSERT_EQ(engine.collect(), Engine::State::paused);
    engine.resume();
    ASSERT_EQ(engine.collect(), Engine::State::paused);
    EXPECT_EQ(engine.remaining() + arrived().total(), end - 3);
    EXPECT_GT(engine.remaining(), std::uint64_t{1} << 36);
    drain(engine, 0, 10);
    EXPECT_EQ(engine.remaining(), 0u);
}

TEST_P(EngineOnDevice, AThousandRunsInARowDoNotHang) {
    Engine engine(device(), *stream_, bind(BinaryTree{{}, 4}, Roots{}));
    std::uint64_t trees = 0;
    for (std::uint64_t run = 0; run < 1000; ++run) {
        drain(engine, 0, 1 + run % 100);
        trees += 1 + run % 100;
    }
    EXPECT_EQ(arrived().total(), 7 * trees);
}

TEST_P(EngineOnDevice, SpawningTooManyIsAnError) {
    Engine engine(device(), *stream_, bind(Liar{}, Roots{}));
    try {
        drain(engine, 0, 5000);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
    }
    drain(engine, 0, 900);
    EXPECT_EQ(engine.remaining(), 0u);
}

TEST_P(EngineOnDevice, AnotherKernelOfTheSameTypeCanBeBound) {
    Engine engine(device(), *stream_, bind(BinaryTree{{}, 4}, Roots{}));
    drain(engine, 0, 10);
    engine.rebind(bind(BinaryTree{{}, 8}, Roots{}));
    drain(engine, 0, 10);
    EXPECT_EQ(arrived().total(), 10u * 7 + 10 * 15);
}

TEST_P(EngineOnDevice, SumsThatAreKeptNearAreExact) {
    if (device().info().technology == "opencl") GTEST_SKIP() << "kernels in OpenCL C keep no sums near";
    const auto expect_sums = [&](auto kernel, const auto& seeds, std::uint64_t end,
                                 const EngineOptions& options) {
        forget();
        Engine engine(device(), *stream_, bind(kernel, seeds), options);
        drain(engine, 0, end);
        EXPECT_EQ(arrived(), expected_arrivals(serial(kernel), seeds, 0, end));
        // Nothing is left behind, or taken over.
        drain(engine, 0, 0);
        EXPECT_EQ(arrived(), expected_arrivals(serial(kernel), seeds, 0, end));
    };
    const EngineOptions often{.wishes = {}, .first_rounds = 3, .launch_time = 1ns};
    for (const std::uint32_t spread : {1, 64}) {
        expect_sums(Tally{{}, spread}, Indices{}, 300'000, {});
        expect_sums(Tally{{}, spread}, Indices{}, 20'000, often);
        expect_sums(TallyChain{{}, spread}, ChainStarts{300}, 3'000, {});
        expect_sums(TallyChain{{}, spread}, ChainStarts{300}, 300, often);
        expect_sums(TallyChain{{}, spread}, ChainStarts{200}, 100, tiny);
        const WalkTally walks{{{{}, spread}}};
        expect_sums(walks, ChainStarts{300}, 1'000, {});
        expect_sums(walks, ChainStarts{300}, 100, often);
        expect_sums(walks, ChainStarts{200}, 100, tiny);
        if (device().info().technology == "opencl") continue; // has no inbox
        const GatherTally gathered{{{{{}, spread}}}};
        expect_sums(gathered, ChainStarts{300}, 1'000, {});
        expect_sums(gathered, ChainStarts{300}, 100, often);
    }
}

TEST_P(EngineOnDevice, ARunningLaunchIsFedAndLosesNothing) {
    const auto expect_fed = [&](const auto& kernel, const auto& seeds, std::uint64_t end,
                                const EngineOptions& options) {
        forget();
        Engine engine(device(), *stream_, bind(kernel, seeds), options);
        if (!engine.fine_grained_host_coherence()) return false;
        engine.open();
        std::thread injector([&] {
            std::mt19937_64 random(end);
            for (std::uint64_t next = 0; next < end;) {
                const std::uint64_t begin = next;
                next = std::min(end, next + random() % (end / 100));
                // Every other pair of ranges is swapped, so that they do not adjoin.
                const std::uint64_t middle = begin + (next - begin) / 2;
                ASSERT_TRUE(eventually([&] { return engine.inject(middle, next); }));
                ASSERT_TRUE(eventually([&] { return engine.inject(begin, middle); }));
                const bool idles = random() % 20 == 0; // before it goes on
                ASSERT_TRUE(!idles || eventually([&] { return engine.completed() == next; }));
                if (random() % 50 == 0) engine.request_pause();
            }
            engine.close();
        });
        while (engine.collect() == Engine::State::paused) engine.resume();
        injector.join();
        EXPECT_EQ(arrived(), expected_arrivals(serial(kernel), seeds, 0, end));
        EXPECT_EQ(engine.completed(), end);
        return true;
    };
    const EngineOptions brief{.wishes = {}, .launch_time = 2ms};
    if (!expect_fed(Visit{}, Indices{}, 1'000'000, {}))
        GTEST_SKIP() << "the host cannot inject seeds into a kernel that runs on this device";
    expect_fed(IrregularTree{{}, std::uint64_t{1} << 30}, Roots{}, 100'000, {});
    expect_fed(IrregularTree{{}, std::uint64_t{1} << 30}, Roots{}, 20'000, tiny);
    expect_fed(Chain{}, ChainStarts{200}, 20'000, brief);
    expect_fed(Plant{{}, 8}, Sprouts{}, 5'000, brief);
    expect_fed(GroupVisit{}, Indices{}, 20'000, brief);
    expect_fed(GroupTree{{{}, std::uint64_t{1} << 30}}, Roots{}, 5'000, {});
    expect_fed(Fireworks{{}, 2, 100}, Fuses{}, 5'000, brief);
    expect_fed(Fireworks{{}, 2, 0}, Rockets{20}, 20'000, {});
    expect_fed(IrregularTree{{}, std::uint64_t{1} << 30}, SparseRoots{10}, 100'000, brief);
    expect_fed(IrregularTree{}, SparseRoots{~std::uint64_t{0}}, 100'000, {});
    expect_fed(WalkTree{{{{}, std::uint64_t{1} << 30}}}, Roots{}, 20'000, brief);
    expect_fed(WalkPlant{{{{}, 7}}}, Sprouts{}, 2'000, brief);
    if (device().info().technology != "opencl")
        expect_fed(GatherTree{{{{{}, std::uint64_t{1} << 30}}}}, Roots{}, 20'000, brief);
}

TEST_P(EngineOnDevice, ARunningLaunchTellsWhatIsCompleted) {
    Engine engine(device(), *stream_, bind(BinaryTree{{}, 8}, Roots{}), {.wishes = {}, .launch_time = 1h});
    if (!engine.fine_grained_host_coherence())
        GTEST_SKIP() << "the host cannot inject seeds into a kernel that runs on this device";
    engine.open();
    for (std::uint64_t injected = 0; injected < 1000;) {
        const std::uint64_t more = 1 + injected % 70;
        ASSERT_TRUE(engine.inject(injected, injected + more));
        injected += more;
        ASSERT_TRUE(eventually([&] { return engine.completed() == injected; }));
    }
    engine.close();
    EXPECT_EQ(engine.collect(), Engine::State::finished);
    EXPECT_EQ(engine.launches(), 1u);
    EXPECT_EQ(arrived().total(), 15 * engine.injected());
}

TEST_P(EngineOnDevice, LaunchTimesBeginWithTheLaunch) {
    Engine engine(device(), *stream_, bind(BinaryTree{{}, 8}, Roots{}));
    Promise gate;
    engine.start(0, 100, std::array{gate.event()});
    takes(50ms);
    const auto opened = std::chrono::steady_clock::now();
    gate.complete();
    while (engine.collect() == Engine::State::paused) engine.resume();
    // A busy machine compares clocks late.
    EXPECT_GT(engine.launch_times().front().begin, opened - 25ms);
}

TEST_P(EngineOnDevice, ABudgetKeepsLaunchesShort) {
    Engine engine(device(), *stream_, bind(BinaryTree{{}, 1 << 20}, Roots{}),
                  {.wishes = {}, .launch_time = std::chrono::milliseconds(2)});
    EXPECT_GT(drain(engine, 0, 16), 0u);
    EXPECT_EQ(arrived().total(), 16u * ((1 << 21) - 1));
    EXPECT_GT(engine.launches(), 1u);
}

TEST_P(EngineOnDevice, AShorterAimDoesNotCutTheFirstBudget) {
    Engine engine(device(), *stream_, bind(Visit{}, Indices{}), {.wishes = {}, .first_rounds = 10'000});
    engine.aim_at(1ns);
    EXPECT_EQ(drain(engine, 0, 5'000), 0u); // never pauses: fewer rounds than that, whoever has them
    EXPECT_EQ(arrived().total(), 5'000u);
    EXPECT_EQ(engine.launches(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, EngineOnDevice, every_device(), test_name);

TEST(Launchers, ATechnologyThatWasNotAskedForIsNull) {
    EXPECT_TRUE((launcher<technology::Cpu, CpuOnly, Indices>()));
    EXPECT_FALSE((launcher<technology::Cuda, CpuOnly, Indices>()));
    EXPECT_FALSE((launcher<technology::Hip, CpuOnly, Indices>()));
}

TEST(Launchers, AnEngineWithoutAKernelSaysSo) {
    auto device = std::move(select_devices("cpu").devices.at(0));
    auto stream = device->make_stream();
    try {
        Engine engine(*device, *stream, nullptr);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_EQ(error.device(), "cpu");
    }
}

} // namespace
} // namespace headrace::test
