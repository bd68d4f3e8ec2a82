// bench/optical_flow.cpp - how long does the flow from one frame to the next one take, with its norm on the
// host?
//
// A plain CUDA program, and Headrace on sets of devices ("cuda:0,cuda:1*3@parts"), take turns in one process;
// the first turn is dropped. Before, each must find the flow of a small pair of frames that a serial program
// in double precision finds. Frames are generated, and in pinned memory before the clock starts. Prints a
// Markdown table of medians, and fails if contestants disagree. Of sets whose members are there alone, too:
// speed-up S over the fastest of these, what was to be expected, Se, the sum of all their speeds, and
// efficiency S / Se.
#include "apps/optical_flow_reference.hpp"
#include "command_line.hpp"
#include "device_set.hpp"
#include "optical_flow/generated_frames.hpp"
#include "optical_flow/norm.hpp"
#include "optical_flow_baseline.hpp"
#include "optical_flow_headrace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::FlowProblem;
using bench::FlowProgram;

struct Options {
    FlowProblem problem{.size = {1920, 1080}};
    std::vector<std::size_t> frames{20};
    std::vector<std::string> sets{"cuda:0"};
    bool has_baseline = true;
    std::size_t at_once = 0; ///< whole pairs, on a device
    unsigned repeats = 5;
    std::string commit = "unknown";
};

struct Contestant {
    std::string name;
    std::function<std::unique_ptr<FlowProgram>(const FlowProblem&, std::size_t frames)> make;
};

std::vector<Contestant> contestants(const Options& options) {
    std::vector<Contestant> all;
#if defined(BENCH_HAS_CUDA)
    if (options.has_baseline) all.push_back({"plain CUDA", bench::optical_flow_cuda});
#endif
    for (const std::string& set : options.sets)
        all.push_back({set, [set, at_once = options.at_once](const FlowProblem& problem, std::size_t frames) {
                           return bench::optical_flow_headrace(set, problem, frames, at_once);
                       }});
    return all;
}

std::unique_ptr<FlowProgram> with_frames(const Contestant& contestant, const FlowProblem& problem,
                                         std::size_t frames) {
    auto program = contestant.make(problem, frames);
    for (std::size_t i = 0; i < frames; ++i)
        optical_flow::generate(static_cast<std::int64_t>(i), problem.size, program->frame(i));
    return program;
}

// ---- is it right?

// The hardware's filter has weights of 8 bits, so what lies between pixels is off by up to 1/512 of their
// difference in either direction. Of a brightness that is off by d, a step makes d / (2 sqrt(alpha)) pixels
// at most. With weights rounded so, and all else in floats, vectors came out 0.0022 pixels off here, and
// 0.000004 without; at an alpha of 0.01 they were 0.047 off, which would hide mistakes.
constexpr float checked_alpha = 0.1f;
constexpr double tolerance = 0.01; // pixels

void check(const Contestant& contestant) {
    const FlowProblem problem{
        .size = {61, 47}, .levels = 3, .warps = 2, .iterations = 30, .alpha = checked_alpha};
    constexpr std::size_t frames = 6; // more than there is room for on a device
    const auto program = with_frames(contestant, problem, frames);
    const auto frame = [&](std::size_t number) {
        const std::span<const float> brightness = program->frame(number);
        return std::vector<double>(brightness.begin(), brightness.end());
    };
    double worst = 0;
    std::size_t taken = 0;
    program->run([&](std::size_t pair, std::span<const float> u, std::span<const float> v) {
        if (pair != taken++) throw std::runtime_error(contestant.name + " mixes up pairs");
        const auto [right_u, right_v] =
            optical_flow::test::flow_of(frame(pair), frame(pair + 1), problem.size, problem.levels,
                                        problem.warps, problem.iterations, double{problem.alpha});
        for (std::size_t i = 0; i < u.size(); ++i)
            for (const double off : {u[i] - right_u[i], v[i] - right_v[i]})
                worst = std::isfinite(off) ? std::max(worst, std::abs(off)) : off;
    });
    if (taken != frames - 1) throw std::runtime_error(contestant.name + " leaves out pairs");
    fmt::print("{}: at {} x {}, no vector is off by more than {:.2g} pixels in either direction\n",
               contestant.name, problem.size.width, problem.size.height, worst);
    if (!(worst <= tolerance)) throw std::runtime_error(contestant.name + " finds another flow");
}

// ---- how long does it take?

struct Turns {
    std::string name;
    std::unique_ptr<FlowProgram> program;
    std::vector<double> seconds{}; ///< of one pair, by turns
    std::vector<double> norms{};   ///< of the last turn, by pairs

