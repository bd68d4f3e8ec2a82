// What is particular to kernels in OpenCL C; the engine's own cases run on OpenCL in engine_test.cpp.
#include "collatz_steps.cl.hpp"
#include "devices/devices_fixture.hpp"
#include "drain.hpp"
#include "expected.hpp"
#include "opencl_trees.hpp"

#include <core/environment_variable.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

class OpenClEngine : public OnDevices {
protected:
    void SetUp() override {
        OnDevices::SetUp();
        if (devices_.empty()) return; // skipped
        stream_ = device().make_stream(Timing::all);
        words_ = device().allocate(sizeof(std::uint64_t) * 2 * Arrivals::cells);
        stream_->fill_zero(*words_, 0, words_->size()).wait();
    }

    ArrivalTable arrived() {
        ArrivalTable table;
        stream_->copy_out(table.words().data(), *words_, 0, words_->size()).wait();
        return table;
    }

    /// The Error of an engine with this kernel, at construction or in a run of 1000 seeds.
    Error failure_of(const OpenClKernel& kernel, OpenClArguments arguments) {
        try {
            Engine engine(device(), *stream_, bind_opencl(kernel, std::move(arguments)));
            drain(engine, 0, 1000);
        } catch (const Error& error) {
            return error;
        }
        return Error{ErrorKind::internal, "it ran"};
    }

    OpenClArguments two_arguments() {
        return std::move(OpenClArguments().buffer(*words_).value(std::uint64_t{1}));
    }

    static OpenClKernel visit() {
        return {.name = "a visitor", .source = std::string(embedded::trees_cl), .options = "-DVISIT"};
    }

    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Memory> words_;
};

void expect_mentions(const Error& error, ErrorKind kind, std::initializer_list<const char*> words) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const char* word : words) EXPECT_NE(error.message().find(word), std::string::npos) << error.what();
}

TEST_P(OpenClEngine, ASourceThatDoesNotCompileIsNamedWithTheCompilersLog) {
    OpenClKernel kernel = visit();
    kernel.source += "\nvoid broken(void) { undeclared = 1; }\n";
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel, {"a visitor", "undeclared"});
}

TEST_P(OpenClEngine, TheNumberOfArgumentsIsChecked) {
    expect_mentions(failure_of(visit(), std::move(OpenClArguments().buffer(*words_))),
                    ErrorKind::invalid_argument, {"a visitor", "2 parameters", "1 arguments"});
}

TEST_P(OpenClEngine, TheSizeOfAnArgumentIsChecked) {
    expect_mentions(failure_of(visit(), std::move(OpenClArguments().buffer(*words_).value('x'))),
                    ErrorKind::invalid_argument, {"a visitor", "argument 1"});
}

TEST_P(OpenClEngine, TheSizeOfAUnitIsChecked) {
    OpenClKernel kernel{.name = "CHAIN",
                        .source = std::string(embedded::trees_cl),
                        .kinds = 1,
                        .unit_bytes = 24,
                        .max_spawns = 1,
                        .options = "-DCHAIN"};
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel,
                    {"the_host_knows_the_units_size"});
    kernel.unit_bytes = 6;
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::invalid_argument, {"multiple of 4"});
    kernel.kinds = HR_MAX_KINDS + 1;
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::invalid_argument, {"kinds"});
}

TEST_P(OpenClEngine, WhatIsWrongWithRangesIsSaid) {
    const OpenClKernel fireworks = twin("FIREWORKS", 2, sizeof(Range<Burst>), 2);
    const auto failure = [&](const OpenClKernel& kernel) { return failure_of(kernel, two_arguments()); };
    expect_mentions(failure(with_ranges(fireworks, {{1, 2}})), ErrorKind::invalid_argument, {"there is not"});
    expect_mentions(failure(with_ranges(fireworks, {{2, 0}})), ErrorKind::invalid_argument, {"there is not"});
    expect_mentions(failure(with_ranges(fireworks, {{1, 1}})), ErrorKind::invalid_argument,
                    {"of a kind that is no range"});
    OpenClKernel small = with_ranges(fireworks, {{1, 0}});
    small.unit_bytes = 12;
    expect_mentions(failure(small), ErrorKind::invalid_argument, {"begins with two ulongs"});
}

