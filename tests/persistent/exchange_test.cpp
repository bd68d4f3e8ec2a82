// What a paused engine has not begun, given to another: under host threads, for lane groups of all widths,
// where ThreadSanitizer sees all.
#include "drain.hpp"
#include "exchange.hpp"
#include "thread_bench.hpp"

#include <core/eventually.hpp>

#include <algorithm>
#include <atomic>
#include <random>
#include <vector>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

template <class One, class Other>
struct ConfigPair {
    using First = One;
    using Second = Other;
};

template <class Pair>
class Exchange : public ::testing::Test {};
using Pairs =
    ::testing::Types<ConfigPair<Config<16, ThreadRunner<4>>, Config<widest, ThreadRunner<2>>>,
                     ConfigPair<Config<1, ThreadRunner<1>>, Config<16, SerialRunner<5>>>,
                     ConfigPair<Config<3, ThreadRunner<16>>, Config<1, SerialRunner<2>>>>; // the first has
                                                                                           // several rings
TYPED_TEST_SUITE(Exchange, Pairs);

template <class Config>
auto binder() {
    return [](const auto& kernel, const auto& seeds, const Memory& arrivals) {
        return bind_on_threads<Config>(kernel, seeds,
                                       Arrivals{static_cast<std::uint64_t*>(arrivals.address())});
    };
}

TYPED_TEST(Exchange, NothingIsLostOrDoubledHoweverOftenItIsGivenOn) {
    ThreadDevice device;
    exchange(device, binder<typename TypeParam::First>(), device, binder<typename TypeParam::Second>(),
             4000 / slower);
}

using Narrow = Config<3, ThreadRunner<2>>;
using Wide = Config<widest, ThreadRunner<3>>;
constexpr EngineOptions brief{.wishes = {}, .first_rounds = 2, .launch_time = 1ns};
/// Groups have some units in their inboxes, also where units are slow and run one by one.
constexpr EngineOptions longer{.wishes = {}, .first_rounds = 24, .launch_time = 1ns};

TEST(Transfer, LeavesAboutWhatTheShareSays) {
    Bench<Wide, BinaryTree, Roots> bench(BinaryTree{{}, 1 << 14}, Roots{}, longer);
    bench.engine.start(0, 200);
    ASSERT_EQ(bench.engine.collect(), Engine::State::paused);
    EXPECT_EQ(bench.engine.transfer(0.0).size(), 0u);
    const UnitBatch all = bench.engine.transfer(1.0);
    const std::uint64_t seeds = bench.engine.remaining(); // claimed and unclaimed: they stay
    ASSERT_GT(all.size(), 15u);

    Bench<Narrow, BinaryTree, Roots> other(BinaryTree{{}, 1 << 14}, Roots{}, brief);
    other.engine.start(all);
    ASSERT_EQ(other.engine.collect(), Engine::State::paused);
    const auto held = static_cast<double>(other.engine.remaining());
    EXPECT_EQ(other.engine.transfer(0.5, other.engine.remaining()).size(), 0u); // asked for more than a half
    const auto given = static_cast<double>(other.engine.transfer(0.5).size());
    EXPECT_LE(given, 0.5 * held);
    EXPECT_GE(given, 0.5 * held - Narrow::Lanes::size); // a bundle at most
    EXPECT_EQ(bench.engine.remaining(), seeds);
}

