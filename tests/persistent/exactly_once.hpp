// tests/persistent/exactly_once.hpp - engines on threads that must find each unit, and find it once.
#pragma once
#include "drain.hpp"
#include "thread_bench.hpp"

#include <gtest/gtest.h>

namespace headrace::test {

constexpr EngineOptions roomy{};
/// Everything so small that every way out is taken.
constexpr EngineOptions tiny{.wishes = {.liq_units = 4}, .bundles = 1, .first_rounds = 3};

template <class Config, class Kernel, class Seeds>
EngineCounters expect_exactly_once(Kernel kernel, const Seeds& seeds, std::uint64_t end,
                                   EngineOptions options, std::uint64_t begin = 0) {
    const TestDeadline deadline("the engine");
    Bench<Config, Kernel, Seeds> bench(kernel, seeds, options);
    drain(bench.engine, begin, end);
    const ArrivalTable expected = expected_arrivals(serial(kernel), seeds, begin, end);
    EXPECT_EQ(bench.arrived.total(), expected.total());
    EXPECT_EQ(bench.arrived, expected);
    EXPECT_EQ(bench.engine.counters().units, expected.total());
    EXPECT_EQ(bench.engine.counters().spawned + (end - begin),
              expected.total() + bench.engine.counters().empty);
    EXPECT_EQ(bench.engine.remaining(), 0u);
    return bench.engine.counters();
}

template <class Kernel, class Seeds>
void expect_exactly_once_by_a_slow_clock(Kernel kernel, const Seeds& seeds, std::uint64_t end,
                                         const EngineOptions& options) {
    const TestDeadline deadline("the engine");
    ArrivalTable arrived;
    kernel.arrivals = arrived.view();
    ThreadDevice device;
    ThreadStream stream;
    const Launcher launcher =
        on_cpu::make_launcher<Kernel, Seeds, HostLanes<16>, ThreadRunner<4>, SlowClock>();
    Engine engine(device, stream, launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds), options);
    drain(engine, 0, end);
    EXPECT_EQ(arrived, expected_arrivals(serial(kernel), seeds, 0, end));
}

} // namespace headrace::test
