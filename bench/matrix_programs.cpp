// bench/matrix_programs.cpp - what do headrace-matrix-pow and headrace-chain-matmul cost beside the same
// programs written by hand, with the same kernels and the same host tasks?
//
// The programs of a row take turns; the first turn is a warm-up. Prints Markdown tables of medians, with
// least and most, and fails if two programs of a row disagree about the result.
#include "command_line.hpp"
#include "contest.hpp"
#include <core/scratch_folder.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using bench::Contestant;
using bench::Table;

struct Settings {
    std::vector<std::string> tables{"sizes", "steps", "chain"};
    std::vector<int> sizes{1024, 2048, 4096, 8192};
    std::string device = "cuda:0", opencl = "opencl:0", pipeline, commit = "unknown";
    unsigned opencl_number = 0;
    int steps = 40, iterations = 20;
    unsigned host_threads = 8, repeats = 5;
    fs::path scratch;
};

// The sums are rounded elsewhere on each device, and what normalising subtracts is nearly all of a number.
constexpr double of_a_sum = 1e-3;

class Tables {
public:
    explicit Tables(const Settings& settings) : settings_(settings) {}

    /// What the baselines compute on.
    void device() const {
        Contestant least = power_by_hand("matrix_pow_cuda_sync", 1, 1);
        least.take_turn(true);
        fmt::print("\nOn {}\n", least.device);
    }
    void sizes() const {
        const Table table(fmt::format("Matrix Pow, {} steps [s]", settings_.steps), "size",
                          both_modes("CUDA"), settings_.repeats);
        for (const int size : settings_.sizes)
            table.pairs(std::to_string(size),
                        {power_by_hand("matrix_pow_cuda_sync", size, settings_.steps),
                         our_power(size, settings_.steps, "sync", settings_.device),
                         power_by_hand("matrix_pow_cuda_async", size, settings_.steps),
                         our_power(size, settings_.steps, "async", settings_.device)},
                        of_a_sum);
    }
    void steps() const {
        constexpr int size = 4096;
        const Table table(fmt::format("Matrix Pow, {} x {} [s]", size, size), "steps",
                          {"CUDA, asynchronous", "Headrace, asynchronous"}, settings_.repeats);
        for (const int steps : {20, 40, 60, 80, 100, 120})
            table.pairs(std::to_string(steps),
                        {power_by_hand("matrix_pow_cuda_async", size, steps),
                         our_power(size, steps, "async", settings_.device)},
                        of_a_sum);
    }
    void chain() const {
        const Table table(
            fmt::format("A chain of four products, {} matrices, one device [s]", settings_.iterations),
            "size", both_modes("CUDA"), settings_.repeats);
        for (const int size : settings_.sizes)
            table.pairs(std::to_string(size),
                        {chain_by_hand("chain_matmul_cuda_sync", size),
                         our_chain(size, "sync", settings_.device, 1),
                         chain_by_hand("chain_matmul_cuda_async", size),
                         our_chain(size, "async", settings_.device, 1)},
                        of_a_sum);
    }
    void pipeline() const {
        const Table table(
            fmt::format("A chain of four products, {} matrices, pipelines [s]", settings_.iterations), "size",
            {"1 controller, " + settings_.device, "4 controllers, " + settings_.device,
             "1 controller, " + settings_.device, "4 controllers, " + settings_.pipeline},
            settings_.repeats);
        for (const int size : settings_.sizes)
            table.pairs(std::to_string(size),
                        {our_chain(size, "async", settings_.device, 1),
                         our_chain(size, "async", settings_.device, 4),
                         our_chain(size, "async", settings_.device, 1),
                         our_chain(size, "async", settings_.pipeline, 4)},
                        of_a_sum);
    }
    void opencl() const {
        const Table table(fmt::format("Matrix Pow on {}, {} steps [s]", settings_.opencl, settings_.steps),
                          "size", both_modes("OpenCL"), settings_.repeats);
        const auto by_hand = [&](int size, const char* mode) {
            return power_by_hand("matrix_pow_opencl", size, settings_.steps,
                                 fmt::format("--mode {} --device {}", mode, settings_.opencl_number));
        };
        const auto with_us = [&](int size, const char* mode) {
            return our_power(size, settings_.steps, mode, settings_.opencl);
        };
        for (const int size : settings_.sizes)
            table.pairs(std::to_string(size),
                        {by_hand(size, "sync"), with_us(size, "sync"), by_hand(size, "async"),
                         with_us(size, "async")},
                        of_a_sum);
    }
    void cpu() const {
        const Table table(fmt::format("Matrix Pow on the processor, {} steps [s]", settings_.steps), "size",
                          {"OpenMP, asynchronous", "Headrace, in place", "OpenMP, asynchronous",
                           "Headrace, private copies"},
                          settings_.repeats);
        const fs::path file = settings_.scratch / "private.toml";
        std::ofstream(file) << "[[node]]\n[[node.device]]\nkind = \"cpu\"\ncopies = \"private\"\n";
        for (const int size : settings_.sizes)
            table.pairs(std::to_string(size),
                        {power_by_hand("matrix_pow_openmp", size, settings_.steps),
                         our_power(size, settings_.steps, "async", "cpu"),
                         power_by_hand("matrix_pow_openmp", size, settings_.steps),
                         our_power(size, settings_.steps, "async", fmt::format("@{}", file.string()))},
                        of_a_sum);
    }

private:
    /// Columns of a table that compares synchronous with synchronous and asynchronous with asynchronous.
    static std::vector<std::string> both_modes(const std::string& technology) {
        return {technology + ", synchronous", "Headrace, synchronous", technology + ", asynchronous",
                "Headrace, asynchronous"};
    }
    [[nodiscard]] std::string common(int size) const {
        return fmt::format("--size {} --host-threads {}", size, settings_.host_threads);
    }
    [[nodiscard]] std::string common(int size, const std::string& mode, const std::string& devices) const {
        return fmt::format("{} --mode {} --devices '{}'", common(size), mode, devices);
    }

