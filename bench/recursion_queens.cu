// bench/recursion_queens.cu - the queens in plain CUDA: a launch that finds all boards of the first rows, and
// one in which each thread walks on from such boards, one after another, depth first.
//
// A walk keeps the free places of each row in shared memory. What the queens above attack is kept for the
// current row only: diagonals move one bit a row and have 64 bits, so that going back up undoes the move.
#include "cuda_launch.cuh"
#include "recursion.hpp"
#include "recursion.kernels.hpp"

#include <algorithm>
#include <chrono>

namespace bench {
namespace {

constexpr unsigned threads = 128, most_rows = 20;
constexpr std::uint32_t most_first_rows = 6; ///< enough boards for all threads, several times

/// What is attacked in a row. Bit `most_rows` of the diagonals is the row's first column, so none gets lost.
struct Attacked {
    std::uint32_t columns;
    std::uint64_t left, right;

    __device__ std::uint32_t free_places(std::uint32_t all) const {
        return all & ~(columns | static_cast<std::uint32_t>(left >> most_rows) |
                       static_cast<std::uint32_t>(right >> most_rows));
    }
    __device__ void go_down(std::uint32_t queen) {
        columns ^= queen;
        left = (left ^ std::uint64_t{queen} << most_rows) << 1;
        right = (right ^ std::uint64_t{queen} << most_rows) >> 1;
    }
    __device__ void go_up(std::uint32_t queen) {
        columns ^= queen;
        left = left >> 1 ^ std::uint64_t{queen} << most_rows;
        right = right << 1 ^ std::uint64_t{queen} << most_rows;
    }
};

struct Control {
    unsigned long long boards;     ///< of the first rows
    unsigned long long next_board; ///< that no thread has taken
    unsigned long long full;
};

/// Numbers of `first_rows` digits to the base `queens` are tried: a digit is the column of a row's queen.
__global__ void find_boards(std::uint32_t queens, std::uint32_t first_rows, std::uint64_t numbers,
                            Attacked* boards, Control* control) {
    const std::uint32_t all = (1u << queens) - 1;
    const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
    for (std::uint64_t number = blockIdx.x * blockDim.x + threadIdx.x; number < numbers; number += stride) {
        Attacked attacked{};
        bool is_free = true;
        std::uint64_t digits = number;
        for (std::uint32_t row = 0; row < first_rows && is_free; ++row, digits /= queens) {
            const std::uint32_t queen = 1u << digits % queens;
            is_free = (attacked.free_places(all) & queen) != 0;
            attacked.go_down(queen);
        }
        if (is_free) boards[atomicAdd(&control->boards, 1)] = attacked;
    }
}

__global__ void __launch_bounds__(threads)
    walk_on(std::uint32_t queens, const Attacked* boards, Control* control) {
    __shared__ std::uint32_t left_in[most_rows][threads]; ///< places of a row, with that of its queen
    const std::uint32_t all = (1u << queens) - 1, thread = threadIdx.x;
    const unsigned long long count = control->boards;
    unsigned long long full = 0;
    for (;;) {
        const unsigned long long number = atomicAdd(&control->next_board, 1);
        if (number >= count) break;
        Attacked attacked = boards[number];
        std::uint32_t places = attacked.free_places(all);
        full += attacked.columns == all;
        for (int row = 0;;) {
            if (places != 0) {
                left_in[row++][thread] = places;
                attacked.go_down(places & (0 - places));
                places = attacked.free_places(all);
                full += attacked.columns == all;
            } else if (row > 0) {
                places = left_in[--row][thread];
                attacked.go_up(places & (0 - places));
                places &= places - 1;
            } else {
                break;
            }
        }
    }
    for (unsigned step = 16; step > 0; step /= 2) full += __shfl_xor_sync(~0u, full, step);
    if (threadIdx.x % 32 == 0) atomicAdd(&control->full, full);
}

} // namespace

RecursionTurn cuda_queens(const QueensProblem& problem) {
    const std::uint32_t first_rows = std::min(most_first_rows, problem.queens);
    std::uint64_t numbers = 1, most_boards = 1;
    for (std::uint32_t row = 0; row < first_rows; ++row) {
        numbers *= problem.queens;
        most_boards *= problem.queens - row; // each queen has a column to itself
    }
    const OnDevice<Control> control(1);
    const OnDevice<Attacked> boards(most_boards);
    const unsigned blocks = resident_blocks(walk_on, threads);
    CHECK(cudaDeviceSynchronize());

    RecursionTurn turn{};
    const auto begin = std::chrono::steady_clock::now();
    turn.kernel_seconds = seconds_of([&] {
        find_boards<<<blocks, threads>>>(problem.queens, first_rows, numbers, boards.get(), control.get());
        walk_on<<<blocks, threads>>>(problem.queens, boards.get(), control.get());
    });
    turn.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    turn.found.count = control.on_host()[0].full;
    return turn;
}

} // namespace bench
