// tests/core/stage_mapping_test.cpp - streams divided between devices, beside every other way to do it.
#include <core/seeds.hpp>
#include <headrace/core/error.hpp>
#include <headrace/core/stage_mapping.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace headrace {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

struct Best {
    double period = endless, latency = endless;
    std::size_t parts = 0;
    void take(const Best& other) {
        // To rounding, as the search has it.
        const auto compare = [](double one, double two) {
            return one < two * (1 - 1e-9) ? -1 : one > two * (1 + 1e-9) ? 1 : 0;
        };
        const int by_period = compare(other.period, period), by_latency = compare(other.latency, latency);
        if (by_period < 0 || (by_period == 0 && by_latency < 0) ||
            (by_period == 0 && by_latency == 0 && other.parts < parts))
            *this = other;
    }
};

/// Every order of every set of devices, every way to cut.
class EveryWay {
public:
    explicit EveryWay(const StreamCosts& costs, double items = 1)
        : costs_(costs), items_(items), is_used_(costs.seconds.size()) {
        from(0, {0, 0, 0}, costs.seconds.size());
    }
    Best best;
    double seconds = endless; ///< of so many items, the least

private:
    void from(std::size_t piece, const Best& way, std::size_t before) {
        const std::size_t pieces = costs_.seconds.front().size();
        if (piece == pieces) {
            if (std::isfinite(way.period)) best.take(way);
            seconds = std::min(seconds, way.latency + (items_ - 1) * way.period);
            return;
        }
        for (std::size_t device = 0; device < is_used_.size(); ++device) {
            if (is_used_[device]) continue;
            is_used_[device] = true;
            const bool is_first = before == is_used_.size();
            const double moved = !is_first && costs_.transfer ? costs_.transfer(before, device, piece) : 0;
            double part = 0;
            for (std::size_t end = piece; end < pieces;) {
                part += costs_.seconds[device][end++];
                from(end, {std::max({way.period, part, moved}), way.latency + part + moved, way.parts + 1},
                     device);
            }
            is_used_[device] = false;
        }
    }

    const StreamCosts& costs_;
    const double items_;
    std::vector<bool> is_used_;
};

/// Of a few pieces on a few devices. `are_whole`: with many ties.
StreamCosts random_costs(std::mt19937_64& random, bool are_whole) {
    std::uniform_real_distribution<double> seconds(0, 1);
    const std::size_t devices = 1 + random() % 4, pieces = 1 + random() % 6;
    StreamCosts costs;
    costs.seconds.assign(devices, std::vector<double>(pieces));
    for (auto& device : costs.seconds) {
        const double slower = random() % 4 == 0 ? 100 : 1;
        for (double& one : device) {
            one = slower * (are_whole ? static_cast<double>(1 + random() % 4) : seconds(random));
            if (random() % 16 == 0) one = endless;
        }
    }
    std::vector<double> moved(devices * devices * pieces);
    for (double& one : moved) one = random() % 8 == 0 ? 3 * seconds(random) : 0.2 * seconds(random);
    if (random() % 2 == 0)
        costs.transfer = [=](std::size_t from, std::size_t to, std::size_t piece) {
            return moved[(from * devices + to) * pieces + piece];
        };
    return costs;
}

void expect_whole(const StageMapping& mapping, const StreamCosts& costs) {
    std::size_t piece = 0;
    double period = 0, latency = 0;
    std::vector<bool> is_used(costs.seconds.size());
    for (std::size_t i = 0; i < mapping.parts.size(); ++i) {
        const StagePart& part = mapping.parts[i];
        ASSERT_EQ(part.begin, piece);
        ASSERT_LT(part.begin, part.end);
        ASSERT_FALSE(is_used[part.device]) << "a device has one part";
        is_used[part.device] = true;
        double seconds = 0;
        for (; piece < part.end; ++piece) seconds += costs.seconds[part.device][piece];
        ASSERT_DOUBLE_EQ(part.seconds, seconds);
        const double moved = i > 0 && costs.transfer
                                 ? costs.transfer(mapping.parts[i - 1].device, part.device, part.begin)
                                 : 0;
        ASSERT_EQ(part.transfer_in, moved);
        period = std::max({period, seconds, moved});
        latency += seconds + moved;
    }
    ASSERT_EQ(piece, costs.seconds.front().size());
    ASSERT_DOUBLE_EQ(mapping.period, period);
    ASSERT_NEAR(mapping.latency, latency, 1e-12 * latency);
}

