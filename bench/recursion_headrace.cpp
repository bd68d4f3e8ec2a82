// bench/recursion_headrace.cpp - the problems with the kernels of apps/examples, as jobs. Domains are made
// before the clock starts, as the memory of the programs by hand is.
#include "recursion.hpp"
#include "recursion.kernels.hpp"

#include <headrace/headrace.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace bench {
namespace {

using namespace headrace;

/// A job from its submission to its end.
RecursionTurn run(Runtime& runtime, const Job& job) {
    const auto begin = std::chrono::steady_clock::now();
    const JobHandle handle = runtime.submit(job);
    handle.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {took.count(), handle.report().devices.front().busy_seconds, {}};
}

} // namespace

RecursionTurn headrace_queens(Runtime& runtime, const QueensProblem& problem) {
    const std::uint32_t all = (1u << problem.queens) - 1;
    const Domain<std::uint64_t> solutions("solutions", {1});
    Job job("n-queens", problem.queens);
    job.accumulates(solutions);
    if (problem.leaf_rows == 0)
        job.seeds(FirstQueens{}).kernel([&](Task& t) { return PlaceQueens{t.sum(solutions), all}; });
    else
        job.seeds(FirstQueens{}).kernel([&](Task& t) {
            return PlaceQueensWithLeaves{{t.sum(solutions), all}, problem.leaf_rows};
        });
    RecursionTurn turn = run(runtime, job);
    turn.found.count = solutions.gather()[0];
    return turn;
}

RecursionTurn headrace_trees(Runtime& runtime, const TreesProblem& problem) {
    const Domain<std::uint64_t> nodes("nodes", {1});
    const Domain<std::uint32_t> depth("depth", {1});
    nodes.fill()[0] = problem.trees; // the roots
    depth.fill()[0] = 1;
    Job job("tree search", problem.trees);
    job.accumulates(nodes).reduces<Max>(depth);
    if (problem.leaf_depth == 0)
        job.seeds(Trees{}).kernel([&](Task& t) { return Search{t.sum(nodes), t.reduce<Max>(depth)}; });
    else
        job.seeds(Trees{}).kernel([&](Task& t) {
            return SearchWithLeaves{{t.sum(nodes), t.reduce<Max>(depth)}, problem.leaf_depth};
        });
    RecursionTurn turn = run(runtime, job);
    turn.found.count = nodes.gather()[0];
    turn.found.depth = depth.gather()[0];
    return turn;
}

RecursionTurn headrace_quadrature(Runtime& runtime, const QuadratureProblem& problem) {
    const Domain<double> integral("integral", {1});
    Job job("quadrature", problem.parts);
    job.accumulates(integral);
    const Parts parts{static_cast<double>(problem.parts)};
    if (problem.leaf_length == 0)
        job.seeds(parts).kernel([&](Task& t) { return Integrate{t.sum(integral), problem.tolerance}; });
    else
        job.seeds(parts).kernel([&](Task& t) {
            return IntegrateWithLeaves{{t.sum(integral), problem.tolerance}, problem.leaf_length};
        });
    RecursionTurn turn = run(runtime, job);
    turn.found.integral = integral.gather()[0];
    return turn;
}

RecursionTurn headrace_squares(Runtime& runtime, const SquaresProblem& problem) {
    const std::uint64_t in_row = problem.width / 64;
    const Domain<std::uint32_t> steps("steps", {problem.width, problem.width});
    std::ranges::fill(steps.fill(), 0); // as the map by hand: its pages are there
    Job job("mariani-silver", in_row * in_row);
    job.scatters(steps);
    if (problem.leaf_side == 0)
        job.seeds(Squares{static_cast<std::uint32_t>(in_row)}).kernel([&](Task& t) {
            return DrawSquare{t.scatter(steps), problem.width};
        });
    else
        job.seeds(Squares{static_cast<std::uint32_t>(in_row)}).kernel([&](Task& t) {
            return DrawSquareWithLeaves{{t.scatter(steps), problem.width}, problem.leaf_side};
        });
    RecursionTurn turn = run(runtime, job);
    const std::span<const std::uint32_t> map = steps.gather();
    turn.found.map.assign(map.begin(), map.end());
    return turn;
}

std::function<RecursionTurn()> headrace_paths(Runtime& runtime, const PathsProblem& problem) {
    const std::uint64_t side = problem.side, fields = side * side;
    const Domain<std::uint32_t> costs("costs", {side, side}), distances("distances", {side, side});
    std::ranges::copy(problem.costs, costs.fill().begin());
    // Domains of all turns: as with the program by hand, costs and memory are there when the clock starts.
    // Records cross the bus after each job: from pinned memory, as an expert's would.
    const auto pinned = [&](const char* name) {
        return Domain<Step>(name, {fields}, runtime.allocate_host(fields * sizeof(Step)));
    };
    return [=, &runtime, open = pinned("open"), next = pinned("next")]() mutable {
        std::ranges::fill(distances.fill(), ~0u);
        open.assign(std::vector<Step>{{0, 0}});
        RecursionTurn turn{};
        const auto begin = std::chrono::steady_clock::now();
        std::uint64_t records = open.count();
        for (std::uint32_t to = problem.band; records != 0; to += problem.band) {
            next.clear();
            Job job("shortest paths", records);
            job.reads(costs, open).reduces<Min>(distances).appends(next);
            job.seeds(Records{}).kernel([&](Task& t) {
                return WalkAtOnce{{t.read(costs), t.read(open), t.reduce<Min>(distances), t.append(next),
                                   problem.side, to}};
            });
            turn.kernel_seconds += run(runtime, job).kernel_seconds;
            std::swap(open, next);
            records = open.count();
        }
        turn.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const std::span<const std::uint32_t> map = distances.gather();
        turn.found.map.assign(map.begin(), map.end());
        return turn;
    };
}

} // namespace bench
