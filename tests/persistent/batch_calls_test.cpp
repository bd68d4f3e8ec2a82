// Kernels with a batch form on host threads: each unit runs once, in a batch where the processor has vectors,
// and alone where it has none.
#include "exactly_once.hpp"

#include <core/takes.hpp>
#include <devices/with_instructions.hpp>

#include <headrace/persistent/detail/on_cpu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

namespace headrace::test {
namespace {

/// How units came to a kernel.
struct Calls {
    std::atomic<std::uint64_t> alone, in_batches, batches, largest;

    void note_batch(std::uint32_t count) {
        ++batches;
        in_batches += count;
        std::uint64_t most = largest;
        while (most < count && !largest.compare_exchange_weak(most, count)) {
        }
    }
    void clear() { alone = in_batches = batches = largest = 0; }
};
Calls calls;

/// IrregularTree with a batch form. Children are counted in vectors: a batch must not mix up its lanes.
struct BatchTree {
    using Units = Kinds<Kind<Node, 4>>;
    using Serial = IrregularTree;
    Arrivals arrivals;
    std::uint64_t deepest = 1;

    operator IrregularTree() const { return {arrivals, deepest}; }

    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        ++calls.alone;
        spawn_children(lane, node, IrregularTree::children(node));
    }

#ifdef HEADRACE_HAS_BATCHES
    template <std::uint32_t Width>
    HEADRACE_BATCH_CODE void batch(Constant<Width>, auto* lanes, const Node* nodes,
                                   std::uint32_t count) const {
        calls.note_batch(count);
        std::array<std::uint32_t, Width> chances{}, children{};
        for (std::uint32_t lane = 0; lane < count; ++lane)
            chances[lane] = static_cast<std::uint32_t>(mix(nodes[lane].id()) % 16);
        using Words = Batch<std::uint32_t, Width>;
        const auto chance = Words::load(chances.data());
        const Words none = 0u;
        const auto several = choose(chance < 14u, none + 2u, choose(chance < 15u, none + 3u, none + 4u));
        choose(chance < 7u, none, choose(chance < 11u, none + 1u, several)).store(children.data());
        for (std::uint32_t lane = 0; lane < count; ++lane)
            spawn_children(lanes[lane], nodes[lane], children[lane]);
    }
#endif

private:
    void spawn_children(auto& lane, const Node& node, unsigned children) const {
        arrivals.arrive(node.id());
        if (node.heap >= deepest) return;
        for (unsigned child = 0; child < children; ++child)
            lane.spawn(Node{node.seed, 4 * node.heap + child});
    }
};

/// Of several kinds, buds alone come in batches.
struct BatchPlant {
    using Units = Plant::Units;
    using Serial = Plant;
    Arrivals arrivals;

    operator Plant() const { return {arrivals}; }

    HEADRACE_KERNEL void operator()(auto& lane, const auto& unit) const { Plant{arrivals}(lane, unit); }
#ifdef HEADRACE_HAS_BATCHES
    template <std::uint32_t Width>
    HEADRACE_BATCH_CODE void batch(Constant<Width>, auto* lanes, const Bud* buds, std::uint32_t count) const {
        calls.note_batch(count);
        for (std::uint32_t lane = 0; lane < count; ++lane) Plant{arrivals}(lanes[lane], buds[lane]);
    }
#endif
};

/// A consumer with a batch form.
struct BatchVisit {
    Arrivals arrivals;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t index) const {
        ++calls.alone;
        arrivals.arrive(index);
    }
#ifdef HEADRACE_HAS_BATCHES
    template <std::uint32_t Width>
    HEADRACE_BATCH_CODE void batch(Constant<Width>, auto* /*lanes*/, const std::uint64_t* indices,
                                   std::uint32_t count) const {
        calls.note_batch(count);
        for (std::uint32_t lane = 0; lane < count; ++lane) arrivals.arrive(indices[lane]);
    }
#endif
};

/// Sums that a batch adds to by the handles of its lanes.
struct BatchTally {
    Arrivals arrivals; ///< `words` are the sums
    static constexpr std::uint32_t used = 2 * Arrivals::cells;
    HEADRACE_KERNEL std::uint32_t local_sums() const { return used; }
    HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t number) const { return arrivals.words[number]; }

    HEADRACE_KERNEL void operator()(auto& lane, std::uint64_t index) const { add(lane, index); }
#ifdef HEADRACE_HAS_BATCHES
    template <std::uint32_t Width>
    HEADRACE_BATCH_CODE void batch(Constant<Width>, auto* lanes, const std::uint64_t* indices,
                                   std::uint32_t count) const {
        calls.note_batch(count);
        for (std::uint32_t lane = 0; lane < count; ++lane) add(lanes[lane], indices[lane]);
    }
#endif

private:
    void add(auto& lane, std::uint64_t index) const {
        const auto sum = static_cast<std::uint32_t>(mix(index) % used);
        lane.add(sum, static_cast<std::int32_t>(mix(index) >> 32),
                 [&]() -> std::uint64_t& { return arrivals.words[sum]; });
    }
};

class BatchForms : public WithInstructions {
protected:
    BatchForms() { calls.clear(); }

