// tests/persistent/exchange.hpp - rounds of random work for two engines that run the same kernel on whatever
// devices: whenever one is paused it may give some of its units and seeds away, and whoever has nothing takes
// them, or gives them on. No unit may be lost or doubled.
//
// Environment as for soak.hpp.
#pragma once
#include "soak.hpp"

#include <optional>
#include <vector>

namespace headrace::test {

/// How often something happened, over all rounds.
struct ExchangeMetrics {
    std::uint64_t launches = 0, batches = 0, units = 0, ranges = 0, given_on = 0;
};

/// What engines have given and none has taken.
struct ExchangeTable {
    std::vector<UnitBatch> batches;
    std::vector<SeedRange> ranges;
    [[nodiscard]] bool empty() const { return batches.empty() && ranges.empty(); }
};

/// One engine, with memory in which arrivals are counted.
class ExchangeSide {
public:
    ExchangeSide(Device& device, Lots& lots, ExchangeTable& table, ExchangeMetrics& metrics)
        : device_(device),
          lots_(lots),
          table_(table),
          metrics_(metrics),
          stream_(device.make_stream(Timing::all)),
          words_(device.allocate(sizeof(std::uint64_t) * 2 * Arrivals::cells)) {
        stream_->fill_zero(*words_, 0, words_->size()).wait();
    }

    /// False: there is no such kernel for this device.
    bool make_engine(const SoakWork& work, const EngineOptions& options) {
        auto kernel = work.bind(*words_);
        if (kernel) engine_ = std::make_unique<Engine>(device_, *stream_, std::move(kernel), options);
        return engine_ != nullptr;
    }
    [[nodiscard]] const Engine& engine() const { return *engine_; }
    [[nodiscard]] bool is_paused() const { return paused_; }

    /// Takes something, if it has nothing; else gives something, perhaps, and goes on.
    void step() {
        if (paused_) {
            give();
            if (engine_->remaining() == 0) {
                paused_ = false;
                return;
            }
            engine_->resume();
        } else if (!take()) {
            return;
        }
        ++metrics_.launches;
        paused_ = engine_->collect() == Engine::State::paused;
    }

    void add_arrived(ArrivalTable& sum) const {
        ArrivalTable table;
        stream_->copy_out(table.words().data(), *words_, 0, words_->size()).wait();
        for (std::size_t word = 0; word < table.words().size(); ++word)
            sum.words()[word] += table.words()[word];
    }

private:
    void give() {
        const std::uint64_t before = engine_->remaining();
        std::uint64_t given = 0;
        if (const SeedRange seeds = engine_->unclaimed(); !seeds.empty() && lots_.one_in(3)) {
            const std::uint64_t from =
                lots_.one_in(4) ? seeds.next : seeds.next + lots_.below(seeds.end - seeds.next);
            engine_->give_back(from);
            table_.ranges.push_back({from, seeds.end});
            given += seeds.end - from;
            ++metrics_.ranges;
        }
        if (lots_.one_in(2)) {
            const double share = lots_.one_of({0.0, 0.1, 0.5, 0.9, 1.0});
            UnitBatch units = engine_->transfer(share, lots_.one_of({0u, 1u, 20u}));
            given += units.size();
            EXPECT_LE(static_cast<double>(units.size()), share * static_cast<double>(before));
            metrics_.units += units.size();
            metrics_.given_on += units.size() > 0 && took_units_ ? 1 : 0;
            if (units.size() > 0) table_.batches.push_back(std::move(units));
        }
        EXPECT_EQ(engine_->remaining(), before - given);
    }

    bool take() {
        if (!table_.ranges.empty() && (table_.batches.empty() || lots_.one_in(2))) {
            const SeedRange range = take_one(table_.ranges);
            took_units_ = false;
            engine_->start(range.next, range.end);
            return true;
        }
        if (table_.batches.empty()) return false;
        UnitBatch units = take_one(table_.batches);
        std::uint64_t taken = engine_->room(units);
        if (lots_.one_in(2)) taken = std::min(taken, 1 + lots_.below(100));
        UnitBatch mine = units.split(taken);
        EXPECT_EQ(mine.size(), taken);
        if (units.size() > 0) table_.batches.push_back(std::move(units));
        took_units_ = true;
        ++metrics_.batches;
        engine_->start(mine);
        return true;
    }