TEST(Transfer, SeedsThatNobodyClaimedComeBack) {
    Bench<Wide, Visit, Indices> donor(Visit{}, Indices{}, brief);
    Bench<Narrow, Visit, Indices> recipient(Visit{}, Indices{}, {});
    donor.engine.start(7, 20'000);
    ASSERT_EQ(donor.engine.collect(), Engine::State::paused);
    const SeedRange left = donor.engine.unclaimed();
    EXPECT_EQ(left.end, 20'000u);
    const std::uint64_t from = left.next + (left.end - left.next) / 3;
    donor.engine.give_back(from);
    EXPECT_EQ(donor.engine.unclaimed().end, from);
    while (donor.engine.remaining() > 0) {
        donor.engine.resume();
        donor.engine.collect();
    }
    EXPECT_EQ(donor.arrived, expected_arrivals(Visit{}, Indices{}, 7, from));
    drain(recipient.engine, from, 20'000);
    EXPECT_EQ(recipient.arrived, expected_arrivals(Visit{}, Indices{}, from, 20'000));
}

TEST(Transfer, AnEngineTakesAsMuchAsItHasRoomForWhateverTheKind) {
    // One kind only, as many as there is room for: a full inbox in every group.
    Bench<Wide, Plant, Sprouts> donor(Plant{{}, 3}, Sprouts{}, brief);
    const EngineOptions narrow{.wishes = {.liq_units = 4}, .bundles = 1};
    Bench<Narrow, Plant, Sprouts> recipient(Plant{{}, 3}, Sprouts{}, narrow);
    UnitBatch units(3, sizeof(Bud) / 4);
    const std::uint64_t room = recipient.engine.room();
    ArrivalTable expected;
    for (std::uint64_t id = 0; id < room; ++id) {
        const Leaf leaf = Plant::leaf(mix(id));
        std::uint32_t words[sizeof(Bud) / 4] = {leaf.low, leaf.high};
        units.add(2, words, 1);
        expected.view().arrive(mix(id));
    }
    EXPECT_EQ(room, 8u); // two groups with inboxes of four
    recipient.engine.start(units);
    while (recipient.engine.collect() == Engine::State::paused) recipient.engine.resume();
    EXPECT_EQ(recipient.arrived, expected);
}

TEST(Transfer, ARangeCountsAsWhatItHasAndIsCut) {
    constexpr std::uint64_t sparks = 100'000 / slower;
    const Fireworks fireworks{{}, 1, sparks};
    Bench<Wide, Fireworks, Fuses> donor(fireworks, Fuses{}, longer);
    Bench<Narrow, Fireworks, Fuses> recipient(fireworks, Fuses{}, {.wishes = {.liq_units = 256}});
    donor.engine.start(0, 1);
    while (donor.engine.collect() == Engine::State::paused && donor.engine.counters().units < 1000)
        donor.engine.resume();
    const std::uint64_t before = donor.engine.remaining();
    ASSERT_EQ(before, sparks + 1 - donor.engine.counters().units);
    const UnitBatch units = donor.engine.transfer(0.3);
    EXPECT_LE(units.size(), 0.3 * static_cast<double>(before));
    EXPECT_GT(units.size(), 0.3 * static_cast<double>(before) - 3 * Wide::Lanes::size);
    EXPECT_LT(units.stored(), 1000u);
    EXPECT_EQ(donor.engine.remaining(), before - units.size());
    EXPECT_LT(recipient.engine.room(), 1000u);
    EXPECT_EQ(recipient.engine.room(units), units.size()); // a range takes the room of one
    recipient.engine.start(units);
    while (recipient.engine.collect() == Engine::State::paused) recipient.engine.resume();
    EXPECT_EQ(recipient.engine.counters().units, units.size());
    donor.engine.resume();
    while (donor.engine.collect() == Engine::State::paused) donor.engine.resume();
    ArrivalTable sum = donor.arrived;
    for (std::size_t word = 0; word < sum.words().size(); ++word)
        sum.words()[word] += recipient.arrived.words()[word];
    EXPECT_EQ(sum, expected_arrivals(fireworks, Fuses{}, 0, 1));
}

TEST(Transfer, OfRangesInBundlesTheRestStays) {
    // An inbox for so few that most ranges are in bundles.
    const Fireworks fireworks{{}, 3, 2000 / slower};
    for (const double share : {0.01, 0.5, 0.99, 1.0}) {
        Bench<Wide, Fireworks, Fuses> donor(
            fireworks, Fuses{}, {.wishes = {.liq_units = 4}, .first_rounds = 20, .launch_time = 1ns});
        Bench<Narrow, Fireworks, Fuses> recipient(fireworks, Fuses{}, {});
        donor.engine.start(0, 20);
        while (donor.engine.collect() == Engine::State::paused) {
            const std::uint64_t before = donor.engine.remaining();
            UnitBatch units = donor.engine.transfer(share);
            EXPECT_LE(static_cast<double>(units.size()), share * static_cast<double>(before));
            EXPECT_EQ(donor.engine.remaining(), before - units.size());
            while (units.size() > 0) {
                recipient.engine.start(units.split(std::min(recipient.engine.room(units), units.size())));
                while (recipient.engine.collect() == Engine::State::paused) recipient.engine.resume();
            }
            if (donor.engine.remaining() == 0) break;
            donor.engine.resume();
        }
        ArrivalTable sum = donor.arrived;
        for (std::size_t word = 0; word < sum.words().size(); ++word)
            sum.words()[word] += recipient.arrived.words()[word];
        EXPECT_EQ(sum, expected_arrivals(fireworks, Fuses{}, 0, 20));
        EXPECT_GT(recipient.engine.counters().units, 0u);
    }
}

TEST(Transfer, NoMoreBytesThanAllowed) {
    Bench<Wide, BinaryTree, Roots> bench(BinaryTree{{}, 1 << 14}, Roots{}, longer);
    bench.engine.start(0, 200);
    ASSERT_EQ(bench.engine.collect(), Engine::State::paused);
    const std::uint64_t before = bench.engine.remaining();
    const UnitBatch some = bench.engine.transfer(1.0, 1, 10 * sizeof(Node));
    EXPECT_EQ(some.size(), 10u);
    EXPECT_EQ(bench.engine.remaining(), before - 10);
}

TEST(Transfer, UnitsOfAnotherShapeAreRefusedInWords) {
    Bench<Narrow, BinaryTree, Roots> bench(BinaryTree{{}, 4}, Roots{}, {});
    try {
        bench.engine.start(UnitBatch(3, 7));
        FAIL() << "they were taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        EXPECT_NE(error.message().find("3 kinds of at most 7 words"), std::string::npos) << error.message();
    }
    EXPECT_THROW(bench.engine.start(UnitBatch(1, 4, 1)), Error); // those would be ranges
    drain(bench.engine, 0, 10);
    EXPECT_EQ(bench.arrived.total(), 70u);
}

TEST(Transfer, ConsumersHaveNoUnitsToTransfer) {
    Bench<Narrow, Visit, Indices> bench(Visit{}, Indices{}, brief);
    bench.engine.start(0, 10'000);
    ASSERT_EQ(bench.engine.collect(), Engine::State::paused);
    EXPECT_EQ(bench.engine.transfer(1.0).size(), 0u);
    EXPECT_EQ(bench.engine.room(), 0u);
}

/// A chain of units that walk for long. A pause leaves some of them in the middle of their walk.
struct LongWalk {
    struct State {
        Link link;
        std::uint32_t left;
    };
    static constexpr unsigned phase_percent[] = {0, 50};
};
struct LongWalks {
    using Units = Kinds<ResumableKind<Link, 1, LongWalk>>;
    static constexpr unsigned drain_steps = 1;
    struct Counts {
        std::atomic<std::uint64_t> begun = 0, finished = 0;
    };
    Arrivals arrivals;
    Counts* counts;
    LongWalk::State begin(auto&, const Link& link) const {
        ++counts->begun;
        return {link, 1 + static_cast<std::uint32_t>(mix(link.seed + link.left) % 1000)};
    }
    template <std::uint32_t P>
    Phase step(Constant<P>, auto&, LongWalk::State& walk) const {
        return --walk.left == 0 ? Phase::done : Phase{walk.left % 2};
    }
    void end(auto& lane, const LongWalk::State& walk, const Link& link) const {
        ++counts->finished;
        EXPECT_EQ(walk.left, 0u);
        Chain{arrivals}(lane, link);
    }
};
/// The engine keeps the unit of a walk.
struct KeptLongWalks : LongWalks {
    void finish(auto& lane, LongWalk::State& walk, const Link& link) const { end(lane, walk, link); }
};
/// The State gives the unit back.
struct RebuiltLongWalks : LongWalks {
    void finish(auto& lane, LongWalk::State& walk) const { end(lane, walk, walk.link); }
    Link unit(const LongWalk::State& walk) const { return walk.link; }
};

/// Units stay in the inbox.
struct InboxLongWalks : LongWalks {
    struct Walk : LongWalk {
        struct Result {
            std::uint32_t left;
        };
    };
    using Units = Kinds<ResumableKind<Link, 1, Walk>>;
    void end(auto&, const LongWalk::State& walk, auto&, Walk::Result& result) const {
        result.left = walk.left;
    }
    void finish(auto& lane, const Walk::Result& result, const Link& link) const {
        LongWalks::end(lane, {link, result.left}, link);
    }
};

/// An engine for walks, whose launches are as long on any machine.
template <class Config, class Kernel>
struct WalkBench {
    static constexpr ChainStarts seeds{4};
    ThreadDevice device;
    ThreadStream stream;
    ArrivalTable arrived;
    LongWalks::Counts counts;
    Kernel kernel{{arrived.view(), &counts}};
    Engine engine{device,
                  stream,
                  on_cpu::make_launcher<Kernel, ChainStarts, typename Config::Lanes, typename Config::Runner,
                                        StillClock>()
                      .bind(&kernel, sizeof kernel, &seeds, sizeof seeds),
                  {.wishes = {}, .first_rounds = 60, .launch_time = 1ns}};
};

/// What the donor is in the middle of begins again in the recipient, which passes its units on at each pause.
template <class Kernel>
void expect_that_walks_begin_again() {
    const TestDeadline deadline("two engines");
    constexpr std::uint64_t seeds = 300;
    WalkBench<Wide, Kernel> donor;
    WalkBench<Narrow, Kernel> recipient;
    donor.engine.start(0, seeds);
    ASSERT_EQ(donor.engine.collect(), Engine::State::paused);
    const std::uint64_t walking = donor.counts.begun - donor.counts.finished;
    EXPECT_GT(walking, 0u);
    UnitBatch units = donor.engine.transfer(1.0);
    EXPECT_GE(units.size(), walking);
    while (units.size() > 0) {
        recipient.engine.start(units.split(std::min(recipient.engine.room(units), units.size())));
        if (recipient.engine.collect() == Engine::State::finished) continue;
        const UnitBatch rest = recipient.engine.transfer(1.0);
        EXPECT_EQ(recipient.engine.remaining(), 0u);
        for (std::uint64_t unit = 0; unit < rest.size(0); ++unit) units.add(0, rest.unit(0, unit), 1);
    }
    EXPECT_GT(recipient.counts.begun, recipient.counts.finished);
    while (donor.engine.remaining() > 0) {
        donor.engine.resume();
        donor.engine.collect();
    }
    ArrivalTable sum = donor.arrived;
    for (std::size_t word = 0; word < sum.words().size(); ++word)
        sum.words()[word] += recipient.arrived.words()[word];
    EXPECT_EQ(sum, expected_arrivals(Chain{}, donor.seeds, 0, seeds));
    EXPECT_EQ(donor.counts.finished + recipient.counts.finished, sum.total());
}

TEST(Transfer, AUnitInTheMiddleOfItsWalkBeginsAgainElsewhere) {
    expect_that_walks_begin_again<KeptLongWalks>();
    expect_that_walks_begin_again<RebuiltLongWalks>();
    expect_that_walks_begin_again<InboxLongWalks>();
}

TEST(Transfer, ALaunchWithInjectionTransfersUnitsAndKeepsItsSeeds) {
    const TestDeadline deadline("an engine with injection");
    const BinaryTree tree{{}, 1 << 12};
    Bench<Wide, BinaryTree, Roots, LaterStream> donor(tree, Roots{}, {.wishes = {}, .launch_time = 2ms});
    Bench<Narrow, BinaryTree, Roots> recipient(tree, Roots{}, {});
    donor.engine.open();
    ASSERT_TRUE(eventually([&] { return donor.engine.inject(0, 300); }));
    donor.engine.close();
    std::uint64_t given = 0;
    while (donor.engine.collect() == Engine::State::paused) {
        EXPECT_TRUE(donor.engine.unclaimed().empty());
        UnitBatch units = donor.engine.transfer(0.3);
        given += units.size();
        while (units.size() > 0) {
            recipient.engine.start(units.split(std::min(units.size(), recipient.engine.room())));
            while (recipient.engine.collect() == Engine::State::paused) recipient.engine.resume();
        }
        donor.engine.resume();
    }
    EXPECT_GT(given, 0u);
    ArrivalTable sum = donor.arrived;
    for (std::size_t word = 0; word < sum.words().size(); ++word)
        sum.words()[word] += recipient.arrived.words()[word];
    EXPECT_EQ(sum, expected_arrivals(tree, Roots{}, 0, 300));
}

TEST(UnitBatches, AreDealtEvenly) {
    UnitBatch units(2, 2);
    for (std::uint32_t unit = 0; unit < 70; ++unit) {
        const std::uint32_t words[] = {unit, unit + 1000};
        units.add(unit < 40 ? 0 : 1, words, 1);
    }
    UnitBatch half = units.split(35);
    EXPECT_EQ(half.size(0), 20u);
    EXPECT_EQ(half.size(1), 15u);
    EXPECT_EQ(units.size(0), 20u);
    EXPECT_EQ(units.size(1), 15u);
    std::vector<bool> seen(70);
    for (const UnitBatch* batch : {&half, &units})
        for (std::uint32_t kind = 0; kind < 2; ++kind)
            for (std::uint64_t number = 0; number < batch->size(kind); ++number) {
                const std::uint32_t* words = batch->unit(kind, number);
                EXPECT_EQ(words[1], words[0] + 1000);
                EXPECT_EQ(kind, words[0] < 40 ? 0u : 1u);
                EXPECT_FALSE(seen[words[0]]);
                seen[words[0]] = true;
            }
    EXPECT_EQ(units.split(0).size(), 0u);
    EXPECT_EQ(units.split(units.size()).size(), 35u);
    EXPECT_EQ(units.size(), 0u);
}

TEST(UnitBatches, RangesAreDealtWholeButOne) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 1000; ++round) {
        std::vector<std::uint64_t> sizes(1 + random() % 20);
        std::uint64_t all = 0;
        for (std::uint64_t& size : sizes) all += size = 1 + random() % (round % 2 == 0 ? 10 : 1ull << 58);
        for (const std::uint64_t count : {std::uint64_t{0}, random() % all, all / 2, all - 1, all}) {
            const std::vector<std::uint64_t> taken = deal_ranges(sizes, count);
            std::uint64_t sum = 0;
            std::size_t cut = 0;
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                EXPECT_LE(taken[i], sizes[i]);
                sum += taken[i];
                cut += taken[i] != 0 && taken[i] != sizes[i] ? 1 : 0;
            }
            EXPECT_EQ(sum, count);
            EXPECT_LE(cut, 1u);
        }
    }
    EXPECT_TRUE(deal_ranges({}, 0).empty());
}

TEST(UnitBatches, AreSplitByIndicesWhereThereAreRanges) {
    UnitBatch units(2, 4, 0b10);
    for (std::uint32_t unit = 0; unit < 30; ++unit) {
        const std::uint32_t plain[] = {unit, 0, 0, 0};
        units.add(0, plain, 1);
        const std::uint32_t range[] = {100 * unit, 7, 100 * unit + 50, 7}; // 50 indices beyond 32 bits
        if (unit < 10) units.add(1, range, 1);
    }
    EXPECT_EQ(units.size(), 530u);
    EXPECT_EQ(units.stored(), 40u);
    EXPECT_EQ(units.bytes(), 40u * 16);
    std::vector<UnitBatch> parts;
    for (const std::uint64_t part : {1u, 100u, 265u, 163u}) {
        parts.push_back(units.split(part));
        EXPECT_EQ(parts.back().size(), part);
    }
    parts.push_back(units.split(units.size()));
    EXPECT_EQ(units.size(), 0u);
    std::vector<std::uint64_t> plain, indices;
    for (const UnitBatch& part : parts) {
        for (std::uint64_t number = 0; number < part.stored(0); ++number)
            plain.push_back(part.unit(0, number)[0]);
        for (std::uint64_t number = 0; number < part.stored(1); ++number) {
            const std::uint32_t* const words = part.unit(1, number);
            EXPECT_EQ(words[1], 7u);
            EXPECT_EQ(words[3], 7u);
            for (std::uint32_t index = words[0]; index < words[2]; ++index) indices.push_back(index);
        }
    }
    std::ranges::sort(plain);
    std::ranges::sort(indices);
    ASSERT_EQ(plain.size(), 30u);
    ASSERT_EQ(indices.size(), 500u);
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(plain[i], i);
    for (std::size_t i = 0; i < indices.size(); ++i) EXPECT_EQ(indices[i], 100 * (i / 50) + i % 50);
}

} // namespace
} // namespace headrace::test
