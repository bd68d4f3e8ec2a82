// bench/photons.cpp - how many packets of photons a second, with either kernel, beside a plain CUDA program?
//
// The contestants take turns in one process; the first turn is dropped. Weights are whole numbers, so all of
// one device must find the same totals to the last bit, or the program fails. Prints a Markdown table of
// medians.
#include "command_line.hpp"
#include "fluorescence/simulation.hpp"
#if defined(BENCH_HAS_CUDA)
    #include "photons_baseline.hpp"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace fluorescence;

struct Options {
    std::string device = "cuda:0", commit = "unknown";
    std::vector<std::string> inputs, tissues{"plain", "fluorescent"}, grids{"rz", "xyz"};
    std::uint64_t packets = 20'000'000;
    unsigned repeats = 5;
};

/// Epidermis, dermis with a fluorophore, subcutis.
Problem three_layers(bool fluoresces) {
    Problem problem;
    problem.name = fluoresces ? "three layers, with fluorescence" : "three layers";
    problem.grid = {0.005, 0.005, 80, 100, 30, {}, {}, 160, 160};
    problem.layers = {{1.45, {16, 400, 0.8}, 0.01, Optical{12, 370, 0.8}},
                      {1.40, {3, 250, 0.8}, 0.10, Optical{2.2, 230, 0.8}},
                      {1.44, {2.5, 200, 0.8}, 0.29, Optical{2, 190, 0.8}}};
    if (fluoresces) {
        problem.layers[1].fluorophore_mua = 1;
        problem.layers[1].quantum_yield = 0.3;
    }
    return problem;
}

struct Turn {
    double kernel_seconds, job_seconds;
    double lanes_at_work = 1;
    std::vector<Estimate> figures{}; ///< must agree
};

std::vector<Estimate> figures_of(const Totals& totals) {
    return {totals.reflectance, totals.transmittance, totals.absorbed, totals.fluorescence.emitted,
            totals.fluorescence.absorbed};
}

bool agree(const std::vector<Estimate>& a, const std::vector<Estimate>& b) {
    return std::ranges::equal(a, b, [](const Estimate& x, const Estimate& y) {
        return std::abs(x.value - y.value) <= 0.5 * x.standard_error.value_or(1);
    });
}

struct Contestant {
    std::string name;
    std::function<Turn()> take_turn;
    std::vector<Turn> turns{};

    [[nodiscard]] double median(double Turn::*which) const { return sorted(which)[turns.size() / 2]; }
    [[nodiscard]] std::vector<double> sorted(double Turn::*which) const {
        std::vector<double> values;
        for (const Turn& turn : turns) values.push_back(turn.*which);
        std::ranges::sort(values);
        return values;
    }
};

Turn run(headrace::Runtime& runtime, const Problem& problem, const Settings& settings) {
    const Simulation simulation(problem, settings);
    const headrace::JobHandle handle = runtime.submit(simulation.job());
    handle.wait();
    const headrace::JobReport report = handle.report();
    const headrace::DeviceReport& device = report.devices.front();
    return {device.busy_seconds, report.seconds, device.engine.lanes_at_work(),
            figures_of(simulation.totals())};
}

void compare(headrace::Runtime& runtime, const Options& options, const Problem& problem, GridChoice grid) {
    Settings settings{KernelChoice::consumer, grid, options.packets, 1};
    std::vector<Contestant> all;
#if defined(BENCH_HAS_CUDA)
    if (options.device == "cuda:0")
        all.push_back({"one thread a packet, plain CUDA", [&, settings] {
                           const auto found =
                               bench::plain_photons(make_layers(problem, settings),
                                                    make_tissue(problem, settings), settings.photons);
                           return Turn{found.seconds, found.seconds, 1,
                                       figures_of(totals_of(problem, settings, found.totals))};
                       }});
#endif
    all.push_back({"Headrace, consumer", [&, settings] { return run(runtime, problem, settings); }});
    settings.kernel = KernelChoice::producer;
    all.push_back({"Headrace, producer", [&, settings] { return run(runtime, problem, settings); }});
    for (unsigned turn = 0; turn <= options.repeats; ++turn)
        for (Contestant& contestant : all) {
            Turn taken = contestant.take_turn();
            if (turn > 0) contestant.turns.push_back(std::move(taken));
        }
    for (const Contestant& contestant : all) {
        if (!agree(contestant.turns.back().figures, all.front().turns.front().figures))
            throw std::runtime_error(contestant.name + " finds other figures than " + all.front().name);
        const std::vector<double> kernel = contestant.sorted(&Turn::kernel_seconds);
        const double seconds = contestant.median(&Turn::kernel_seconds);
        fmt::print("| {}, {} | {} | {:.1f} ({:.1f} to {:.1f}) | {:.1f} | {:.1f} | {:.3f} | {:.0f} % |\n",
                   problem.name, grid == GridChoice::rz ? "rz" : "xyz", contestant.name, 1e3 * seconds,
                   1e3 * kernel.front(), 1e3 * kernel.back(), 1e3 * contestant.median(&Turn::job_seconds),
                   1e-6 * static_cast<double>(options.packets) / seconds,
                   all.front().median(&Turn::kernel_seconds) / seconds,
                   100 * contestant.median(&Turn::lanes_at_work));
    }
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app(
        "Photons in layered tissue: Headrace's two kernels, beside a plain CUDA program on cuda:0.");
    app.add("--device", options.device);
    app.add("--input", options.inputs, ".mci or .toml beside the built-in tissue").with_commas();
    app.add("--tissue", options.tissues, "built-in ones: plain, fluorescent")
        .with_commas()
        .one_of({"plain", "fluorescent"});
    app.add("--grid", options.grids, "of the built-in ones: rz, xyz").with_commas().one_of({"rz", "xyz"});
    app.add("--packets", options.packets).range(1, 1'000'000'000);
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    headrace::Runtime runtime({.devices = options.device, .policy = "demand:1"});
    fmt::print("{}, {}, commit {}; {} packets; medians (least to most) of {} turns after a warm-up\n\n",
               runtime.devices().front()->name, runtime.devices().front()->driver, options.commit,
               options.packets, options.repeats);
    fmt::print(
        "| tissue, grid | program | in kernels [ms] | job [ms] | M packets/s | speed | lanes at work |\n"
        "|---|---|---|---|---|---|---|\n");
    for (const std::string& tissue : options.tissues)
        for (const std::string& grid : options.grids)
            compare(runtime, options, three_layers(tissue == "fluorescent"),
                    grid == "rz" ? GridChoice::rz : GridChoice::xyz);
    for (const std::string& input : options.inputs)
        for (const Problem& problem : read_problems(input))
            compare(runtime, options, problem, GridChoice::rz);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "photons: " << error.what() << '\n';
    return 1;
}