TEST(StageMapping, IsTheBestOfAll) {
    std::mt19937_64 random(test::fresh_seed());
    for (int round = 0; round < 10'000; ++round) {
        const bool are_whole = random() % 2 == 0;
        const StreamCosts costs = random_costs(random, are_whole);
        const Best best = EveryWay(costs).best;
        if (!std::isfinite(best.period)) {
            ASSERT_THROW(static_cast<void>(map_stages(costs)), Error);
            continue;
        }
        const StageMapping mapping = map_stages(costs);
        expect_whole(mapping, costs);
        ASSERT_NEAR(mapping.period, best.period, 1e-9 * best.period) << round;
        ASSERT_NEAR(mapping.latency, best.latency, 1e-9 * best.latency) << round;
        if (are_whole && !costs.transfer) { // no rounding makes them differ
            ASSERT_EQ(mapping.parts.size(), best.parts) << round;
        }
    }
}

TEST(StageMapping, OfSoManyItemsIsTheOneThatEndsFirst) {
    std::mt19937_64 random(test::fresh_seed());
    for (int round = 0; round < 10'000; ++round) {
        const StreamCosts costs = random_costs(random, random() % 2 == 0);
        const std::size_t items = random() % 4 == 0 ? 1 + random() % 1000 : 1 + random() % 8;
        const double seconds = EveryWay(costs, static_cast<double>(items)).seconds;
        if (!std::isfinite(seconds)) {
            ASSERT_THROW(static_cast<void>(map_stages(costs, items)), Error);
            continue;
        }
        const StageMapping mapping = map_stages(costs, items);
        expect_whole(mapping, costs);
        ASSERT_NEAR(mapping.seconds(items), seconds, 1e-9 * seconds) << round << ", " << items << " items";
    }
}

/// Five levels, each four times as large as the one before, of three warp iterations.
std::vector<double> optical_flow(double whole) {
    std::vector<double> seconds;
    for (int level = 0; level < 5; ++level)
        for (int warp = 0; warp < 3; ++warp) seconds.push_back(std::pow(4.0, level));
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    for (double& one : seconds) one *= whole / sum;
    return seconds;
}

