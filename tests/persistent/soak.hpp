// tests/persistent/soak.hpp - rounds of random work for engines: two at a time on one device, set up so that
// they pause, grow and are resumed at random moments, or left with what they hold; no unit may be lost or
// doubled.
//
// HEADRACE_TEST_LAUNCHES=10000 asks for more than usual; HEADRACE_SEED=n HEADRACE_TEST_LAUNCHES=1 runs
// the round that a failure names.
#pragma once
#include "expected.hpp"
#include "walks.kernels.hpp"

#include "core/environment.hpp"
#include "core/seeds.hpp"
#include "core/watch.hpp"

#include <headrace/persistent/engine.hpp>
#include <headrace/persistent/local_sums.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>

namespace headrace::test {

/// What is drawn by lot in one round.
class Lots {
public:
    explicit Lots(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    bool one_in(std::uint64_t many) { return below(many) == 0; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[below(values.size())];
    }

private:
    std::mt19937_64 random_;
};

/// A kernel on its seeds, their types forgotten.
struct SoakWork {
    const char* name = "";
    std::uint64_t units_per_seed = 1; ///< roughly
    bool only_grows = true;           ///< its arrivals; the sums of others do not
    bool each_unit_arrives = true;    ///< once
    std::function<std::unique_ptr<BoundKernel>(const Memory& arrivals)> bind;
    std::function<ArrivalTable(std::uint64_t begin, std::uint64_t end)> expected;
};

/// `bind(kernel, seeds, arrivals)` may give null.
template <class Bind>
SoakWork draw_work(Lots& lots, const Bind& bind) {
    const auto work = [&](const char* name, std::uint64_t units_per_seed, auto kernel, auto seeds) {
        return SoakWork{.name = name,
                        .units_per_seed = units_per_seed,
                        .only_grows = !KeepsLocalSums<decltype(kernel)>,
                        .each_unit_arrives = !KeepsLocalSums<decltype(kernel)>,
                        .bind = [=](const Memory& arrivals) { return bind(kernel, seeds, arrivals); },
                        .expected =
                            [=](std::uint64_t begin, std::uint64_t end) {
                                return expected_arrivals(serial(kernel), seeds, begin, end);
                            }};
    };
    const auto levels = static_cast<std::uint32_t>(lots.below(10));
    const std::uint32_t links = lots.one_of({1u, 20u, 150u});
    const IrregularTree irregular{{}, std::uint64_t{1} << lots.one_of({6, 30})};
    const std::uint32_t spread = lots.one_of({1u, 64u});
    const Fireworks fireworks{{}, lots.one_of({1u, 2u, 4u}), lots.one_of({0u, 1u, 17u, 1000u})};
    const auto units_per_fuse = 1 + (fireworks.width << fireworks.depth);
    switch (lots.below(28)) {
    case 0:
        return work("BinaryTree", std::uint64_t{2} << levels, BinaryTree{{}, std::uint64_t{1} << levels},
                    Roots{});
    case 1:
        return work("IrregularTree", 20, irregular, Roots{});
    case 2:
        return work("Chain", links, Chain{}, ChainStarts{links});
    case 3:
        return work("Plant", std::uint64_t{4} << levels, Plant{{}, levels}, Sprouts{});
    case 4:
        return work("Visit", 1, Visit{}, Indices{});
    case 5:
        return work("Tally", 1, Tally{{}, spread}, Indices{});
    case 6:
        return work("TallyChain", links, TallyChain{{}, spread}, ChainStarts{links});
    case 7:
        return work("GroupTree", 20, GroupTree{irregular}, Roots{});
    case 8:
        return work("GroupPlant", std::uint64_t{3} << levels / 2, GroupPlant{{}, levels}, Sprouts{});
    case 9:
        return work("GroupVisit", 1, GroupVisit{}, Indices{});
    case 10: {
        const std::uint64_t length = lots.one_of({1, 1000});
        SoakWork shared = work("GroupShare", length, GroupShare{}, Stretches{length});
        shared.each_unit_arrives = false; // but each number, however they are shared
        return shared;
    }
    case 11:
        return work("Fireworks", units_per_fuse, fireworks, Fuses{});
    case 12:
        return work("GroupFireworks", units_per_fuse, GroupFireworks{fireworks}, Fuses{});
    case 13:
        return work("Fireworks of Rockets", 50, Fireworks{{}, 2, 0}, Rockets{30});
    case 14:
        return work("Conifer", std::uint64_t{30} << levels / 2, Conifer{{}, levels}, Saplings{});
    case 15:
        return work("IrregularTree of SparseRoots", 2, irregular, SparseRoots{10});
    case 16: // one long range, which all have to share
        return work("long Fireworks", 50'000, Fireworks{{}, 1, 50'000}, Fuses{});
    case 17:
        return work("WalkTree", 20, WalkTree{{irregular}}, Roots{});
    case 18:
        return work("WalkChain", links, WalkChain{}, ChainStarts{links});
    case 19:
        return work("WalkPlant", std::uint64_t{4} << levels, WalkPlant{{{{}, levels}}}, Sprouts{});
    case 20:
        return work("WalkFireworks", units_per_fuse, WalkFireworks{{fireworks}}, Fuses{});
    case 21:
        return work("WalkConifer", std::uint64_t{30} << levels / 2, WalkConifer{{{{}, levels}}}, Saplings{});
    case 22:
        return work("WalkTally", links, WalkTally{{{{}, spread}}}, ChainStarts{links});
    case 23:
        return work("GatherTree", 20, GatherTree{{{irregular}}}, Roots{});
    case 24:
        return work("GatherChain", links, GatherChain{}, ChainStarts{links});
    case 25:
        return work("GatherFireworks", units_per_fuse, GatherFireworks{{{fireworks}}}, Fuses{});
    case 26:
        return work("GatherTally", links, GatherTally{{{{{}, spread}}}}, ChainStarts{links});
    default: // one deep tree, which all have to share
        return work("deep BinaryTree", 1 << 15, BinaryTree{{}, 1 << 14}, Roots{});
    }
}

/// Ways to set up an engine, most of them so narrow that every way out is taken.
inline EngineOptions draw_options(Lots& lots) {
    return {.wishes = {.groups = lots.one_of({0u, 1u, 2u, 5u, 64u}),
                       .liq_units = lots.one_of({0u, 1u, 4u, 64u}),
                       .refill_percent = lots.one_of({0u, 1u, 100u})},
            .bundles = lots.one_of({0u, 1u, 2u, 7u}),
            .first_rounds = lots.one_of({1u, 2u, 5u, 30u}),
            .launch_time = std::chrono::nanoseconds(lots.one_of({1, 50'000, 2'000'000}))};
}

/// How often something happened, over all rounds.
struct SoakMetrics {
    std::uint64_t launches = 0, resumed = 0, grown = 0, finished = 0;
    std::uint64_t left_paused = 0, left_running = 0;
};

/// A stream with one engine after another, and memory in which arrivals are counted.
template <class Bind>
class SoakPlace {
public:
    SoakPlace(Device& device, const Bind& bind, Lots& lots, SoakMetrics& metrics)
        : device_(device),
          bind_(bind),
          lots_(lots),
          metrics_(metrics),
          stream_(device.make_stream(Timing::all)),
          words_(device.allocate(sizeof(std::uint64_t) * 2 * Arrivals::cells)) {}

    [[nodiscard]] bool is_running() const noexcept { return running_; }

    /// A launch is begun, or awaited and what follows from how it ended.
    void step() {
        if (!running_) return begin();
        if (lots_.one_in(200)) {
            engine_.reset(); // waits for the launch
            ++metrics_.left_running;
            return leave();
        }
        if (engine_->collect() == Engine::State::finished) return finish();
        if (lots_.one_in(200)) {
            expect_balance();
            ++metrics_.left_paused;
            return leave();
        }
        const std::uint32_t bundles = engine_->bundles();
        engine_->resume();
        ++metrics_.launches;
        ++metrics_.resumed;
        metrics_.grown += engine_->bundles() > bundles ? 1 : 0;
    }

private:
    void begin() {
        if (!engine_ || lots_.one_in(3)) {
            engine_.reset();
            const EngineOptions options = draw_options(lots_);
            engine_ = std::make_unique<Engine>(device_, *stream_, draw_kernel(), options);
        } else if (lots_.one_in(2)) {
            engine_->rebind(draw_kernel());
        }
        stream_->fill_zero(*words_, 0, words_->size()).wait();
        before_ = engine_->counters();
        // Enough for some launches of some rounds.
        const std::uint64_t units_per_round = std::uint64_t{engine_->shape().lanes} * engine_->shape().groups;
        const std::uint64_t units = std::min<std::uint64_t>(units_per_round * lots_.below(40), most_units);
        const std::uint64_t seeds = lots_.one_in(20) ? 0 : 1 + units / work_.units_per_seed;
        begin_ = lots_.one_in(4) ? (std::uint64_t{1} << 32) - lots_.below(1 + seeds) : lots_.below(1000);
        end_ = begin_ + seeds;
        engine_->start(begin_, end_);
        ++metrics_.launches;
        running_ = true;
    }

    std::unique_ptr<BoundKernel> draw_kernel() {
        for (;;) {
            work_ = draw_work(lots_, bind_);
            if (auto kernel = work_.bind(*words_)) return kernel;
        }
    }

    void finish() {
        SCOPED_TRACE(work_.name);
        const ArrivalTable expected = work_.expected(begin_, end_);
        EXPECT_EQ(arrived().total(), expected.total());
        EXPECT_EQ(arrived(), expected);
        EXPECT_EQ(engine_->remaining(), 0u);
        const EngineCounters counters = expect_balance();
        EXPECT_EQ(counters.pushed - before_.pushed, counters.popped - before_.popped);
        EXPECT_EQ(counters.saved - before_.saved, counters.restored - before_.restored);
        ++metrics_.finished;
        running_ = false;
    }

    /// What is completed and what remains is what there was and what was spawned.
    EngineCounters expect_balance() {
        const EngineCounters counters = engine_->counters();
        EXPECT_EQ(counters.units - before_.units + counters.empty - before_.empty + engine_->remaining(),
                  counters.spawned - before_.spawned + (end_ - begin_));
        if (work_.each_unit_arrives) {
            EXPECT_EQ(arrived().total(), counters.units - before_.units);
        }
        return counters;
    }

    /// With a part of the work done, nothing of it twice.
    void leave() {
        SCOPED_TRACE(work_.name);
        running_ = false;
        if (!work_.only_grows) return;
        ArrivalTable expected = work_.expected(begin_, end_), some = arrived();
        for (std::uint32_t cell = 0; cell < Arrivals::cells; ++cell)
            EXPECT_LE(some.words()[cell], expected.words()[cell]);
    }

    ArrivalTable arrived() {
        ArrivalTable table;
        stream_->copy_out(table.words().data(), *words_, 0, words_->size()).wait();
        return table;
    }

    static constexpr std::uint64_t most_units = 100'000; ///< keeps the serial reference quick

    Device& device_;
    const Bind& bind_;
    Lots& lots_;
    SoakMetrics& metrics_;
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Memory> words_;
    SoakWork work_;
    std::unique_ptr<Engine> engine_; // after what it uses
    std::uint64_t begin_ = 0, end_ = 0;
    EngineCounters before_{}; ///< an engine counts over all that it ran
    bool running_ = false;
};

/// Rounds until there were as many launches as the environment asks for.
template <class Bind>
void soak(Device& device, const Bind& bind, std::uint64_t usual_launches) {
    const std::uint64_t first = test::first_seed();
    const std::uint64_t launches = test::from_environment("HEADRACE_TEST_LAUNCHES", usual_launches);
    test::Watch watch("HEADRACE_TEST_LAUNCHES=1", std::chrono::minutes(2));
    SoakMetrics metrics;
    for (std::uint64_t seed = first; metrics.launches < launches && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("HEADRACE_SEED=" + std::to_string(seed) + " HEADRACE_TEST_LAUNCHES=1");
        watch.now_at(seed);
        Lots lots(seed);
        std::array places{SoakPlace(device, bind, lots, metrics), SoakPlace(device, bind, lots, metrics)};
        for (std::uint64_t steps = 50 + lots.below(50); steps > 0; --steps) places[lots.below(2)].step();
        for (SoakPlace<Bind>& place : places)
            while (place.is_running()) place.step();
    }
    std::cout << metrics.launches << " launches, " << metrics.resumed << " of them resumed, " << metrics.grown
              << " with a larger pool; " << metrics.finished << " ranges finished, " << metrics.left_paused
              << " left while paused, " << metrics.left_running << " while running" << std::endl;
    if (launches < 3000) return; // too few for everything to have happened
    EXPECT_GT(metrics.resumed, 0u);
    EXPECT_GT(metrics.grown, 0u);
    EXPECT_GT(metrics.finished, 0u);
    EXPECT_GT(metrics.left_paused, 0u);
    EXPECT_GT(metrics.left_running, 0u);
}

} // namespace headrace::test
