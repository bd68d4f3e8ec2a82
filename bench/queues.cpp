// bench/queues.cpp - what do the engine's queues carry, beside what the device can do at most and beside the
// same work without queues?
//
// The contestants of a row take turns in one process; the first turn is dropped. All must find the same
// number of units and the same checksum, or the program fails. Prints a Markdown table of medians.
#include "command_line.hpp"
#include "queues.kernels.hpp"
#include "queues_baseline.hpp"

#include <headrace/headrace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace bench;

struct Options {
    std::string device = "cuda:0", commit = "unknown";
    std::vector<std::string> rows;
    unsigned repeats = 5, shrink = 0;
    headrace::EngineOptions tuning{};

    [[nodiscard]] bool wants(const std::string& row) const {
        return rows.empty() || std::ranges::find(rows, row) != rows.end();
    }
    [[nodiscard]] std::uint64_t shrunk(std::uint64_t count) const {
        return std::max<std::uint64_t>(1, count >> shrink);
    }
};

struct Contestant {
    std::string name;
    std::function<QueueTurn()> take_turn;
    std::vector<QueueTurn> turns{};

    [[nodiscard]] std::vector<double> sorted(double QueueTurn::*which) const {
        std::vector<double> values;
        for (const QueueTurn& turn : turns) values.push_back(turn.*which);
        std::ranges::sort(values);
        return values;
    }
    [[nodiscard]] double median(double QueueTurn::*which) const { return sorted(which)[turns.size() / 2]; }
    [[nodiscard]] double rate() const { // of the median turn
        std::vector<double> rates;
        for (const QueueTurn& turn : turns)
            rates.push_back(static_cast<double>(turn.units) / turn.kernel_seconds);
        std::ranges::sort(rates);
        return rates[rates.size() / 2];
    }
};

/// What ratios are to: nothing, the first contestant of the row, or a rate that was measured before.
struct Reference {
    std::string name;
    double rate = 0;
};
const Reference none{}, first{"first"};

class Table {
public:
    explicit Table(unsigned repeats) : repeats_(repeats) {
        fmt::print("| what | program | in kernels [ms] | job [ms] | G/s | ratio | lanes at work |\n"
                   "|---|---|---|---|---|---|---|\n");
    }

    /// Returns the rate of the last contestant.
    double row(const std::string& what, std::vector<Contestant> all, const Reference& to) const {
        for (unsigned turn = 0; turn <= repeats_; ++turn)
            for (Contestant& contestant : all) {
                const QueueTurn taken = contestant.take_turn();
                if (turn > 0) contestant.turns.push_back(taken);
            }
        for (const Contestant& contestant : all) print(what, contestant, all.front(), to);
        std::fflush(stdout);
        return all.back().rate();
    }

private:
    static void print(const std::string& what, const Contestant& contestant, const Contestant& before,
                      const Reference& to) {
        const double rate = contestant.rate();
        const double reference = to.name == first.name ? before.rate() : to.rate;
        const double lanes = contestant.median(&QueueTurn::lanes_at_work);
        const std::vector<double> kernel = contestant.sorted(&QueueTurn::kernel_seconds);
        fmt::print("| {} | {} | {:.3f} ({:.3f} to {:.3f}) | {:.3f} | {:.3f} | {} | {} |\n", what,
                   contestant.name, 1e3 * contestant.median(&QueueTurn::kernel_seconds), 1e3 * kernel.front(),
                   1e3 * kernel.back(), 1e3 * contestant.median(&QueueTurn::job_seconds), 1e-9 * rate,
                   reference > 0 ? fmt::format("{:.3f}{}", rate / reference,
                                               to.rate > 0 ? " of " + to.name : std::string{})
                                 : "-",
                   lanes > 0 ? fmt::format("{:.1f} %", 100 * lanes) : "-");
        for (const QueueTurn& turn : contestant.turns)
            if (to.name == first.name &&
                (turn.units != before.turns.front().units || turn.checksum != before.turns.front().checksum))
                throw std::runtime_error(fmt::format("{}: {} finds {} units, {} finds {}", what,
                                                     contestant.name, turn.units, before.name,
                                                     before.turns.front().units));
    }

    unsigned repeats_;
};