TEST(StageMapping, OfOpticalFlowIsWhatThePaperFound) {
    // Two equal devices: all but the last two warps of the finest level, and these (its table II: 4,0 and
    // 4,2).
    const StageMapping two = map_stages({{optical_flow(1), optical_flow(1)}});
    ASSERT_EQ(two.parts.size(), 2U);
    EXPECT_EQ(two.parts[0].end, 13U);
    // One 3 times slower: levels up to 3 and these to the slow one (3,2).
    const StageMapping unequal = map_stages({{optical_flow(3), optical_flow(1)}});
    ASSERT_EQ(unequal.parts.size(), 2U);
    EXPECT_EQ(unequal.parts[0], (StagePart{0, 0, 12, unequal.parts[0].seconds, 0}));
    // Four: 3,2; 4,0; 4,1; 4,2.
    const StageMapping four = map_stages({std::vector(4, optical_flow(1))});
    ASSERT_EQ(four.parts.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(four.parts[i].end, 12 + i);
}

TEST(StageMapping, LeavesOutWhoDoesNotHelp) {
    const StageMapping mapping = map_stages({{std::vector(12, 1.0), std::vector(12, 100.0)}});
    ASSERT_EQ(mapping.parts.size(), 1U);
    EXPECT_EQ(mapping.parts[0], (StagePart{0, 0, 12, 12, 0}));
    // Whoever could help is left out if it takes too long to get there.
    const StageMapping far =
        map_stages({{{1, 1}, {1, 1}}, [](std::size_t, std::size_t, std::size_t) { return 2.5; }});
    EXPECT_EQ(far.parts.size(), 1U);
}

TEST(StageMapping, OfAFewItemsDoesNotWaitForPartsToFill) {
    const StreamCosts costs{{std::vector(12, 1.0), std::vector(12, 3.0)}};
    EXPECT_EQ(map_stages(costs).seconds(2), 27);
    const StageMapping two = map_stages(costs, 2);
    ASSERT_EQ(two.parts.size(), 1U);
    EXPECT_EQ(two.parts[0], (StagePart{0, 0, 12, 12, 0}));
    EXPECT_EQ(map_stages(costs, 1).parts, two.parts);
    EXPECT_EQ(map_stages(costs, 40).parts, map_stages(costs).parts);
    // One item takes equal devices as long as one of them.
    EXPECT_EQ(map_stages({std::vector(3, std::vector(6, 1.0))}, 1).parts.size(), 1U);
    EXPECT_THROW(static_cast<void>(map_stages(costs, 0)), Error);
}

TEST(StageMapping, OneMoreDeviceNeverMakesAStreamSlower) {
    std::mt19937_64 random(test::fresh_seed());
    std::uniform_real_distribution<double> seconds(0.01, 1);
    for (int round = 0; round < 200; ++round) {
        StreamCosts costs;
        double period = endless;
        std::map<std::size_t, double> of_items{{1, endless}, {2, endless}, {5, endless}, {40, endless}};
        if (round % 2 == 0)
            costs.transfer = [](std::size_t from, std::size_t to, std::size_t piece) {
                return 1e-3 * static_cast<double>((3 * from + to + piece) % 7);
            };
        for (std::size_t devices = 0; devices < 6; ++devices) {
            auto& one = costs.seconds.emplace_back(optical_flow(1));
            const double slower = std::pow(100, seconds(random));
            for (double& piece : one) piece *= slower * seconds(random);
            const double now = map_stages(costs).period;
            ASSERT_LE(now, period * (1 + 1e-12));
            period = now;
            for (auto& [items, before] : of_items) {
                const double now_of_items = map_stages(costs, items).seconds(items);
                ASSERT_LE(now_of_items, before * (1 + 1e-12)) << items << " items";
                before = now_of_items;
            }
        }
    }
}

TEST(StageMapping, IsQuickForManyPiecesAndDevices) {
    // Blocks of 50 iterations of each warp, on eight equal devices and on more than are looked at.
    for (const std::size_t devices : {8U, 12U}) {
        const StreamCosts costs{std::vector(devices, std::vector(150, 1.0))};
        const StageMapping mapping = map_stages(costs);
        expect_whole(mapping, costs);
        EXPECT_EQ(mapping.period, std::ceil(150.0 / static_cast<double>(std::min<std::size_t>(devices, 10))));
        expect_whole(map_stages(costs, 3), costs);
    }
}

TEST(StageMapping, TellsWhatAStreamTakes) {
    const StageMapping mapping = map_stages({{std::vector(4, 1.0), std::vector(4, 1.0)},
                                             [](std::size_t, std::size_t, std::size_t) { return 0.5; }});
    EXPECT_EQ(mapping.period, 2);
    EXPECT_EQ(mapping.latency, 4.5);
    EXPECT_EQ(mapping.seconds(0), 0);
    EXPECT_EQ(mapping.seconds(1), 4.5);
    EXPECT_EQ(mapping.seconds(40), 4.5 + 39 * 2);
    const StreamCosts mixed{{{1, 1}, {3, 3}}};
    EXPECT_EQ(on_one_device(mixed, 1).seconds(2), 12);
}

TEST(StageMapping, TellsWhatWholeItemsTake) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 1000; ++round) {
        const StreamCosts costs = random_costs(random, random() % 2 == 0);
        std::vector<double> each;
        for (const auto& device : costs.seconds)
            each.push_back(std::accumulate(device.begin(), device.end(), 0.0));
        std::vector<double> ends(each.size());
        double seconds = 0;
        for (std::size_t items = 0; items < 30; ++items) {
            const double told = seconds_of_whole_items(costs, items);
            ASSERT_TRUE(told == seconds || std::abs(told - seconds) < 1e-9 * seconds) << told << " " << items;
            std::size_t first = 0;
            for (std::size_t device = 0; device < each.size(); ++device)
                if (ends[device] + each[device] < ends[first] + each[first]) first = device;
            seconds = std::max(seconds, ends[first] += each[first]);
        }
    }
}

TEST(StageMapping, CostsThatAreNoneAreRefused) {
    for (const StreamCosts& costs :
         {StreamCosts{}, StreamCosts{{{}}}, StreamCosts{{{1, 2}, {1}}}, StreamCosts{{{-1}}},
          StreamCosts{{{std::nan("")}}}, StreamCosts{{{endless, 1}}}})
        EXPECT_THROW(static_cast<void>(map_stages(costs)), Error);
    const StageMapping mapping = map_stages({{{endless, 1}, {1, endless}}});
    ASSERT_EQ(mapping.parts.size(), 2U);
    EXPECT_EQ(mapping.parts[0].device, 1U);
}

} // namespace
} // namespace headrace
