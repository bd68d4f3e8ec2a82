// bench/frame_programs.cpp - what do headrace-hotspot and headrace-mandelbrot cost beside the same programs
// written by hand, with the same host tasks?
//
// The programs of a row take turns; the first turn is a warm-up. Prints Markdown tables of medians, with
// least and most, and fails if two programs of a row disagree about the result.
#include "command_line.hpp"
#include "contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

using bench::baseline;
using bench::Contestant;
using bench::headrace_program;
using bench::Table;

struct Settings {
    std::vector<std::string> tables{"sizes", "iterations", "frames"};
    std::vector<int> sizes{1000, 2500, 5000, 10000, 15000}, iterations{100, 200, 300, 400, 500, 600};
    std::vector<int> widths{640, 1920, 3840};
    std::string device = "cuda:0", opencl = "opencl:nvidia", commit = "unknown";
    std::filesystem::path folder;
    unsigned host_threads = 8, frame_threads = 16, repeats = 5, opencl_number = 0;
};

// Cells are rounded elsewhere on each device, and their mean is near 325 K.
constexpr double of_a_mean = 1e-5;

std::string chip(const Settings& settings, int size, int iterations) {
    return fmt::format("--size {} --iterations {} --host-threads {}", size, iterations,
                       settings.host_threads);
}
Contestant our_hotspot(const Settings& settings, int size, int iterations, const std::string& mode,
                       const std::string& devices) {
    return headrace_program("headrace-hotspot", chip(settings, size, iterations) + " --mode " + mode +
                                                    " --devices '" + devices + "'");
}

void sizes(const Settings& settings) {
    const Table table(
        "Hotspot, 300 iterations [s]", "size",
        {"CUDA, synchronous", "Headrace, synchronous", "CUDA, asynchronous", "Headrace, asynchronous"},
        settings.repeats);
    for (const int size : settings.sizes)
        table.pairs(std::to_string(size),
                    {baseline("hotspot_cuda_sync", chip(settings, size, 300)),
                     our_hotspot(settings, size, 300, "sync", settings.device),
                     baseline("hotspot_cuda_async", chip(settings, size, 300)),
                     our_hotspot(settings, size, 300, "async", settings.device)},
                    of_a_mean);
}

void iterations(const Settings& settings) {
    for (const int size : {2500, 15000}) {
        const Table table(fmt::format("Hotspot, {} x {} [s]", size, size), "iterations",
                          {"CUDA, asynchronous", "Headrace, asynchronous"}, settings.repeats);
        for (const int number : settings.iterations)
            table.pairs(std::to_string(number),
                        {baseline("hotspot_cuda_async", chip(settings, size, number)),
                         our_hotspot(settings, size, number, "async", settings.device)},
                        of_a_mean);
    }
}

void opencl(const Settings& settings) {
    const Table table(
        "Hotspot in OpenCL, 300 iterations [s]", "size",
        {"OpenCL, synchronous", "Headrace, synchronous", "OpenCL, asynchronous", "Headrace, asynchronous"},
        settings.repeats);
    const auto by_hand = [&](int size, const char* mode) {
        return baseline("hotspot_opencl", fmt::format("{} --mode {} --device {}", chip(settings, size, 300),
                                                      mode, settings.opencl_number));
    };
    for (const int size : settings.sizes)
        table.pairs(std::to_string(size),
                    {by_hand(size, "sync"), our_hotspot(settings, size, 300, "sync", settings.opencl),
                     by_hand(size, "async"), our_hotspot(settings, size, 300, "async", settings.opencl)},
                    of_a_mean);
}

std::string zoom(const Settings& settings, int width, unsigned threads) {
    return fmt::format("--width {} --height {} --frames 200 --host-threads {}", width, width * 9 / 16,
                       threads) +
           (settings.folder.empty() ? "" : " --out '" + settings.folder.string() + "'");
}

void frames(const Settings& settings) {
    const Table table(
        "The zoom, 200 frames of 16:9 [s]", "width",
        {"CUDA, synchronous", "Headrace, synchronous", "CUDA, asynchronous", "Headrace, asynchronous"},
        settings.repeats);
    for (const int width : settings.widths) {
        const std::string options = zoom(settings, width, settings.frame_threads);
        const std::string ours = options + " --devices '" + settings.device + "' --mode ";
        table.pairs(std::to_string(width),
                    {baseline("mandelbrot_cuda_sync", options),
                     headrace_program("headrace-mandelbrot", ours + "sync"),
                     baseline("mandelbrot_cuda_async", options),
                     headrace_program("headrace-mandelbrot", ours + "async")},
                    0); // every device counts the same steps
    }
}

void cpu(const Settings& settings) {
    const Table chips("Hotspot on the processor, 300 iterations [s]", "size", {"OpenMP", "Headrace"},
                      settings.repeats);
    for (const int size : settings.sizes)
        chips.pairs(std::to_string(size),
                    {baseline("hotspot_openmp", chip(settings, size, 300)),
                     our_hotspot(settings, size, 300, "async", "cpu")},
                    of_a_mean);
    const Table zooms("The zoom on the processor, 200 frames of 16:9 [s]", "width", {"OpenMP", "Headrace"},
                      settings.repeats);
    for (const int width : settings.widths)
        zooms.pairs(std::to_string(width),
                    {baseline("mandelbrot_openmp", zoom(settings, width, settings.frame_threads)),
                     headrace_program("headrace-mandelbrot",
                                      zoom(settings, width, settings.frame_threads) + " --devices cpu")},
                    0);
}

} // namespace

int main(int argc, char** argv) try {
    Settings settings;
    bench::CommandLine app(
        "Hotspot and the zoom: Headrace beside programs written by hand. Tables go to stdout.");
    app.add("--tables", settings.tables, "sizes, iterations, frames, cpu, opencl")
        .with_commas()
        .one_of({"sizes", "iterations", "frames", "cpu", "opencl"});
    app.add("--sizes", settings.sizes, "of Hotspot").with_commas();
    app.add("--iterations", settings.iterations, "of Hotspot").with_commas();
    app.add("--widths", settings.widths, "of frames").with_commas();
    app.add("--out", settings.folder, "where frames go; none are written otherwise");
    app.add("--device", settings.device, "of Headrace; baselines use CUDA's first");
    app.add("--opencl", settings.opencl, "device of --tables opencl");
    app.add("--opencl-number", settings.opencl_number, "the same one's place in the loader's order");
    app.add("--host-threads", settings.host_threads, "of Hotspot");
    app.add("--frame-threads", settings.frame_threads, "of the zoom");
    app.add("--repeat", settings.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", settings.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    std::string command = "frame_programs";
    for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
    fmt::print("`{}`\n\nCommit {}; medians (least to most) of {} turns after a warm-up\n", command,
               settings.commit, settings.repeats);
    const auto wants = [&](const char* name) { return std::ranges::count(settings.tables, name) > 0; };
    if (wants("sizes") || wants("iterations") || wants("frames")) {
        Contestant least = baseline("hotspot_cuda_sync", "--size 1 --iterations 1");
        least.take_turn(true);
        fmt::print("\nOn {}\n", least.device);
    }
    if (wants("sizes")) sizes(settings);
    if (wants("iterations")) iterations(settings);
    if (wants("frames")) frames(settings);
    if (wants("cpu")) cpu(settings);
    if (wants("opencl")) opencl(settings);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "frame_programs: " << error.what() << '\n';
    return 1;
}
