// bench/tasks/main.cpp - what does a task cost that does next to nothing? Headrace's levels beside oneTBB and
// StarPU, on the processor: independent tasks and a chain, without data and with a datum that is kept
// coherent.
//
// Programs take turns; the first turn is dropped. Times are the host's, from making the first task until all
// have ended; what each task has to do is checked. Prints a Markdown table of medians.
// With --waiting: what jobs that wait cost the job that they wait for.
#include "command_line.hpp"
#include "programs.hpp"
#include "waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace {

using namespace bench;

struct Options {
    std::string commit = "unknown", only;
    std::size_t tasks = 10000, waiting = 0;
    unsigned repeats = 9;
};

/// Microseconds of a task.
double take_turn(const Program& program, std::span<Line> lines) {
    std::ranges::fill(lines, Line{0});
    const std::shared_ptr<void> prepared = program.prepare ? program.prepare() : nullptr;
    const auto begin = std::chrono::steady_clock::now();
    program.run();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    for (const Line& line : lines)
        if (line.marks != (!program.pattern.is_chain ? 1 : &line == lines.data() ? lines.size() : 0))
            throw std::runtime_error(program.name + " leaves other marks");
    return took.count() / static_cast<double>(lines.size());
}

/// "0.31 (0.29 to 0.45)": median, least, most.
std::string summary(std::vector<double> values) {
    if (values.empty()) return "-";
    std::ranges::sort(values);
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", values[values.size() / 2], values.front(), values.back());
}

/// The columns, in their order.
std::size_t column(Pattern pattern) { return (pattern.has_data ? 2 : 0) + (pattern.is_chain ? 1 : 0); }

void run(const Options& options) {
    std::vector<Line> lines(options.tasks);
    std::vector<Program> programs = on_tbb(lines);
    std::ranges::move(on_headrace(lines), std::back_inserter(programs));
#if defined(BENCH_HAS_STARPU)
    std::ranges::move(on_starpu(lines), std::back_inserter(programs));
#endif
    std::erase_if(programs,
                  [&](const Program& one) { return one.name.find(options.only) == std::string::npos; });

    std::vector<std::string> names;
    std::map<std::string, std::array<std::vector<double>, 4>> times;
    for (unsigned turn = 0; turn <= options.repeats; ++turn)
        for (const Program& program : programs) {
            if (!times.contains(program.name)) names.push_back(program.name);
            auto& cell = times[program.name][column(program.pattern)];
            const double time = take_turn(program, lines);
            if (turn > 0) cell.push_back(time);
        }

    fmt::print("Commit {}, {} threads, {} tasks, median of {} turns (least to most), us for each task.\n\n",
               options.commit, std::thread::hardware_concurrency(), options.tasks, options.repeats);
    fmt::print("| program | independent | chain | independent, a datum each | chain on a datum |\n"
               "|---|---|---|---|---|\n");
    for (const std::string& name : names) {
        fmt::print("| {} |", name);
        for (const auto& cell : times[name]) fmt::print(" {} |", summary(cell));
        fmt::print("\n");
    }
}

/// A job alone and before others in turns.
void run_waiting(const Options& options) {
    std::vector<double> alone, before_others, ratios, bytes;
    for (unsigned turn = 0; turn <= options.repeats; ++turn) {
        const WaitingTurn one = run_before_waiting_jobs(0), all = run_before_waiting_jobs(options.waiting);
        if (turn == 0) continue;
        alone.push_back(1e3 * one.seconds);
        before_others.push_back(1e3 * all.seconds);
        ratios.push_back(all.seconds / one.seconds);
        bytes.push_back(all.bytes_each);
    }
    fmt::print("Commit {}, {} threads, median of {} turns (least to most).\n\n"
               "| jobs that wait | the job alone, ms | before them, ms | ratio | bytes of one that waits |\n"
               "|---|---|---|---|---|\n"
               "| {} | {} | {} | {} | {} |\n",
               options.commit, std::thread::hardware_concurrency(), options.repeats, options.waiting,
               summary(alone), summary(before_others), summary(ratios), summary(bytes));
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    bench::CommandLine app{"What a task costs that does next to nothing."};
    app.add("--tasks", options.tasks, "in each turn").range(1, 1'000'000);
    app.add("--waiting", options.waiting, "jobs behind one that runs; then only what they cost it")
        .range(0, 1'000'000);
    app.add("--repeats", options.repeats, "turns, after one of warm-up").range(5, 1000);
    app.add("--only", options.only, "programs with this in their name");
    app.add("--commit", options.commit, "for the table");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        options.waiting > 0 ? run_waiting(options) : run(options);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "tasks: " << error.what() << '\n';
        return 1;
    }
}
