// bench/resumable.cpp - what do resumable units gain where walks take different numbers of steps, beside one
// call for each unit?
//
// Four kernels do the same steps in turns; the first turn is dropped. Prints a Markdown table of medians.
// Fails if the kernels disagree.
#include "command_line.hpp"
#include "resumable.kernels.hpp"

#include <headrace/headrace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace headrace;
using bench::RayRules;

struct Options {
    std::string device = "cuda:0", commit = "unknown";
    std::vector<std::uint64_t> means = {1, 16, 100};
    std::uint64_t rays = 1 << 21, bounces = 7, shading = 100;
    unsigned repeats = 5;
    EngineOptions tuning{};
};

/// What a turn took on the device, and what it found.
struct Turn {
    double seconds, lanes_at_work;
    std::uint64_t units, checksum;
};

template <class Kernel>
Turn walk(Runtime& runtime, const Options& options, const Domain<bench::Quad>& table, std::uint64_t mean) {
    const Domain<std::uint64_t> marks("marks", {RayRules::sums});
    Job job("rays", options.rays);
    job.reads(table).accumulates(marks).tune(options.tuning);
    const auto narrow = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const std::uint32_t nodes = narrow(mean), shading = narrow(options.shading);
    job.seeds(bench::CameraRays{narrow(options.bounces)}).kernel([=](Task& task) {
        return Kernel{{RayRules{task.read(table), task.sum(marks), nodes, shading}}};
    });
    const JobHandle run = runtime.submit(job);
    run.wait();
    std::uint64_t checksum = 0;
    for (const std::uint64_t mark : marks.gather()) checksum = 31 * checksum + mark;
    const JobReport report = run.report();
    const DeviceReport& device = report.devices.front();
    return {device.busy_seconds, device.engine.lanes_at_work(), device.engine.units, checksum};
}

struct Way {
    std::string_view name;
    Turn (*take_turn)(Runtime&, const Options&, const Domain<bench::Quad>&, std::uint64_t mean);
};

/// As many rays in any way. Where shading is a kind of its own, it is as many units again.
constexpr std::array ways{Way{"one call a unit", walk<bench::CallRays>}, Way{"phases", walk<bench::StepRays>},
                          Way{"phases, shading gathers", walk<bench::GatherRays>},
                          Way{"phases, rays in the inbox", walk<bench::InboxRays>}};

void measure(Runtime& runtime, const Options& options, const Domain<bench::Quad>& table, std::uint64_t mean) {
    std::array<std::vector<double>, ways.size()> seconds;
    std::array<Turn, ways.size()> last{};
    for (unsigned turn = 0; turn <= options.repeats; ++turn)
        for (std::size_t way = 0; way < ways.size(); ++way) {
            last[way] = ways[way].take_turn(runtime, options, table, mean);
            if (last[way].checksum != last[0].checksum)
                throw std::runtime_error(fmt::format("{}: not the marks of one call", ways[way].name));
            if (turn > 0) seconds[way].push_back(last[way].seconds);
        }
    const auto rays = static_cast<double>(options.rays * (options.bounces + 1));
    for (std::size_t way = 0; way < ways.size(); ++way) {
        std::ranges::sort(seconds[way]);
        const auto median = [&](std::size_t of) { return seconds[of][seconds[of].size() / 2]; };
        fmt::print("| {} | {} | {:.3f} ({:.3f} to {:.3f}) | {:.1f} | {:.3f} |\n", mean, ways[way].name,
                   1e3 * median(way), 1e3 * seconds[way].front(), 1e3 * seconds[way].back(),
                   1e-6 * rays / median(way), median(0) / median(way));
    }
    std::cout.flush();
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app("What resumable units gain where walks take different numbers of steps.");
    app.add("--device", options.device);
    app.add("--means", options.means, "mean numbers of nodes of a walk").with_commas().positive();
    app.add("--rays", options.rays, "at the beginning").positive();
    app.add("--bounces", options.bounces, "rays that follow each of them");
    app.add("--shading", options.shading, "rounds at the end of a walk");
    app.add("--liq-units", options.tuning.wishes.liq_units, "room in a lane group's inbox, for each kind");
    app.add("--refill-percent", options.tuning.wishes.refill_percent,
            "a lane group refills below this share of lanes that walk")
        .range(1, 100);
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    Domain<bench::Quad> table("table", {RayRules::quads});
    std::uint32_t next = 1;
    for (bench::Quad& quad : table.fill())
        for (std::uint32_t* word : {&quad.x, &quad.y, &quad.z, &quad.w}) *word = RayRules::scatter(next++);
    Runtime runtime({.devices = options.device, .policy = "demand:1"});
    fmt::print("{}, {}, commit {}; medians (least to most) of {} turns after a warm-up\n\n"
               "| mean nodes | kernel | in kernels [ms] | M walks/s | of one call |\n|---|---|---|---|---|\n",
               runtime.devices().front()->name, runtime.devices().front()->driver, options.commit,
               options.repeats);
    for (const std::uint64_t mean : options.means) measure(runtime, options, table, mean);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "resumable: " << error.what() << '\n';
    return 1;
}