TEST_P(OpenClEngine, SpawningManyAtOnceIsRefusedWithTheRemedy) {
    OpenClKernel kernel = twin("CHAIN", 1, sizeof(Link), most_spawns);
    EXPECT_EQ(failure_of(kernel, two_arguments()).kind(), ErrorKind::internal); // it ran
    ++kernel.max_spawns;
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::invalid_argument,
                    {"at most 256", "hr_spawn_range"});
}

TEST_P(OpenClEngine, SeedsOfTwoKindsAreAnError) {
    const OpenClKernel kernel{.name = "mixed seeds",
                              .source = std::string(embedded::trees_cl),
                              .kinds = 3,
                              .unit_bytes = sizeof(Bud),
                              .max_spawns = 3,
                              .options = "-DMIXED_SEEDS"};
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel,
                    {"hr_seed", "more than one kind"});
}

TEST_P(OpenClEngine, APhaseThatThereIsNotIsAnError) {
    OpenClKernel kernel = walk_tree();
    kernel.options += " -DNO_SUCH_PHASE";
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel, {"a phase", "does not have"});
}

TEST_P(OpenClEngine, WhatIsWrongWithAResumableKindIsSaid) {
    OpenClKernel kernel = walk_tree();
    kernel.ranges = {{0, 1}};
    kernel.kinds = 2;
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel, {"a kind that is no range"});
    kernel = by_group<GroupTree>(walk_tree());
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel,
                    {"a group kernel has no resumable kinds"});
}

TEST_P(OpenClEngine, TheExampleOfResumableKindsCounts) {
    constexpr std::uint64_t numbers = 100'000;
    const OpenClKernel kernel{.name = "collatz_steps.cl",
                              .source = std::string(embedded::collatz_steps_cl),
                              .kinds = 1,
                              .unit_bytes = 4};
    Engine engine(device(), *stream_, bind_opencl(kernel, std::move(OpenClArguments().buffer(*words_))));
    drain(engine, 0, numbers);
    std::uint64_t expected = 0, counted = 0;
    for (std::uint64_t first = 1; first <= numbers; ++first) {
        unsigned steps = 0;
        for (std::uint64_t n = first; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        expected += steps == 100 ? 1 : 0;
    }
    stream_->copy_out(&counted, *words_, 0, sizeof counted).wait();
    EXPECT_EQ(counted, expected);
    EXPECT_EQ(engine.counters().units, numbers);
}

TEST_P(OpenClEngine, KindsSurviveManyPauses) {
    const Plant plant{{}, 9};
    Engine engine(device(), *stream_, bind_twin(plant, Sprouts{}, *words_),
                  {.wishes = {.groups = 3, .liq_units = 64},
                   .bundles = 2,
                   .first_rounds = 2,
                   .launch_time = std::chrono::microseconds(1)});
    EXPECT_GT(drain(engine, 0, 300), 10u);
    EXPECT_EQ(arrived(), expected_arrivals(plant, Sprouts{}, 0, 300));
    EXPECT_EQ(engine.counters().saved, engine.counters().restored);
}

/// Below each index a tree, whose nodes a group counts by a stack that its lanes share: each takes one off.
constexpr std::string_view tree_counter = R"(
    #define HEADRACE_PARAMETERS __global ulong* counts, ulong bound
    #define HEADRACE_ARGUMENTS counts, bound
    // From 5 to 0; a node has so many children, each lower by one or two.
    uint children(uint node) { return node == 0 ? 0 : (node + 1) / 2; }
    void hr_consume(HrKernelGroup* group, ulong index, HEADRACE_PARAMETERS) {
        __local uint* stack = hr_scratch(group);
        const uint lane = (uint)get_local_id(0);
        for (uint word = lane; word < HEADRACE_SCRATCH_WORDS; word += HEADRACE_LANES) stack[word] = ~0u;
        hr_sync();
        if (lane == 0) stack[0] = (uint)(index % 6);
        uint depth = 1, nodes = 0;
        while (depth > 0) {
            hr_sync(); // the stack is as all see it
            const uint taken = min(depth, (uint)HEADRACE_LANES);
            const uint node = lane < taken ? stack[depth - 1 - lane] : 0;
            nodes += taken;
            depth -= taken;
            hr_sync(); // all have read
            for (uint child = 0; child < 3; ++child) {
                const uint more = hr_ballot(group, child < children(node));
                if (hr_has(more, lane)) stack[depth + hr_count_below(more, lane)] = node - 1 - child % 2;
                depth += popcount(more);
            }
        }
        hr_sync();
        if (lane == 0) hr_atomic_add_ulong(&counts[index % bound], nodes);
    })";

