// tests/persistent/thread_bench.hpp - an engine whose groups are host threads.
#pragma once
#include "expected.hpp"
#include "thread_device.hpp"

#include <headrace/persistent/engine.hpp>
#include <headrace/persistent/on_host.hpp>

namespace headrace::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t slower = 8; // ThreadSanitizer's cost
#else
inline constexpr std::uint64_t slower = 1;
#endif

template <unsigned Width, class RunnerType>
struct Config {
    using Lanes = HostLanes<Width>;
    using Runner = RunnerType;
};

/// One engine for one kernel on threads.
template <class Config, class Kernel, class Seeds, class StreamType = ThreadStream>
struct Bench {
    ThreadDevice device;
    StreamType stream;
    ArrivalTable arrived;
    Engine engine;

    Bench(Kernel kernel, const Seeds& seeds, const EngineOptions& options)
        : engine(device, stream, bind(kernel, seeds, arrived), options) {}

    static std::unique_ptr<BoundKernel> bind(Kernel kernel, const Seeds& seeds, ArrivalTable& table) {
        kernel.arrivals = table.view();
        const Launcher launcher =
            on_cpu::make_launcher<Kernel, Seeds, typename Config::Lanes, typename Config::Runner>();
        return launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds);
    }
};

} // namespace headrace::test
