// tests/persistent/bind_on_threads.hpp - the kernels of trees.kernels.hpp for lane groups of any width on
// plain threads.
#pragma once
#include "thread_device.hpp"
#include "trees.kernels.hpp"

#include <headrace/persistent/on_host.hpp>

#include <memory>

namespace headrace::test {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t slower = 8; // ThreadSanitizer's cost
#else
constexpr std::uint64_t slower = 1;
#endif

/// Lane groups of so many lanes, and whose threads they run on.
template <unsigned Width, class RunnerType>
struct Config {
    using Lanes = HostLanes<Width>;
    using Runner = RunnerType;
};

/// Its arrivals are counted in `arrivals`.
template <class Config, class Kernel, class Seeds>
std::unique_ptr<BoundKernel> bind_on_threads(Kernel kernel, const Seeds& seeds, Arrivals arrivals) {
    kernel.arrivals = arrivals;
    const Launcher launcher =
        on_cpu::make_launcher<Kernel, Seeds, typename Config::Lanes, typename Config::Runner>();
    return launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds);
}

} // namespace headrace::test
