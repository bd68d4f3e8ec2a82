// tests/persistent/exactly_once.hpp - engines on threads that must find each unit, and find it once.
#pragma once
#include "drain.hpp"
#include "thread_bench.hpp"

#include <gtest/gtest.h>

namespace headrace::test {

constexpr EngineOptions roomy{};
/// Everything so small that every way out is taken.
constexpr EngineOptions tiny{.wishes = {.liq_units = 4}, .bundles = 1, .first_rounds = 3};

/// The same for all kernels, which count in `arrived`.
inline EngineCounters expect_exactly_once(std::unique_ptr<BoundKernel> kernel, const ArrivalTable& arrived,
                                          const ArrivalTable& expected, std::uint64_t end,
                                          const EngineOptions& options, std::uint64_t begin) {
    const TestDeadline deadline("the engine");
    ThreadDevice device;
    ThreadStream stream;
    Engine engine(device, stream, std::move(kernel), options);
    drain(engine, begin, end);
    const EngineCounters counters = engine.counters();
    EXPECT_EQ(arrived.total(), expected.total());
    EXPECT_EQ(arrived, expected);
    EXPECT_EQ(counters.units, expected.total());
    EXPECT_EQ(counters.spawned + (end - begin), expected.total() + counters.empty);
    EXPECT_EQ(engine.remaining(), 0u);
    return counters;
}

template <class Config, class Kernel, class Seeds>
EngineCounters expect_exactly_once(Kernel kernel, const Seeds& seeds, std::uint64_t end,
                                   const EngineOptions& options, std::uint64_t begin = 0) {
    ArrivalTable arrived;
    return expect_exactly_once(bind_on_threads<Config>(kernel, seeds, arrived.view()), arrived,
                               expected_arrivals(serial(kernel), seeds, begin, end), end, options, begin);
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

/// An engine whose unit of seed 700 fails, in these words. It goes on afterwards.
template <class Config, class Kernel>
void expect_failure_of_unit_700(Kernel kernel, const char* words) {
    const TestDeadline deadline("the engine");
    Bench<Config, Kernel, Roots> bench(kernel, Roots{}, roomy);
    try {
        drain(bench.engine, 0, 1000);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kernel);
        EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
    }
    drain(bench.engine, 0, 700);
    EXPECT_EQ(bench.engine.remaining(), 0u);
}

} // namespace headrace::test
