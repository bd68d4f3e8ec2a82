// bench/recursion.cpp - how fast is the engine on irregular, recursive work, beside what an expert would
// write by hand: with oneTBB on the processor, in plain CUDA on a GPU?
//
// Both contestants of a row take turns in one process; the first turn is dropped. They must find the same, or
// the program fails. Times are the host's, from the first request until it knows that all is done. Prints a
// Markdown table of medians.
#include "recursion.hpp"
#include "command_line.hpp"

#include <headrace/headrace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace bench;

struct Options {
    std::string device = "cpu", commit = "unknown";
    std::vector<std::string> rows;
    unsigned turns = 7;
    std::uint32_t queens = 0; // 0: as the device is fast
    std::uint32_t leaf_rows = 5;
    std::uint64_t trees = 0; // the same
    std::uint32_t leaf_depth = 8;
    std::uint64_t parts = 100'000;
    std::uint32_t leaf_halvings = 2;
    std::uint32_t width = 512, leaf_side = 16;
    std::uint32_t side = 2000, band = 64, plain_band = 64;

    [[nodiscard]] bool wants(const std::string& row) const {
        return rows.empty() || std::ranges::find(rows, row) != rows.end();
    }
};

struct Contestant {
    std::string name;
    std::function<RecursionTurn()> take_turn;
    std::vector<double> seconds{}, kernel_seconds{};
};

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

std::string summary(const std::vector<double>& values, double unit) {
    const auto [least, most] = std::ranges::minmax(values);
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", median(values) / unit, least / unit, most / unit);
}

/// By hand, then ours.
class Table {
public:
    explicit Table(unsigned turns) : turns_(turns) {
        fmt::print(
            "| what | program | job [ms] | in kernels [ms] | times as long |\n|---|---|---|---|---|\n");
    }

    void row(const std::string& what, Contestant by_hand, Contestant ours) const {
        std::vector<double> ratios; // of neighbours, which have seen the same machine
        for (unsigned turn = 0; turn <= turns_; ++turn) {
            const RecursionTurn first = by_hand.take_turn(), second = ours.take_turn();
            check(what, first.found, second.found);
            if (turn == 0) continue;
            keep(by_hand, first);
            keep(ours, second);
            ratios.push_back(second.seconds / first.seconds);
        }
        print(what, by_hand, "1");
        print(what, ours, summary(ratios, 1));
        std::fflush(stdout);
    }

private:
    static void keep(Contestant& contestant, const RecursionTurn& turn) {
        contestant.seconds.push_back(turn.seconds);
        contestant.kernel_seconds.push_back(turn.kernel_seconds);
    }
    static void print(const std::string& what, const Contestant& contestant, const std::string& ratio) {
        fmt::print("| {} | {} | {} | {} | {} |\n", what, contestant.name, summary(contestant.seconds, 1e-3),
                   median(contestant.kernel_seconds) > 0
                       ? fmt::format("{:.3f}", 1e3 * median(contestant.kernel_seconds))
                       : "-",
                   ratio);
    }
    static void check(const std::string& what, const Found& one, const Found& other) {
        const bool same = one.count == other.count && one.depth == other.depth && one.map == other.map &&
                          std::abs(one.integral - other.integral) <= 1e-9 * std::abs(one.integral);
        if (!same)
            throw std::runtime_error(fmt::format("{}: by hand {}, depth {}, integral {}; Headrace {}, depth "
                                                 "{}, integral {}; maps are {}",
                                                 what, one.count, one.depth, one.integral, other.count,
                                                 other.depth, other.integral,
                                                 one.map == other.map ? "the same" : "different"));
    }

    unsigned turns_;
};

// ---- beside oneTBB

void beside_tbb(headrace::Runtime& runtime, const Options& options) {
    const Table table(options.turns);
    const auto both = [&](const std::string& row, const std::string& what, const auto& by_hand,
                          const auto& ours, const auto& problem) {
        if (options.wants(row))
            table.row(what, {"oneTBB", [&] { return by_hand(problem); }},
                      {"Headrace", [&] { return ours(runtime, problem); }});
    };
    const std::uint32_t few = options.queens != 0 ? options.queens : 12;
    const auto queens = [&](const std::string& grain, std::uint32_t leaf_rows) {
        both("queens", fmt::format("{} queens, {}", few, grain), tbb_queens, headrace_queens,
             QueensProblem{few, leaf_rows});
    };
    queens("each board", 0);
    queens(fmt::format("leaves of {} rows", options.leaf_rows), options.leaf_rows);

    const std::uint64_t many = options.trees != 0 ? options.trees : 20'000;
    const auto trees = [&](const std::string& grain, std::uint32_t leaf_depth) {
        both("trees", fmt::format("{} unbalanced trees, {}", many, grain), tbb_trees, headrace_trees,
             TreesProblem{many, leaf_depth});
    };
    trees("each node", 0);
    trees(fmt::format("leaves from depth {} on", options.leaf_depth), options.leaf_depth);

    constexpr double tolerance = 3e-10; // near what rounding allows: less would not end
    const auto quadrature = [&](const std::string& grain, double leaf_length) {
        both("quadrature", fmt::format("quadrature of {} parts, {}", options.parts, grain), tbb_quadrature,
             headrace_quadrature, QuadratureProblem{options.parts, tolerance, leaf_length});
    };
    quadrature("each interval", 0);
    // A little more than the length, which is rounded.
    quadrature(fmt::format("leaves of a part halved {} times", options.leaf_halvings),
               1.0001 * std::ldexp(1 / static_cast<double>(options.parts),
                                   -static_cast<int>(options.leaf_halvings)));

    const auto squares = [&](const std::string& grain, std::uint32_t leaf_side) {
        both("squares", fmt::format("Mariani-Silver, {} pixels in a row, {}", options.width, grain),
             tbb_squares, headrace_squares, SquaresProblem{options.width, leaf_side});
    };
    squares("each square", 0);
    squares(fmt::format("leaves of {} pixels", options.leaf_side), options.leaf_side);
}