    template <unsigned Width, class Kernel, class Seeds>
    static std::unique_ptr<BoundKernel> bind(Kernel kernel, const Seeds& seeds, ArrivalTable& arrived) {
        kernel.arrivals = arrived.view();
        const Launcher launcher =
            on_cpu::make_launcher<Kernel, Seeds, on_cpu::VectorLanes<Width>, ThreadRunner<4>>();
        return launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds);
    }
    template <unsigned Width, class Kernel, class Seeds>
    static EngineCounters expect(const Kernel& kernel, const Seeds& seeds, std::uint64_t end,
                                 const EngineOptions& options) {
        ArrivalTable arrived;
        return expect_exactly_once(bind<Width>(kernel, seeds, arrived), arrived,
                                   expected_arrivals(serial(kernel), seeds, 0, end), end, options, 0);
    }

    /// What a consumer leaves of the indices below `end`.
    template <class Kernel>
    static ArrivalTable consumed(const Kernel& kernel, std::uint64_t end) {
        const TestDeadline deadline("the engine");
        ArrivalTable arrived;
        ThreadDevice device;
        ThreadStream stream;
        Engine engine(device, stream, bind<16>(kernel, Indices{}, arrived), roomy);
        drain(engine, 0, end);
        return arrived;
    }

    /// Units came in vectors that hold as many as they can; none alone, unless there are no vectors.
    static void expect_batches(std::uint64_t units, std::uint32_t group) {
#ifdef HEADRACE_HAS_BATCHES
        const std::uint64_t lanes = GetParam() == Instructions::avx512 ? 16 : 8;
        const bool has_vectors = GetParam() != Instructions::baseline;
#else
        const std::uint64_t lanes = 0;
        const bool has_vectors = false;
#endif
        EXPECT_EQ(calls.alone, has_vectors ? 0 : units);
        EXPECT_EQ(calls.in_batches, has_vectors ? units : 0);
        EXPECT_EQ(calls.largest, has_vectors ? std::min<std::uint64_t>(lanes, group) : 0);
    }
};

TEST_P(BatchForms, OfTreesFindEachUnitOnce) {
    const auto units = expect<16>(BatchTree{{}, 1u << 16}, Roots{}, 3000 / slower, roomy).units;
    expect_batches(units, 16);
}
TEST_P(BatchForms, FitInGroupsOfAnyWidth) {
    expect_batches(expect<1>(BatchTree{{}, 1u << 14}, Roots{}, 500 / slower, roomy).units, 1);
    calls.clear();
    expect_batches(expect<3>(BatchTree{{}, 1u << 14}, Roots{}, 500 / slower, roomy).units, 3);
    calls.clear();
    expect_batches(expect<13>(BatchTree{{}, 1u << 14}, Roots{}, 1000 / slower, roomy).units, 13);
    calls.clear();
    expect_batches(expect<64>(BatchTree{{}, 1u << 14}, Roots{}, 2000 / slower, roomy).units, 64);
}
TEST_P(BatchForms, FindEachUnitOnceWhereEverythingIsTooSmall) {
    expect<16>(BatchTree{{}, 1u << 14}, Roots{}, 1000 / slower, tiny);
}
TEST_P(BatchForms, MayBeOfSomeKindsAlone) {
    expect<16>(BatchPlant{}, Sprouts{}, 300 / slower, roomy);
    EXPECT_EQ(calls.in_batches > 0, calls.batches > 0);
#ifdef HEADRACE_HAS_BATCHES
    EXPECT_EQ(calls.in_batches > 0, GetParam() != Instructions::baseline);
#endif
}
TEST_P(BatchForms, OfConsumersFindEachIndexOnce) {
    ArrivalTable expected;
    for (std::uint64_t index = 0; index < 100'003; ++index) expected.view().arrive(index);
    EXPECT_EQ(consumed(BatchVisit{}, 100'003), expected);
    expect_batches(100'003, 16);
}
TEST_P(BatchForms, AddToLocalSums) {
    ArrivalTable expected;
    for (std::uint64_t index = 0; index < 100'003; ++index)
        expected.words()[mix(index) % BatchTally::used] +=
            static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(mix(index) >> 32)});
    EXPECT_EQ(consumed(BatchTally{}, 100'003), expected);
}

/// Batches that take longer than a thread should go on without a look around, whatever their number of units.
struct LongVisit : BatchVisit {
#ifdef HEADRACE_HAS_BATCHES
    template <std::uint32_t Width>
    HEADRACE_BATCH_CODE void batch(Constant<Width> width, auto* lanes, const std::uint64_t* indices,
                                   std::uint32_t count) const {
        takes(std::chrono::microseconds(40));
        BatchVisit::batch(width, lanes, indices, count);
    }
#endif
};
TEST_P(BatchForms, ThatTakeLongStayTogether) {
    EXPECT_EQ(consumed(LongVisit{}, 4000).total(), 4000u);
#ifdef HEADRACE_HAS_BATCHES
    const std::uint64_t lanes = GetParam() == Instructions::avx512 ? 16 : 8;
    if (GetParam() != Instructions::baseline) {
        EXPECT_LT(calls.batches, 4000 / lanes * 3 / 2);
    }
#endif
}

INSTANTIATE_TEST_SUITE_P(Each, BatchForms,
                         testing::Values(Instructions::baseline, Instructions::avx2, Instructions::avx512),
                         by_instructions);

} // namespace
} // namespace headrace::test