// ---- through the public interface

QueueTurn turn_of(const headrace::JobReport& report, std::uint64_t checksum) {
    const headrace::DeviceReport& device = report.devices.front();
    return {device.busy_seconds, report.seconds, device.engine.units, checksum,
            device.engine.lanes_at_work()};
}

template <class Kernel>
QueueTurn grow(headrace::Runtime& runtime, const Options& options, std::uint64_t seeds, std::uint32_t levels,
               std::uint32_t ending) {
    const headrace::Domain<std::uint64_t> signatures("signatures", {TreeRules::sums});
    headrace::Job job("trees", seeds);
    job.accumulates(signatures).tune(options.tuning);
    job.seeds(Roots{levels}).kernel([=](headrace::Task& task) {
        return Kernel{{task.sum(signatures), ending}};
    });
    const headrace::JobHandle handle = runtime.submit(job);
    handle.wait();
    return turn_of(handle.report(), checksum_of(signatures.gather().data(), TreeRules::sums));
}

template <class Kernel, class Seeds>
QueueTurn settle(headrace::Runtime& runtime, const Options& options, std::uint64_t count, Seeds seeds) {
    const headrace::Domain<std::uint64_t> signatures("signatures", {GrainRules::sums});
    headrace::Job job("grains", count);
    job.accumulates(signatures).tune(options.tuning);
    job.seeds(seeds).kernel([=](headrace::Task& task) { return Kernel{{task.sum(signatures)}}; });
    const headrace::JobHandle handle = runtime.submit(job);
    handle.wait();
    return turn_of(handle.report(), checksum_of(signatures.gather().data(), GrainRules::sums));
}

QueueTurn walk(headrace::Runtime& runtime, const Options& options, std::uint64_t packets) {
    const headrace::Domain<float> grid("grid", {WalkRules::cells});
    headrace::Job job("walk", packets);
    job.accumulates(grid).tune(options.tuning);
    job.seeds(Starts{}).kernel([=](headrace::Task& task) { return Walk{{task.sum(grid)}}; });
    const headrace::JobHandle handle = runtime.submit(job);
    handle.wait();
    return turn_of(handle.report(), checksum_of(grid.gather().data(), WalkRules::cells));
}

// ---- through the engine: reports of jobs do not tell what passes through the GIQ

/// Trees in units of 16 bytes, in inboxes so small that what does not stay in its lane goes by the GIQ.
class SharingEngine {
public:
    SharingEngine(const std::string& name, std::uint64_t seeds, std::uint32_t levels)
        : device_(std::move(headrace::select_devices(name).devices.front())),
          stream_(device_->make_stream(headrace::Timing::all)),
          signatures_(device_->allocate(TreeRules::sums * sizeof(std::uint64_t))),
          seeds_(seeds),
          levels_(levels) {
        const std::string technology = device_->info().technology;
        using namespace headrace;
        const auto launcher = compiled_for<EngineKernel<GrowWideTrees, WideRoots>>(technology);
        if (!launcher) throw std::runtime_error("no kernel for " + name);
        const GrowWideTrees kernel{
            {{static_cast<std::uint64_t*>(signatures_->address()), {}}, TreeRules::never}};
        const WideRoots roots{{levels}};
        stream_->fill_zero(*signatures_, 0, signatures_->size()).wait();
        EngineOptions options;
        options.wishes.liq_units = technology == "cpu" ? 16 : 32; // a lane group's worth
        options.bundles = 1 << 18;                                // so that none is ever missed
        engine_ = std::make_unique<Engine>(
            *device_, *stream_, launcher.bind(&kernel, sizeof kernel, &roots, sizeof roots), options);
    }

