// bench/feeding.cpp - what do many short tasks cost beside one launch, when they are injected into a kernel
// that runs, and how long is the way of one into it?
//
// All programs leave the same marks, or the bench fails. They take turns; the first turn is dropped. Times
// are the host's, from the first call until it knows that all is done. Prints Markdown tables of medians.
#include "command_line.hpp"
#include "feeding.kernels.hpp"
#include "feeding_baseline.hpp"

#include <headrace/devices/discovery.hpp>
#include <headrace/headrace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace bench;
using Clock = std::chrono::steady_clock;

struct Options {
    std::string device = "cuda:0", commit = "unknown";
    std::uint64_t tasks = 16384, units = 4096, trips = 2000;
    std::uint32_t turns = 256;
    unsigned repeats = 9;
};

struct Turn {
    double seconds;
    std::uint64_t checksum;
};

std::string summary(std::vector<double> values, double unit) {
    std::ranges::sort(values);
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", values[values.size() / 2] / unit, values.front() / unit,
                       values.back() / unit);
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

headrace::Launcher launcher_for(const std::string& technology) {
    using namespace headrace;
    if (const auto launcher = compiled_for<EngineKernel<Mark, Indices>>(technology)) return launcher;
    throw std::runtime_error("no kernel for " + technology);
}

/// The kernel on an engine of its own, without jobs around it.
class Bare {
public:
    explicit Bare(const Options& options)
        : options_(options),
          device_(std::move(headrace::select_devices(options.device).devices.at(0))),
          stream_(device_->make_stream(headrace::Timing::all)),
          cells_(device_->allocate(MarkRules::cells * sizeof(std::uint64_t))) {
        const Mark kernel{{static_cast<std::uint64_t*>(cells_->address()), {{MarkRules::cells, 1, 1}}},
                          options.turns};
        const headrace::Indices seeds;
        engine_ = std::make_unique<headrace::Engine>(
            *device_, *stream_,
            launcher_for(device_->info().technology).bind(&kernel, sizeof kernel, &seeds, sizeof seeds));
    }

    [[nodiscard]] const headrace::DeviceInfo& info() const { return device_->info(); }
    [[nodiscard]] bool fine_grained_host_coherence() const { return engine_->fine_grained_host_coherence(); }

    Turn one_launch() {
        return turn([&] {
            engine_->start(0, options_.tasks * options_.units);
            drain();
        });
    }
    Turn a_launch_each() {
        return turn([&] {
            for (std::uint64_t task = 0; task < options_.tasks; ++task) {
                engine_->start(task * options_.units, (task + 1) * options_.units);
                drain();
            }
        });
    }
    Turn injected() {
        return turn([&] {
            engine_->open();
            for (std::uint64_t task = 0; task < options_.tasks; ++task)
                if (!engine_->inject(task * options_.units, (task + 1) * options_.units))
                    throw std::logic_error("ranges that adjoin are one");
            engine_->close();
            drain();
        });
    }
    /// From the call of start, with one unit, to the host's knowing that it is done.
    std::vector<double> launches() {
        std::vector<double> seconds;
        for (std::uint64_t trip = 0; trip < options_.trips; ++trip) {
            const auto begin = Clock::now();
            engine_->start(trip, trip + 1);
            drain();
            seconds.push_back(seconds_since(begin));
        }
        return seconds;
    }
    /// From the call of inject to the host's seeing that the unit is completed.
    std::vector<double> trips() {
        std::vector<double> seconds;
        engine_->open();
        for (std::uint64_t trip = 0; trip < options_.trips; ++trip) {
            std::this_thread::sleep_for(std::chrono::microseconds(20)); // all groups are idle
            const auto begin = Clock::now();
            if (!engine_->inject(trip, trip + 1)) throw std::logic_error("one range at a time has room");
            // The launch may have paused: it goes on.
            while (engine_->completed() != trip + 1 && seconds_since(begin) < 1e-3) {
            }
            if (engine_->completed() == trip + 1)
                seconds.push_back(seconds_since(begin));
            else if (engine_->collect() == headrace::Engine::State::paused)
                engine_->resume();
        }
        engine_->close();
        drain();
        return seconds;
    }

private:
    void drain() {
        while (engine_->collect() == headrace::Engine::State::paused) engine_->resume();
    }
    Turn turn(const std::function<void()>& run) {
        stream_->fill_zero(*cells_, 0, cells_->size()).wait();
        const auto begin = Clock::now();
        run();
        const double took = seconds_since(begin);
        std::vector<std::uint64_t> marks(MarkRules::cells);
        stream_->copy_out(marks.data(), *cells_, 0, cells_->size()).wait();
        return {took, std::accumulate(marks.begin(), marks.end(), std::uint64_t{0})};
    }

