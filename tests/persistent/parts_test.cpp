// Kernels in two parts under host threads: whichever part begins first, and if one ends before the other
// begins.
#include "exactly_once.hpp"

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

template <class Config>
class Parts : public testing::Test {};
using Configs =
    testing::Types<Config<16, PartsRunner<6>>, Config<3, PartsRunner<16>>, // this has several rings
                   Config<64, PartsRunner<2>>, Config<16, SerialPartsRunner<5, false>>,
                   Config<16, SerialPartsRunner<5, true>>,
                   Config<16, ThreadRunner<4>>>; // and whoever runs all kinds together
TYPED_TEST_SUITE(Parts, Configs);

TYPED_TEST(Parts, KindsApartArriveExactlyOnce) {
    const auto expect = [](const auto& plant) {
        expect_exactly_once<TypeParam>(plant, Sprouts{}, 500, roomy);
        const auto counters = expect_exactly_once<TypeParam>(plant, Sprouts{}, 100 / slower, tiny);
        EXPECT_GT(counters.saved, 0u);
        EXPECT_EQ(counters.saved, counters.restored);
        EXPECT_EQ(counters.pushed, counters.popped);
    };
    expect(PlantBudsApart{{{}, 9}});
    expect(PlantSeedsApart{{{}, 9}});
    expect(PlantLeavesApart{{{}, 9}});
}

TYPED_TEST(Parts, ADeepPlantFromOneSeedArrivesExactlyOnce) {
    expect_exactly_once<TypeParam>(PlantBudsApart{{{}, 25}}, Sprouts{}, 1, roomy);
    expect_exactly_once<TypeParam>(PlantSeedsApart{{{}, 25}}, Sprouts{}, 1, roomy);
}

TYPED_TEST(Parts, ChainsThatCrossWithEachStepArriveExactlyOnce) {
    expect_exactly_once<TypeParam>(Ferry{}, Quays{60}, 3000, roomy);
    expect_exactly_once<TypeParam>(Ferry{}, Quays{60}, 3, roomy);
    expect_exactly_once<TypeParam>(Ferry{}, Quays{60}, 300 / slower, tiny);
}

TYPED_TEST(Parts, GroupKernelsMayHaveThem) {
    expect_exactly_once<TypeParam>(GroupPlantApart{{{}, 7}}, Sprouts{}, 200, roomy);
    expect_exactly_once<TypeParam>(GroupPlantApart{{{}, 7}}, Sprouts{}, 50, tiny);
}

TYPED_TEST(Parts, ParkAtAnyTimeAndGoOn) {
    for (const std::uint32_t rounds : {1u, 2u, 7u}) {
        const EngineOptions often{.wishes = {}, .first_rounds = rounds, .launch_time = 1ns};
        expect_exactly_once<TypeParam>(PlantBudsApart{{{}, 7}}, Sprouts{}, 20 / slower, often);
        expect_exactly_once<TypeParam>(Ferry{}, Quays{20}, 50 / slower, often);
    }
}

TYPED_TEST(Parts, WhoeverIsAheadWaitsForTheOtherPartAndNotForALargerPool) {
    const TestDeadline deadline("the engine");
    // Leaves fill 64 bundles many times over.
    Bench<TypeParam, PlantLeavesApart, Sprouts> bench(PlantLeavesApart{{{}, 3}}, Sprouts{},
                                                      {.wishes = {}, .bundles = 64});
    constexpr std::uint64_t seeds = 20'000;
    drain(bench.engine, 0, seeds);
    EXPECT_EQ(bench.arrived, expected_arrivals(Plant{{}, 3}, Sprouts{}, 0, seeds));
    EXPECT_LE(bench.engine.bundles(), 128u);
}

TYPED_TEST(Parts, NothingToDoIsDoneAtOnce) {
    const auto counters = expect_exactly_once<TypeParam>(Ferry{}, Quays{5}, 10, roomy, 10);
    EXPECT_EQ(counters.rounds, 0u);
}

} // namespace
} // namespace headrace::test