    template <class T>
    T take_one(std::vector<T>& of) {
        std::swap(of[lots_.below(of.size())], of.back());
        T one = std::move(of.back());
        of.pop_back();
        return one;
    }

    Device& device_;
    Lots& lots_;
    ExchangeTable& table_;
    ExchangeMetrics& metrics_;
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Memory> words_;
    std::unique_ptr<Engine> engine_; // after what it uses
    bool paused_ = false;
    bool took_units_ = false; ///< what it began with last
};

/// One job for both engines. False if one of them has no such kernel.
template <class BindOne, class BindOther>
bool exchange_round(Device& one, const BindOne& bind_one, Device& other, const BindOther& bind_other,
                    std::uint64_t seed, ExchangeMetrics& metrics) {
    Lots lots(seed), same_lots(seed);
    const SoakWork work = draw_work(lots, bind_one), twin = draw_work(same_lots, bind_other);
    SCOPED_TRACE(work.name);
    ExchangeTable table;
    std::array sides{ExchangeSide(one, lots, table, metrics), ExchangeSide(other, lots, table, metrics)};
    const auto options = [&] {
        EngineOptions drawn = draw_options(lots);
        // What a single seed makes much of pauses seldom: it would take ten thousand launches of a round
        // each.
        if (work.units_per_seed > 1000) drawn.launch_time = std::chrono::milliseconds(100);
        return drawn;
    };
    if (!sides[0].make_engine(work, options()) || !sides[1].make_engine(twin, options())) return false;
    // Enough for some launches of some rounds.
    const EngineShape& shape = sides[0].engine().shape();
    const std::uint64_t units_per_round = std::uint64_t{shape.lanes} * shape.groups;
    const std::uint64_t most = std::min<std::uint64_t>(units_per_round * lots.below(40), 50'000);
    const std::uint64_t begin = lots.below(1000), end = begin + 1 + most / work.units_per_seed;
    table.ranges.push_back({begin, end});
    while (!table.empty() || sides[0].is_paused() || sides[1].is_paused()) sides[lots.below(2)].step();

    ArrivalTable arrived;
    std::uint64_t units = 0, empty = 0, spawned = 0;
    for (const ExchangeSide& side : sides) {
        side.add_arrived(arrived);
        units += side.engine().counters().units;
        empty += side.engine().counters().empty;
        spawned += side.engine().counters().spawned;
        EXPECT_EQ(side.engine().remaining(), 0u);
    }
    const ArrivalTable expected = work.expected(begin, end);
    EXPECT_EQ(arrived, expected);
    EXPECT_EQ(units + empty, spawned + (end - begin));
    if (work.each_unit_arrives) {
        EXPECT_EQ(units, expected.total());
    }
    return true;
}

/// Rounds until there were as many launches as the environment asks for.
template <class BindOne, class BindOther>
void exchange(Device& one, const BindOne& bind_one, Device& other, const BindOther& bind_other,
              std::uint64_t usual_launches) {
    const std::uint64_t first = test::first_seed();
    const std::uint64_t launches = test::from_environment("HEADRACE_TEST_LAUNCHES", usual_launches);
    test::Watch watch("HEADRACE_TEST_LAUNCHES=1", std::chrono::minutes(2));
    ExchangeMetrics metrics;
    // A round may take many launches: enough rounds as well.
    const auto is_enough = [&](std::uint64_t rounds) {
        return metrics.launches >= launches && rounds >= launches / 100;
    };
    for (std::uint64_t seed = first; !is_enough(seed - first) && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("HEADRACE_SEED=" + std::to_string(seed) + " HEADRACE_TEST_LAUNCHES=1");
        watch.now_at(seed);
        exchange_round(one, bind_one, other, bind_other, seed, metrics);
    }
    std::cout << metrics.launches << " launches; " << metrics.units << " units given, taken in "
              << metrics.batches << " batches, " << metrics.given_on
              << " times by one who had been given its own; " << metrics.ranges << " ranges of seeds"
              << std::endl;
    if (launches < 3000) return; // too few for everything to have happened
    EXPECT_GT(metrics.units, 0u);
    EXPECT_GT(metrics.batches, 0u);
    EXPECT_GT(metrics.given_on, 0u);
    EXPECT_GT(metrics.ranges, 0u);
}

} // namespace headrace::test