    QueueTurn take_turn() {
        const headrace::EngineCounters before = engine_->counters();
        const auto begin = std::chrono::steady_clock::now();
        engine_->start(0, seeds_);
        while (engine_->collect() == headrace::Engine::State::paused) engine_->resume();
        const std::chrono::duration<double> job = std::chrono::steady_clock::now() - begin;
        const headrace::EngineCounters after = engine_->counters();
        const std::uint64_t units = after.units - before.units, lanes = engine_->shape().lanes;
        if (units != seeds_ * ((std::uint64_t{2} << levels_) - 1))
            throw std::runtime_error(fmt::format("the engine completed {} units of {} trees with {} levels",
                                                 units, seeds_, levels_ + 1));
        std::chrono::duration<double> kernel{0};
        for (const headrace::EventTimes& launch : engine_->launch_times())
            kernel += launch.end - launch.begin;
        return {kernel.count(),
                job.count(),
                (after.popped - before.popped) * lanes,
                0,
                static_cast<double>(units) / static_cast<double>((after.rounds - before.rounds) * lanes),
                units};
    }

private:
    std::unique_ptr<headrace::Device> device_;
    std::unique_ptr<headrace::Stream> stream_;
    std::unique_ptr<headrace::Memory> signatures_;
    std::unique_ptr<headrace::Engine> engine_;
    std::uint64_t seeds_;
    std::uint32_t levels_;
};

// ---- rows

Contestant trees_without_queues([[maybe_unused]] bool on_cuda, std::uint64_t seeds, std::uint32_t levels,
                                std::uint32_t ending) {
#if defined(BENCH_HAS_CUDA)
    if (on_cuda)
        return {"a thread a seed, own stack",
                [=] { return plain_trees(seeds, levels, ending, TreeStyle::own_stack); }};
#endif
    return {fmt::format("{} host threads, own stack", host_threads()),
            [=] { return host_trees(seeds, levels, ending); }};
}