    const Options& options_;
    std::unique_ptr<headrace::Device> device_;
    std::unique_ptr<headrace::Stream> stream_;
    std::unique_ptr<headrace::Memory> cells_;
    std::unique_ptr<headrace::Engine> engine_;
};

/// The same as a job of so many tasks.
class AsJob {
public:
    AsJob(const Options& options, std::uint64_t tasks)
        : options_(options),
          runtime_(headrace::RuntimeOptions{.devices = options.device,
                                            .policy = "demand:" + std::to_string(tasks)}) {}
    Turn turn() {
        const headrace::Domain<std::uint64_t> cells("cells", {MarkRules::cells});
        headrace::Job job("marks", options_.tasks * options_.units);
        job.accumulates(cells).kernel([&](headrace::Task& task) {
            return Mark{task.sum(cells), options_.turns};
        });
        const auto begin = Clock::now();
        runtime_.submit(job).wait();
        const double took = seconds_since(begin);
        const auto marks = cells.gather();
        return {took, std::accumulate(marks.begin(), marks.end(), std::uint64_t{0})};
    }

private:
    const Options& options_;
    headrace::Runtime runtime_;
};

struct Contestant {
    std::string name;
    std::function<Turn()> take_turn;
    std::vector<double> seconds{};
};

void compare(const Options& options, std::vector<Contestant> all) {
    for (unsigned turn = 0; turn <= options.repeats; ++turn) {
        std::uint64_t expected = 0;
        for (Contestant& one : all) {
            const Turn taken = one.take_turn();
            if (&one == &all.front()) expected = taken.checksum;
            if (taken.checksum != expected) throw std::runtime_error(one.name + " leaves other marks");
            if (turn > 0) one.seconds.push_back(taken.seconds);
        }
    }
    const auto median = [](std::vector<double> values) {
        std::ranges::sort(values);
        return values[values.size() / 2];
    };
    fmt::print("| {} tasks of {} units | ms | ratio |\n|---|---|---|\n", options.tasks, options.units);
    for (const Contestant& one : all)
        fmt::print("| {} | {} | {:.3f} |\n", one.name, summary(one.seconds, 1e-3),
                   median(one.seconds) / median(all.front().seconds));
}

void run(const Options& options) {
    Bare bare(options);
    fmt::print("Device {} ({}, driver {}), commit {}, {} turns a unit.\n\n", bare.info().id, bare.info().name,
               bare.info().driver, options.commit, options.turns);
    AsJob whole(options, 1), many(options, options.tasks);
    std::vector<Contestant> all;
#if defined(BENCH_HAS_CUDA)
    if (options.device == "cuda:0")
        all.push_back({"plain CUDA, one launch", [&] {
                           const PlainMarks marks = plain_marks(options.tasks * options.units, options.turns);
                           return Turn{marks.seconds, marks.checksum};
                       }});
#endif
    all.push_back({"engine, one launch", [&] { return bare.one_launch(); }});
    if (bare.fine_grained_host_coherence()) all.push_back({"engine, fed", [&] { return bare.injected(); }});
    all.push_back({"engine, a launch each", [&] { return bare.a_launch_each(); }});
    all.push_back({"job of one task", [&] { return whole.turn(); }});
    all.push_back({"job of all tasks", [&] { return many.turn(); }});
    compare(options, std::move(all));
    fmt::print("\nFrom starting a launch of one unit until it is known to be done: {} us.\n",
               summary(bare.launches(), 1e-6));
#if defined(BENCH_HAS_CUDA)
    if (options.device == "cuda:0") {
        std::vector<double> plain;
        for (std::uint64_t trip = 0; trip < options.trips; ++trip)
            plain.push_back(plain_marks(1, options.turns).seconds);
        fmt::print("A plain CUDA launch of one unit: {} us.\n", summary(plain, 1e-6));
    }
#endif
    if (bare.fine_grained_host_coherence())
        fmt::print("From feeding a unit to a launch that runs until it is known to be done: {} us.\n",
                   summary(bare.trips(), 1e-6));
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    bench::CommandLine app{"Many short tasks beside one launch."};
    app.add("--device", options.device, "where to run");
    app.add("--tasks", options.tasks, "how many").positive();
    app.add("--units", options.units, "in each task").positive();
    app.add("--turns", options.turns, "multiplications and additions in each unit");
    app.add("--trips", options.trips, "units that are injected one by one");
    app.add("--repeats", options.repeats, "turns of each program");
    app.add("--commit", options.commit, "for the table");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        run(options);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "feeding: " << error.what() << '\n';
        return 1;
    }
}