    [[nodiscard]] Contestant power_by_hand(const std::string& program, int size, int steps,
                                           const std::string& more = "") const {
        return bench::baseline(program, fmt::format("--steps {} {} {}", steps, common(size), more));
    }
    [[nodiscard]] Contestant our_power(int size, int steps, const std::string& mode,
                                       const std::string& devices) const {
        return bench::headrace_program("headrace-matrix-pow",
                                       fmt::format("--steps {} {}", steps, common(size, mode, devices)));
    }
    [[nodiscard]] Contestant chain_by_hand(const std::string& program, int size) const {
        return bench::baseline(program,
                               fmt::format("--iterations {} {}", settings_.iterations, common(size)));
    }
    [[nodiscard]] Contestant our_chain(int size, const std::string& mode, const std::string& devices,
                                       int controllers) const {
        return bench::headrace_program(
            "headrace-chain-matmul", fmt::format("--iterations {} {} --controllers {}", settings_.iterations,
                                                 common(size, mode, devices), controllers));
    }

    const Settings& settings_;
};

} // namespace

int main(int argc, char** argv) try {
    Settings settings;
    const headrace::test::ScratchFolder scratch;
    settings.scratch = scratch.path();
    bench::CommandLine app(
        "Powers and chains of matrices: Headrace beside programs written by hand. Tables go to stdout.");
    app.add("--tables", settings.tables, "sizes, steps, chain, pipeline, cpu, opencl")
        .with_commas()
        .one_of({"sizes", "steps", "chain", "pipeline", "cpu", "opencl"});
    app.add("--sizes", settings.sizes).with_commas();
    app.add("--steps", settings.steps, "of Matrix Pow");
    app.add("--iterations", settings.iterations, "matrices that pass through a chain");
    app.add("--device", settings.device, "of Headrace; baselines use CUDA's first");
    app.add("--opencl", settings.opencl, "device of --tables opencl");
    app.add("--opencl-number", settings.opencl_number, "the same one's place in the loader's order");
    app.add("--pipeline", settings.pipeline, "devices of four controllers, for --tables pipeline");
    app.add("--host-threads", settings.host_threads);
    app.add("--repeat", settings.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", settings.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;
    if (settings.pipeline.empty()) settings.pipeline = settings.device;

    std::string command = "matrix_programs";
    for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
    fmt::print(
        "`{}`\n\nCommit {}; medians (least to most) of {} turns after a warm-up; {} host-task threads\n",
        command, settings.commit, settings.repeats, settings.host_threads);
    const Tables tables(settings);
    const auto wants = [&](const char* name) { return std::ranges::count(settings.tables, name) > 0; };
    if (wants("sizes") || wants("steps") || wants("chain")) tables.device();
    if (wants("sizes")) tables.sizes();
    if (wants("steps")) tables.steps();
    if (wants("chain")) tables.chain();
    if (wants("pipeline")) tables.pipeline();
    if (wants("cpu")) tables.cpu();
    if (wants("opencl")) tables.opencl();
    return 0;
} catch (const std::exception& error) {
    std::cerr << "matrix_programs: " << error.what() << '\n';
    return 1;
}