    void take_turn(std::size_t pairs, bool counts) {
        norms.clear();
        const auto begin = std::chrono::steady_clock::now();
        program->run([&](std::size_t, std::span<const float> u, std::span<const float> v) {
            norms.push_back(optical_flow::norm(u, v)); // what every contestant's host does
        });
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (norms.size() != pairs) throw std::runtime_error(name + " leaves out pairs");
        if (counts) seconds.push_back(passed.count() / static_cast<double>(pairs));
    }
    [[nodiscard]] double median() const {
        std::vector<double> sorted = seconds;
        std::ranges::sort(sorted);
        return sorted[sorted.size() / 2];
    }
};

/// "S | Se | S / Se" of a set whose members have rows of their own.
std::string gain(const Turns& set, const std::vector<Turns>& rows) {
    double fastest = std::numeric_limits<double>::infinity(), speeds = 0;
    const auto devices = bench::members(set.name.substr(0, set.name.find('@')));
    for (const std::string& member : devices) {
        const auto alone = std::ranges::find(rows, member, &Turns::name);
        if (devices.size() < 2 || alone == rows.end()) return "- | - | -";
        fastest = std::min(fastest, alone->median());
        speeds += 1 / alone->median();
    }
    const double gained = fastest / set.median(), expected = fastest * speeds;
    return fmt::format("{:.3f} | {:.3f} | {:.3f}", gained, expected, gained / expected);
}

void compare(const std::vector<Contestant>& all, const Options& options, std::size_t frames) {
    const FlowProblem& problem = options.problem;
    std::vector<Turns> row;
    for (const Contestant& contestant : all)
        row.push_back({contestant.name, with_frames(contestant, problem, frames)});
    fmt::print("\n{}, commit {}; {} frames of {} x {}, {} levels, {} warps, {} iterations, alpha {}; medians "
               "(least to most) of {} turns after a warm-up\n\n",
               row.front().program->device(), options.commit, frames, problem.size.width, problem.size.height,
               problem.levels, problem.warps, problem.iterations, problem.alpha, options.repeats);
    for (unsigned turn = 0; turn <= options.repeats; ++turn)
        for (Turns& each : row) each.take_turn(frames - 1, turn > 0);
    fmt::print("| size | program | a pair [ms] | speed | S | Se | S / Se | norm of the first |\n"
               "|---|---|---|---|---|---|---|---|\n");
    for (const Turns& each : row) {
        const auto [least, most] = std::ranges::minmax(each.seconds);
        fmt::print("| {} x {} | {} | {:.3f} ({:.3f} to {:.3f}) | {:.3f} | {} | {:.3f} |\n",
                   problem.size.width, problem.size.height, each.name, 1e3 * each.median(), 1e3 * least,
                   1e3 * most, row.front().median() / each.median(), gain(each, row), each.norms.front());
    }
    std::fflush(stdout);
    // Filters and orders of sums may differ.
    const double at_most = tolerance * std::sqrt(2.0 * static_cast<double>(problem.size.pixels()));
    for (const Turns& each : row)
        for (std::size_t pair = 0; pair < each.norms.size(); ++pair)
            if (!(std::abs(each.norms[pair] - row.front().norms[pair]) <= at_most))
                throw std::runtime_error(fmt::format("{} says {} of pair {}, {} says {}", row.front().name,
                                                     row.front().norms[pair], pair, each.name,
                                                     each.norms[pair]));
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    FlowProblem& problem = options.problem;
    bench::CommandLine app(
        "Optical flow of generated frames, in plain CUDA on the first device and by Headrace.",
        "optical_flow");
    app.add("--width", problem.size.width).range(1, optical_flow::longest_side);
    app.add("--height", problem.size.height).range(1, optical_flow::longest_side);
    app.add("--frames", options.frames, "a table for each").range(2, 10'000);
    app.add("--sets", options.sets, "of devices: cuda:0, cuda:0,cuda:1*3 (slower), @whole, @parts");
    app.flag("!--no-baseline", options.has_baseline, "without the plain CUDA program");
    app.add("--levels", problem.levels).range(1, 16);
    app.add("--warps", problem.warps, "on each level").range(1, 100);
    app.add("--iterations", problem.iterations, "of the solver after each warp").range(1, 100'000);
    app.add("--at-once", options.at_once, "whole pairs on a device; 0: as many as fill it").range(0, 64);
    app.add("--alpha", problem.alpha, "how smooth the flow is").positive();
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    const std::vector<Contestant> all = contestants(options);
    for (const Contestant& contestant : all) check(contestant);
    for (const std::size_t frames : options.frames) compare(all, options, frames);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "optical_flow: " << error.what() << '\n';
    return 1;
}