std::uint64_t tree_nodes(std::uint64_t node) {
    std::uint64_t nodes = 1;
    for (std::uint64_t child = 0; node > 0 && child < (node + 1) / 2; ++child)
        nodes += tree_nodes(node - 1 - child % 2);
    return nodes;
}

TEST_P(OpenClEngine, AGroupSharesAStackInItsScratch) {
    constexpr std::uint64_t indices = 1000, cells = 7;
    OpenClKernel kernel{.name = "tree counter", .source = std::string(tree_counter), .by_group = true};
    kernel.scratch_words = [](std::uint32_t lanes) { return 12 * lanes + 3; }; // no whole line
    Engine engine(device(), *stream_,
                  bind_opencl(kernel, std::move(OpenClArguments().buffer(*words_).value(cells))));
    drain(engine, 0, indices);
    std::array<std::uint64_t, cells> expected{}, counted{};
    for (std::uint64_t index = 0; index < indices; ++index) expected[index % cells] += tree_nodes(index % 6);
    stream_->copy_out(counted.data(), *words_, 0, sizeof counted).wait();
    EXPECT_EQ(counted, expected);
}

TEST_P(OpenClEngine, LaneAndGroupKernelsAreNotTakenForEachOther) {
    OpenClKernel kernel = visit();
    kernel.by_group = true;
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel, {"a visitor", "HrLane"});
    kernel.options = "-DGROUP_VISIT";
    kernel.by_group = false;
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::kernel, {"a visitor", "HrKernelGroup"});
}

TEST_P(OpenClEngine, AGroupThatSpawnsTooManyIsAnError) {
    OpenClKernel kernel = by_group<GroupTree>(twin("IRREGULAR_TREE", 1, sizeof(Node), 3)); // some have 4
    expect_mentions(
        failure_of(kernel, std::move(OpenClArguments().buffer(*words_).value(std::uint64_t{1} << 30))),
        ErrorKind::kernel, {"spawned more"});
}

TEST_P(OpenClEngine, ScratchThatDoesNotFitIsAnError) {
    OpenClKernel kernel = by_group<GroupVisit>(twin("GROUP_VISIT", 0, 0, 0));
    kernel.scratch_words = [](std::uint32_t) { return 1u << 26; };
    expect_mentions(failure_of(kernel, two_arguments()), ErrorKind::unsupported,
                    {"GROUP_VISIT", "local memory"});
}

TEST_P(OpenClEngine, LanesThatGoOnAreSetAsideForAFullerKind) {
    constexpr std::uint64_t seeds = 500, links = 100;
    // A group alone: others that are idle would take what has to gather here.
    Engine engine(device(), *stream_, bind_twin(twin("SHEDDING", 2, 16, 2), *words_, links - 1),
                  {.wishes = {.groups = 1}});
    drain(engine, 0, seeds);
    ArrivalTable expected;
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
        for (std::uint64_t id = 0; id < 2 * links; ++id) expected.view().arrive(mix(seed) + id);
    EXPECT_EQ(arrived(), expected);
    EXPECT_GT(engine.counters().switches, 0u);
}

TEST_P(OpenClEngine, FloatsAreAddedAtomically) {
    const OpenClKernel kernel{.name = "adding",
                              .source = "#define HEADRACE_PARAMETERS __global float* sums\n"
                                        "#define HEADRACE_ARGUMENTS sums\n"
                                        "void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {\n"
                                        "    hr_atomic_add_float(&sums[index % 3], 0.5f);\n"
                                        "}\n"};
    Engine engine(device(), *stream_, bind_opencl(kernel, std::move(OpenClArguments().buffer(*words_))));
    drain(engine, 0, 300000);
    std::array<float, 3> sums{};
    stream_->copy_out(sums.data(), *words_, 0, sizeof sums).wait();
    for (const float sum : sums) EXPECT_EQ(sum, 50000.0f); // halves add without rounding
}

