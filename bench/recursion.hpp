// bench/recursion.hpp - the problems of `recursion`, and who solves them: Headrace, oneTBB on the processor,
// and plain CUDA.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace headrace {
class Runtime;
}

namespace bench {

/// What a program found. Each problem uses its part of it; the rest is zero.
struct Found {
    std::uint64_t count = 0; ///< full boards, nodes
    std::uint32_t depth = 0;
    double integral = 0;              ///< added up in any order
    std::vector<std::uint32_t> map{}; ///< steps of pixels, distances of fields
};

/// One turn of a program.
struct RecursionTurn {
    double seconds;            ///< from the first request until the host knows that all is done
    double kernel_seconds = 0; ///< by the device's clock; 0: not measured
    Found found;
};

// Leaves are done by calls, below a unit or task. 0: each board, node, interval or square is a unit or task.

struct QueensProblem {
    std::uint32_t queens, leaf_rows;
};
struct TreesProblem {
    std::uint64_t trees;
    std::uint32_t leaf_depth;
};
struct QuadratureProblem {
    std::uint64_t parts; ///< of [0, 1], at the beginning
    double tolerance, leaf_length;
};
struct SquaresProblem {
    std::uint32_t width; ///< of the picture: a multiple of 64
    std::uint32_t leaf_side;
};
struct PathsProblem {
    std::uint32_t side;
    std::uint32_t band; ///< of distances, for a job or for the waves between two looks at far fields
    const std::vector<std::uint32_t>& costs;
};
/// Of steps to the fields of a map: 1 to `dearest`, as good as random.
inline constexpr std::uint32_t dearest = 8;

/// With the kernels of apps/examples, on the devices of the runtime.
[[nodiscard]] RecursionTurn headrace_queens(headrace::Runtime& runtime, const QueensProblem& problem);
[[nodiscard]] RecursionTurn headrace_trees(headrace::Runtime& runtime, const TreesProblem& problem);
[[nodiscard]] RecursionTurn headrace_quadrature(headrace::Runtime& runtime, const QuadratureProblem& problem);
[[nodiscard]] RecursionTurn headrace_squares(headrace::Runtime& runtime, const SquaresProblem& problem);
/// Returns what takes turns.
[[nodiscard]] std::function<RecursionTurn()> headrace_paths(headrace::Runtime& runtime,
                                                            const PathsProblem& problem);

/// A task of oneTBB for each unit that is not part of a leaf, in one task group, on all processors. Counts
/// and sums are kept by thread.
[[nodiscard]] RecursionTurn tbb_queens(const QueensProblem& problem);
[[nodiscard]] RecursionTurn tbb_trees(const TreesProblem& problem);
[[nodiscard]] RecursionTurn tbb_quadrature(const QuadratureProblem& problem);
[[nodiscard]] RecursionTurn tbb_squares(const SquaresProblem& problem);

/// On the first CUDA device; see recursion_queens.cu, recursion_trees.cu and recursion_paths.cu. Boards and
/// nodes have no leaves here.
[[nodiscard]] RecursionTurn cuda_queens(const QueensProblem& problem);
[[nodiscard]] RecursionTurn cuda_trees(const TreesProblem& problem);
[[nodiscard]] RecursionTurn cuda_paths(const PathsProblem& problem);

} // namespace bench