void measure(headrace::Runtime& runtime, const Options& options) {
    const Table table(options.repeats);
    const bool on_cuda = options.device == "cuda:0"; // where the baselines run
    Reference tickets = none;
    std::vector<Contestant> rings;
    constexpr std::uint32_t cycles = 2048;
#if defined(BENCH_HAS_CUDA)
    if (on_cuda && (options.wants("limits") || options.wants("giq"))) {
        const double rate = table.row("tickets from one address", {{"plain", one_address_atomics}}, none);
        tickets = {"a ticket a bundle", 32 * rate};
    }
    if (on_cuda && options.wants("limits")) {
        table.row("tickets from shared memory", {{"plain", shared_atomics}}, none);
        table.row("bytes copied", {{"plain", copy_memory}}, none);
    }
#endif
    if (options.wants("giq")) {
        for (const std::uint32_t count : {1u, 8u}) {
            const std::string name = fmt::format("{} ring{} alone", count, count == 1 ? "" : "s");
#if defined(BENCH_HAS_CUDA)
            if (on_cuda) {
                rings.push_back({name, [=] { return cycle_rings_cuda(count, cycles); }});
                continue;
            }
#endif
            rings.push_back({name, [=] { return cycle_rings_host(count, 8 * cycles); }});
        }
        table.row("16-byte units pushed and popped", rings, tickets);
        // Shallow trees: rings give the oldest first, so deep ones would pile up beyond any cache.
        SharingEngine engine(options.device, options.shrunk(1 << 20), 6);
        table.row("16-byte units through the GIQ (bundles x lanes)",
                  {{"Headrace, engine", [&] { return engine.take_turn(); }}}, tickets);
    }

    const auto headrace_trees = [&](std::uint64_t seeds, std::uint32_t levels, std::uint32_t ending) {
        return Contestant{"Headrace", [&options, &runtime, seeds, levels, ending] {
                              return grow<GrowTrees>(runtime, options, seeds, levels, ending);
                          }};
    };
    if (options.wants("residency")) { // worth a row where the device has registers to save
        const std::uint64_t seeds = options.shrunk(1 << 20);
        const auto at = [&]<class Kernel>(const std::string& name, Kernel) {
            return Contestant{name, [&runtime, &options, seeds] {
                                  return grow<Kernel>(runtime, options, seeds, 10, TreeRules::one_in_eight);
                              }};
        };
        table.row("irregular tree, registers saved for more resident lanes",
                  {at("Headrace, as compiled", GrowTrees{}), at("Headrace, 1280", GrowTreesAt<1280>{}),
                   at("Headrace, 1536", GrowTreesAt<1536>{})},
                  first);
    }

    const auto trees = [&](const std::string& what, std::uint64_t seeds, std::uint32_t levels,
                           std::uint32_t ending) {
        std::vector<Contestant> all{trees_without_queues(on_cuda, seeds, levels, ending)};
#if defined(BENCH_HAS_CUDA)
        if (on_cuda)
            all.push_back({"a thread a seed, calls",
                           [=] { return plain_trees(seeds, levels, ending, TreeStyle::calls); }});
#endif
        all.push_back(headrace_trees(seeds, levels, ending));
        table.row(fmt::format("{}, {} seeds of depth {}", what, seeds, levels), all, first);
    };
    if (options.wants("irregular"))
        trees("irregular tree", options.shrunk(1 << 20), 10, TreeRules::one_in_eight);
    if (options.wants("large")) trees("full tree", options.shrunk(1 << 15), 16, TreeRules::never);
    if (options.wants("deep")) {
        const std::uint32_t levels = 30 - std::min(options.shrink, 29u);
        const std::uint64_t units = (std::uint64_t{2} << levels) - 1;
        Contestant one = headrace_trees(1, levels, TreeRules::never);
        one.take_turn = [turn = one.take_turn, units] {
            const QueueTurn taken = turn();
            if (taken.units != units)
                throw std::runtime_error(fmt::format("{} units instead of {}", taken.units, units));
            return taken;
        };
        table.row(fmt::format("full tree, one seed of depth {}", levels), {one}, none);
    }

    if (options.wants("ranges")) {
        // As many grains from as many seeds, from ranges of a thousand, and from a single one.
        const std::uint64_t all = options.shrunk(10'000'000) / 1000 * 1000;
        const auto sown = [&](std::uint64_t sowers) {
            return Contestant{fmt::format("Headrace, {} range{}", sowers, sowers == 1 ? "" : "s"),
                              [&, sowers] {
                                  const auto sows = static_cast<std::uint32_t>(all / sowers - 1);
                                  return settle<SowGrains>(runtime, options, sowers, Sowers{sows});
                              }};
        };
        table.row(fmt::format("{} light units", all),
                  {{"Headrace, seeds", [&] { return settle<SettleGrains>(runtime, options, all, Grains{}); }},
                   sown(all / 1000),
                   sown(1)},
                  first);
    }

    if (options.wants("walk")) {
        const std::uint64_t packets = options.shrunk(1 << 25);
        std::vector<Contestant> all;
#if defined(BENCH_HAS_CUDA)
        if (on_cuda) {
            all.push_back({"refill loop by hand", [=] { return plain_walks(packets, WalkStyle::refill); }});
            all.push_back(
                {"a thread a packet", [=] { return plain_walks(packets, WalkStyle::thread_a_packet); }});
        }
#endif
        if (!on_cuda)
            all.push_back(
                {fmt::format("{} host threads", host_threads()), [=] { return host_walks(packets); }});
        all.push_back({"Headrace", [&, packets] { return walk(runtime, options, packets); }});
        table.row(fmt::format("steps of {} packets", packets), all, first);
    }
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app(
        "What the engine's queues carry, beside the device's limits and plain CUDA on cuda:0.");
    app.add("--device", options.device);
    app.add("--rows", options.rows)
        .with_commas()
        .one_of({"limits", "giq", "residency", "irregular", "large", "deep", "ranges", "walk"});
    app.add("--shrink", options.shrink, "halve the work so many times, for slow devices").range(0, 30);
    app.add("--first-rounds", options.tuning.first_rounds, "each group's budget in a job's first launch");
    app.add("--liq-units", options.tuning.wishes.liq_units, "room in a lane group's inbox");
    app.add("--refill-percent", options.tuning.wishes.refill_percent,
            "a lane group looks for more below this share of active lanes")
        .range(1, 100);
    app.add("--groups", options.tuning.wishes.groups, "lane groups, at most");
    app.add("--bundles", options.tuning.bundles, "in the pool at first");
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    headrace::Runtime runtime({.devices = options.device, .policy = "demand:1"});
    fmt::print("{}, {}, commit {}; medians (least to most) of {} turns after a warm-up\n\n",
               runtime.devices().front()->name, runtime.devices().front()->driver, options.commit,
               options.repeats);
    measure(runtime, options);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "queues: " << error.what() << '\n';
    return 1;
}
