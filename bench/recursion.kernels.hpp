// bench/recursion.kernels.hpp - the kernels of apps/examples, as they are, but for shortest paths; and the
// same with recursion at the leaves: what a unit of a tree's lower end would spawn, it does itself by calls.
//
// The leaves are plain functions, which the contestants by hand call as well. So both sides have the same
// tasks, and what differs is who makes and runs them.
#pragma once
#include "recursion_paths.kernels.hpp"

#include <examples/mariani_silver.kernels.hpp>
#include <examples/n_queens.kernels.hpp>
#include <examples/quadrature.kernels.hpp>
#include <examples/tree_search.kernels.hpp>

namespace bench {

// ---- boards

HEADRACE_HOST_DEVICE inline std::uint32_t free_rows(std::uint32_t all, std::uint32_t columns) {
    std::uint32_t rows = 0;
    for (std::uint32_t left = all & ~columns; left != 0; left &= left - 1) ++rows;
    return rows;
}

/// How many boards become full when a queen stands on any of the places.
HEADRACE_HOST_DEVICE inline std::uint64_t full_boards(std::uint32_t all, Board board) {
    std::uint64_t full = 0;
    for (; board.places != 0; board.places &= board.places - 1) {
        const std::uint32_t queen = board.places & (0 - board.places);
        Board child{board.columns | queen, (board.left | queen) << 1, (board.right | queen) >> 1, 0};
        child.places = all & ~(child.columns | child.left | child.right);
        full += child.columns == all ? 1 : full_boards(all, child);
    }
    return full;
}

struct PlaceQueensWithLeaves {
    using Units = PlaceQueens::Units;
    PlaceQueens queens;
    std::uint32_t leaf_rows; ///< so many free rows are a leaf

    HEADRACE_KERNEL std::uint32_t local_sums() const { return queens.local_sums(); }
    HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t sum) const { return queens.sum_of(sum); }

    HEADRACE_KERNEL void operator()(auto& lane, Board board) const {
        if (free_rows(queens.all, board.columns) > leaf_rows) return queens(lane, board);
        lane.add(0, static_cast<std::uint32_t>(full_boards(queens.all, board)),
                 [&]() -> std::uint64_t& { return sum_of(0); });
    }
};

// ---- trees

/// The nodes below one, and the depth of the deepest.
struct Below {
    std::uint64_t nodes = 0;
    std::uint32_t depth = 0;
};

HEADRACE_HOST_DEVICE inline void search_below(Node node, Below& below) {
    const std::uint64_t children = children_of(node);
    if (children == 0) return;
    below.nodes += children;
    if (below.depth <= node.depth) below.depth = node.depth + 1;
    for (std::uint64_t i = 0; i < children; ++i) search_below(Child{}(i, node), below);
}

struct SearchWithLeaves {
    using Units = Search::Units;
    Search search;
    std::uint32_t leaf_depth; ///< nodes that deep are leaves, with all below them

    HEADRACE_KERNEL void operator()(auto& lane, Node node) const {
        if (node.depth < leaf_depth) return search(lane, node);
        Below below;
        search_below(node, below);
        if (below.nodes == 0) return;
        search.nodes.add(0, below.nodes);
        search.depth.combine(0, below.depth);
    }
};

// ---- intervals

/// The integral, and half the interval if that is not exact enough.
HEADRACE_HOST_DEVICE inline bool is_exact(Interval x, double tolerance, double& integral, double& middle) {
    middle = (x.a + x.b) / 2;
    const double whole = simpson(x.a, x.b);
    integral = simpson(x.a, middle) + simpson(middle, x.b);
    const double error = integral - whole, allowed = tolerance * (x.b - x.a);
    return error <= allowed && -error <= allowed;
}

HEADRACE_HOST_DEVICE inline double integral_of(Interval x, double tolerance) {
    double integral, middle;
    if (is_exact(x, tolerance, integral, middle)) return integral;
    return integral_of({x.a, middle}, tolerance) + integral_of({middle, x.b}, tolerance);
}

struct IntegrateWithLeaves {
    using Units = Integrate::Units;
    Integrate integrate;
    double leaf_length; ///< intervals no longer than that are leaves

    HEADRACE_KERNEL void operator()(auto& lane, Interval x) const {
        if (x.b - x.a > leaf_length)
            integrate(lane, x);
        else
            integrate.integral.add(0, integral_of(x, integrate.tolerance));
    }
};

// ---- squares

/// A lane for leaves: it draws what is spawned at once.
struct DrawingLane {
    const DrawSquare& draw;
    HEADRACE_HOST_DEVICE void spawn(Square square) { draw(*this, square); }
};

struct DrawSquareWithLeaves {
    using Units = DrawSquare::Units;
    DrawSquare draw;
    std::uint32_t leaf_side; ///< squares no larger than that are leaves

    HEADRACE_KERNEL void operator()(auto& lane, Square square) const {
        if (square.side > leaf_side) return draw(lane, square);
        DrawingLane leaf{draw};
        draw(leaf, square);
    }
};

} // namespace bench
