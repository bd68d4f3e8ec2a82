// bench/recursion_tbb.cpp - the problems by hand on oneTBB: a task for each board, node, interval or square
// that is not part of a leaf.
//
// All tasks of a problem are in one group: no task waits for those that it made, which is faster than a group
// in each. Results are in variables of the threads, added up in the end.
#include "recursion.hpp"
#include "recursion.kernels.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <chrono>
#include <functional>

namespace bench {
namespace {

template <class Result>
using OfThreads = tbb::enumerable_thread_specific<Result>;

/// solve() until it has returned, and what it found.
RecursionTurn timed(Found& found, const std::function<void()>& solve) {
    const auto begin = std::chrono::steady_clock::now();
    solve();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {took.count(), 0, std::move(found)};
}

class Queens {
public:
    explicit Queens(const QueensProblem& problem)
        : all_((1u << problem.queens) - 1), leaf_rows_(problem.leaf_rows) {}

    std::uint64_t count() {
        group_.run([this] { place({0, 0, 0, all_}); });
        group_.wait();
        return full_.combine(std::plus<>{});
    }

private:
    void place(Board board) {
        if (free_rows(all_, board.columns) <= leaf_rows_) {
            full_.local() += full_boards(all_, board);
            return;
        }
        std::uint64_t full = 0;
        for (; board.places != 0; board.places &= board.places - 1) {
            const std::uint32_t queen = board.places & (0 - board.places);
            Board child{board.columns | queen, (board.left | queen) << 1, (board.right | queen) >> 1, 0};
            child.places = all_ & ~(child.columns | child.left | child.right);
            if (child.columns == all_) ++full;
            if (child.places != 0) group_.run([this, child] { place(child); });
        }
        if (full != 0) full_.local() += full;
    }

    std::uint32_t all_, leaf_rows_;
    OfThreads<std::uint64_t> full_{std::uint64_t{0}};
    tbb::task_group group_;
};

class TreeSearch {
public:
    explicit TreeSearch(const TreesProblem& problem)
        : trees_(problem.trees), leaf_depth_(problem.leaf_depth == 0 ? ~0u : problem.leaf_depth) {}

    Below search() {
        tbb::parallel_for(std::uint64_t{0}, trees_, [this](std::uint64_t tree) { visit(Trees{}(tree)); });
        group_.wait();
        Below all{trees_, 1};
        for (const Below& one : below_) {
            all.nodes += one.nodes;
            all.depth = std::max(all.depth, one.depth);
        }
        return all;
    }

private:
    void visit(Node node) {
        if (node.depth >= leaf_depth_) return search_below(node, below_.local());
        const std::uint64_t children = children_of(node);
        if (children == 0) return;
        Below& below = below_.local();
        below.nodes += children;
        below.depth = std::max(below.depth, node.depth + 1);
        for (std::uint64_t i = 0; i < children; ++i)
            group_.run([this, child = Child{}(i, node)] { visit(child); });
    }

    std::uint64_t trees_;
    std::uint32_t leaf_depth_;
    OfThreads<Below> below_;
    tbb::task_group group_;
};

class Quadrature {
public:
    explicit Quadrature(const QuadratureProblem& problem) : problem_(problem) {}

    double integrate() {
        const Parts parts{static_cast<double>(problem_.parts)};
        tbb::parallel_for(std::uint64_t{0}, problem_.parts, [&](std::uint64_t i) { visit(parts(i)); });
        group_.wait();
        return sum_.combine(std::plus<>{});
    }

private:
    void visit(Interval x) {
        if (x.b - x.a <= problem_.leaf_length) {
            sum_.local() += integral_of(x, problem_.tolerance);
            return;
        }
        double integral, middle;
        if (is_exact(x, problem_.tolerance, integral, middle)) {
            sum_.local() += integral;
        } else {
            group_.run([this, half = Interval{x.a, middle}] { visit(half); });
            group_.run([this, half = Interval{middle, x.b}] { visit(half); });
        }
    }

    QuadratureProblem problem_;
    OfThreads<double> sum_{0.0};
    tbb::task_group group_;
};

class Drawing {
public:
    Drawing(const SquaresProblem& problem, std::vector<std::uint32_t>& map)
        : leaf_side_(problem.leaf_side),
          draw_{{map.data(), {{problem.width, problem.width, 1}}}, problem.width} {}

    void draw() {
        const std::uint32_t in_row = draw_.width / 64;
        tbb::parallel_for(0u, in_row * in_row, [&](std::uint32_t i) { visit(Squares{in_row}(i)); });
        group_.wait();
    }

private:
    /// What the kernel sees as its lane: each square that it spawns is a task.
    struct Lane {
        Drawing& drawing;
        void spawn(Square square) {
            drawing.group_.run([&drawing = drawing, square] { drawing.visit(square); });
        }
    };
    void visit(Square square) {
        Lane lane{*this};
        DrawSquareWithLeaves{draw_, leaf_side_}(lane, square);
    }

    std::uint32_t leaf_side_;
    DrawSquare draw_;
    tbb::task_group group_;
};

} // namespace

RecursionTurn tbb_queens(const QueensProblem& problem) {
    Found found;
    return timed(found, [&] { found.count = Queens(problem).count(); });
}

RecursionTurn tbb_trees(const TreesProblem& problem) {
    Found found;
    return timed(found, [&] {
        const Below below = TreeSearch(problem).search();
        found.count = below.nodes;
        found.depth = below.depth;
    });
}

RecursionTurn tbb_quadrature(const QuadratureProblem& problem) {
    Found found;
    return timed(found, [&] { found.integral = Quadrature(problem).integrate(); });
}

RecursionTurn tbb_squares(const SquaresProblem& problem) {
    Found found;
    found.map.resize(std::size_t{problem.width} * problem.width);
    return timed(found, [&] { Drawing(problem, found.map).draw(); });
}

} // namespace bench
