// tests/persistent/bind_on_threads.hpp - the kernels of trees.kernels.hpp for lane groups of any width on
// plain threads.
#pragma once
#include "thread_device.hpp"
#include "trees.kernels.hpp"

#include <core/sanitizers.hpp>
#include <headrace/persistent/detail/on_host.hpp>

#include <atomic>
#include <memory>
#include <type_traits>

namespace headrace::test {

/// What a sanitizer costs: so many times less work is as good a test there.
constexpr std::uint64_t slower = under_thread_sanitizer ? 8 : under_address_sanitizer ? 4 : 1;

constexpr bool under_a_sanitizer = under_thread_sanitizer || under_address_sanitizer;

/// Lanes of the widest groups that thread_kernels.hpp has.
constexpr unsigned widest = under_a_sanitizer ? 16 : 64;

/// What typed tests run as. A compiler that instruments group code takes several times longer over it, so
/// with a sanitizer these are few that differ: several rings, many threads, one thread.
template <class Few, class All>
using TestedConfigs = std::conditional_t<under_a_sanitizer, Few, All>;

/// Lane groups of so many lanes, and whose threads they run on.
template <unsigned Width, class RunnerType>
struct Config {
    using Lanes = HostLanes<Width>;
    using Runner = RunnerType;
};

/// A runner's functions, for group code that is compiled once for all runners: it is large, and there are
/// many.
struct RunnerCalls {
    unsigned (*threads)(const NativeStream&);
    void (*run)(const NativeStream&, unsigned, const std::function<void(unsigned)>&);
};

/// Calls those that a RunnerChoice has put into the stream.
struct ChosenRunner {
    static unsigned threads(const NativeStream& stream) { return calls(stream).threads(stream); }
    static void run(const NativeStream& stream, unsigned n, const std::function<void(unsigned)>& body) {
        calls(stream).run(stream, n, body);
    }

private:
    static const RunnerCalls& calls(const NativeStream& stream) {
        return *static_cast<const RunnerCalls*>(stream.context);
    }
};

/// A kernel for a ChosenRunner, and which.
class RunnerChoice final : public BoundKernel {
public:
    RunnerChoice(std::unique_ptr<BoundKernel> kernel, RunnerCalls calls)
        : kernel_(std::move(kernel)), calls_(calls) {}

    EngineShape prepare(const NativeStream& stream, const EngineWishes& wishes) override {
        return kernel_->prepare(chosen(stream), wishes);
    }
    void enqueue(const NativeStream& stream, const EngineMemory& memory) override {
        kernel_->enqueue(chosen(stream), memory);
    }
    [[nodiscard]] bool is_same(const BoundKernel& other) const override {
        const auto* const same = dynamic_cast<const RunnerChoice*>(&other);
        return same && kernel_->is_same(*same->kernel_);
    }

private:
    NativeStream chosen(NativeStream stream) {
        stream.context = &calls_;
        return stream;
    }

    std::unique_ptr<BoundKernel> kernel_;
    RunnerCalls calls_;
};

/// A clock that stands still: units take no time on any machine.
struct StillClock : HostSync {
    static std::uint64_t nanoseconds() { return 0; }
};

/// A clock by which everything takes long: each lane group looks after each move, begins one unit at a time,
/// and shares the others with idle groups.
struct SlowClock : HostSync {
    static std::uint64_t nanoseconds() {
        static std::atomic<std::uint64_t> now = 0;
        return now += 1'000'000;
    }
};

template <class Kernel, class Seeds, unsigned Width>
Launcher launcher_on_threads() {
    return on_cpu::make_launcher<Kernel, Seeds, HostLanes<Width>, ChosenRunner>();
}

/// Its arrivals are counted in `arrivals`.
template <class Config, class Kernel, class Seeds>
std::unique_ptr<BoundKernel> bind_on_threads(Kernel kernel, const Seeds& seeds, Arrivals arrivals) {
    kernel.arrivals = arrivals;
    using Runner = typename Config::Runner;
    const Launcher launcher = launcher_on_threads<Kernel, Seeds, Config::Lanes::size>();
    return std::make_unique<RunnerChoice>(launcher.bind(&kernel, sizeof kernel, &seeds, sizeof seeds),
                                          RunnerCalls{Runner::threads, Runner::run});
}

} // namespace headrace::test
