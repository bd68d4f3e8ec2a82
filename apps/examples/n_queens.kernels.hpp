// apps/examples/n_queens.kernels.hpp - a board is a work unit: its first queens, one in each row.
#pragma once
#include <headrace/kernel.hpp>

/// The rows before this one have their queens; bit i of each mask is column i of this row. `places` are free:
/// the lowest of them is this board's queen, the others are those of its siblings.
struct Board {
    std::uint32_t columns, left, right; ///< attacked: along columns and both diagonals
    std::uint32_t places;
};

/// Counts boards that are full. A board spawns at most two others, its next sibling and its first child,
/// instead of all its children: each lane has room for what one call may spawn, and little room is fast.
struct PlaceQueens {
    using Units = headrace::Kinds<headrace::Kind<Board, 2>>;
    static constexpr unsigned resident_lanes = 1024; // as many as have registers enough on a multiprocessor
    headrace::Sum<std::uint64_t> solutions;
    std::uint32_t all; ///< a bit for each column

    // The lanes of a GPU share a sum near them: there are millions of solutions.
    HEADRACE_KERNEL std::uint32_t local_sums() const { return 1; }
    HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t) const { return solutions.origin[0]; }

    HEADRACE_KERNEL void operator()(auto& lane, Board board) const {
        const std::uint32_t queen = board.places & (0 - board.places), siblings = board.places ^ queen;
        Board child{board.columns | queen, (board.left | queen) << 1, (board.right | queen) >> 1, 0};
        child.places = all & ~(child.columns | child.left | child.right);
        if (child.columns == all) lane.add(0, 1u, [&]() -> std::uint64_t& { return sum_of(0); });
        if (child.places != 0) lane.spawn(child);
        if (siblings != 0) lane.spawn(Board{board.columns, board.left, board.right, siblings});
    }
};

/// A queen in each place of the first row.
struct FirstQueens {
    HEADRACE_KERNEL Board operator()(std::uint64_t column) const { return {0, 0, 0, 1u << column}; }
};