TEST_P(OpenClEngine, TheDeviceSeesTheSameLayoutAsTheHost) {
    const OpenClKernel kernel{.name = "layout", .source = R"(
        #define HEADRACE_PARAMETERS __global ulong* out
        #define HEADRACE_ARGUMENTS out
        #define OFFSET(member) ((ulong)&c->member - (ulong)c)
        void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
            __global HrControl* c = (__global HrControl*)out;
            const ulong seen[] = {sizeof(HrControl), sizeof(HrSlot), sizeof(HrRecord), OFFSET(seed_end),
                                  OFFSET(spill_count), OFFSET(pending), OFFSET(saved), OFFSET(pause), OFFSET(status),
                                  OFFSET(ways), OFFSET(counters.seed_claims),
                                  hr_record_words(3, 5, 8, 16, 4), hr_spill_records_at(17), hr_slots_at(3, 4)};
            for (uint i = 0; i < sizeof(seen) / sizeof(ulong); ++i) out[i] = seen[i];
        })"};
    Engine engine(device(), *stream_, bind_opencl(kernel, std::move(OpenClArguments().buffer(*words_))));
    drain(engine, 0, 1);
    const std::array<std::uint64_t, 14> expected{sizeof(HrControl),
                                                 sizeof(HrSlot),
                                                 sizeof(HrRecord),
                                                 offsetof(HrControl, seed_end),
                                                 offsetof(HrControl, spill_count),
                                                 offsetof(HrControl, pending),
                                                 offsetof(HrControl, saved),
                                                 offsetof(HrControl, pause),
                                                 offsetof(HrControl, status),
                                                 offsetof(HrControl, ways),
                                                 offsetof(HrControl, counters) +
                                                     offsetof(HrCounters, seed_claims),
                                                 hr_record_words(3, 5, 8, 16, 4),
                                                 hr_spill_records_at(17),
                                                 hr_slots_at(3, 4)};
    std::array<std::uint64_t, 14> seen{};
    stream_->copy_out(seen.data(), *words_, 0, sizeof seen).wait();
    EXPECT_EQ(seen, expected);
}

/// With as many threads of PoCL as groups. (Another test of the process may have begun it before, with
/// others.)
class OpenClEnginesOnManyThreads : public OpenClEngine {
    const EnvironmentVariable threads_{"POCL_MAX_PTHREAD_COUNT", "6"};
};

/// Four launches need one group each and one needs all, which ends last: see
/// devices/opencl/stream_number.hpp.
TEST_P(OpenClEnginesOnManyThreads, FewGroupsRunBesideMany) {
    const OpenClKernel kernel{.name = "slow", .source = R"(
        #define HEADRACE_PARAMETERS __global uint* out, uint turns
        #define HEADRACE_ARGUMENTS out, turns
        void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
            uint x = (uint)index;
            for (uint turn = 0; turn < turns; ++turn) x = x * 1664525u + (x >> 13);
            out[index] = x;
        })"};
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<Engine>> engines;
    for (std::size_t i = 0; i < 5; ++i) {
        streams.push_back(device().make_stream());
        engines.push_back(std::make_unique<Engine>(
            device(), *streams.back(),
            bind_opencl(kernel, std::move(OpenClArguments().buffer(*words_).value(40'000'000u)))));
    }
    drain(*engines.front(), 0, 1); // PoCL has compiled it
    Promise gate;                  // at which all begin
    const std::array begin{gate.event()};
    for (std::size_t i = 0; i < 4; ++i) engines[i]->start(i, i + 1, begin);
    engines.back()->start(4, 52, begin);
    gate.complete();
    for (const auto& engine : engines) EXPECT_EQ(engine->collect(), Engine::State::finished);
}

INSTANTIATE_TEST_SUITE_P(Devices, OpenClEngine, testing::Values("opencl:pocl", "opencl:nvidia"), test_name);
INSTANTIATE_TEST_SUITE_P(Devices, OpenClEnginesOnManyThreads, testing::Values("opencl:pocl"), test_name);

} // namespace
} // namespace headrace::test