// ---- beside plain CUDA

#if defined(BENCH_HAS_CUDA)
/// The example's, which are a sequence; a shuffle of bits makes them as good as random.
std::vector<std::uint32_t> random_costs(std::uint32_t side) {
    std::vector<std::uint32_t> costs(std::size_t{side} * side);
    for (std::uint32_t i = 0; i < costs.size(); ++i) {
        std::uint32_t x = i * 0x9e3779b9u;
        x = (x ^ x >> 16) * 0x85ebca6bu;
        x = (x ^ x >> 13) * 0xc2b2ae35u;
        costs[i] = 1 + (x ^ x >> 16) % dearest;
    }
    return costs;
}

void beside_cuda(headrace::Runtime& runtime, const Options& options) {
    const Table table(options.turns);
    if (options.wants("queens")) {
        const QueensProblem problem{options.queens != 0 ? options.queens : 16, 0};
        table.row(fmt::format("{} queens, each board", problem.queens),
                  {"plain CUDA", [&] { return cuda_queens(problem); }},
                  {"Headrace", [&] { return headrace_queens(runtime, problem); }});
    }
    if (options.wants("trees")) {
        const TreesProblem problem{options.trees != 0 ? options.trees : 2'000'000, 0};
        table.row(fmt::format("{} unbalanced trees, each node", problem.trees),
                  {"plain CUDA", [&] { return cuda_trees(problem); }},
                  {"Headrace", [&] { return headrace_trees(runtime, problem); }});
    }
    if (options.wants("paths")) {
        const std::vector<std::uint32_t> costs = random_costs(options.side);
        table.row(fmt::format("shortest paths on {0} x {0} fields", options.side),
                  {fmt::format("plain CUDA, bands of {}", options.plain_band),
                   [&] {
                       return cuda_paths({options.side, options.plain_band, costs});
                   }},
                  {fmt::format("Headrace, bands of {}", options.band),
                   headrace_paths(runtime, {options.side, options.band, costs})});
    }
}
#endif

void run(const Options& options) {
    headrace::Runtime runtime({.devices = options.device});
    fmt::print("{}, {}, {} processors, commit {}; medians (least to most) of {} turns after a warm-up\n\n",
               runtime.devices().front()->name, runtime.devices().front()->driver,
               std::thread::hardware_concurrency(), options.commit, options.turns);
    if (options.device == "cpu") return beside_tbb(runtime, options);
#if defined(BENCH_HAS_CUDA)
    if (options.device == "cuda:0") return beside_cuda(runtime, options);
#endif
    throw std::runtime_error("nothing by hand for " + options.device);
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    bench::CommandLine app("Irregular, recursive work beside oneTBB (on cpu) and plain CUDA (on cuda:0).");
    app.add("--device", options.device, "cpu or cuda:0");
    app.add("--rows", options.rows, "all, unless some are named")
        .with_commas()
        .one_of({"queens", "trees", "quadrature", "squares", "paths"});
    app.add("--turns", options.turns, "after the first, which warms up").range(1, 1000);
    app.add("--queens", options.queens, "12 on cpu and 16 on cuda:0, unless it is said").range(4, 20);
    app.add("--leaf-rows", options.leaf_rows, "free rows of a leaf").range(1, 20);
    app.add("--trees", options.trees, "20000 on cpu and 2000000 on cuda:0, unless it is said").positive();
    app.add("--leaf-depth", options.leaf_depth, "of trees").positive();
    app.add("--parts", options.parts, "intervals of the quadrature at the beginning").positive();
    app.add("--leaf-halvings", options.leaf_halvings, "of such an interval until it is a leaf").range(0, 30);
    app.add("--width", options.width, "pixels in a row of the Mandelbrot set, a multiple of 64")
        .range(64, 32768);
    app.add("--leaf-side", options.leaf_side, "pixels in a row of a leaf: 4 to 32").range(4, 32);
    app.add("--side", options.side, "fields in a row of the map").range(1, 20000);
    app.add("--band", options.band, "of distances, for a job").range(std::uint32_t{dearest}, 1u << 20);
    app.add("--plain-band", options.plain_band, "the same for plain CUDA")
        .range(std::uint32_t{dearest}, 1u << 20);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        options.width = options.width / 64 * 64;
        run(options);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "recursion: " << error.what() << '\n';
        return 1;
    }
}
