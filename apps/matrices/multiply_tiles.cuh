// apps/matrices/multiply_tiles.cuh - c = a b in single precision on a GPU. Plain CUDA, and HIP: programs with
// and without Headrace share it.
//
// A block of 128 threads computes a tile of C, each thread a rectangle of it in registers. Slices of A and B,
// eight deep, arrive in shared memory while those before them are used. What limits it is the rate of
// multiply-adds: 128 of them need six 16-byte loads from shared memory.
#pragma once
#ifndef MATRICES_COPIES
    #define MATRICES_COPIES "async_copy.cuh" // a test on the host has its own
#endif
#include MATRICES_COPIES

#include <cstdint>

namespace matrices {

/// 2 x 2 groups of 8 x 4 threads, with `ThreadRows` x `ThreadColumns` each.
template <int ThreadRows, int ThreadColumns>
struct TileShape {
    static constexpr int threads = 128;
    static constexpr int rows = 2 * 8 * ThreadRows, columns = 2 * 4 * ThreadColumns;
    static constexpr int depth = 8;  ///< of a slice
    static constexpr int stages = 4; ///< slices in shared memory: one in use, the others on their way
};

/// Slices of A and B in shared memory, A's transposed so that a thread reads four rows at once.
template <class Shape>
struct Slices {
    // Four more columns: threads that store eight numbers of a row below each other meet no bank twice.
    float a[Shape::stages][Shape::depth][Shape::rows + 4];
    float b[Shape::stages][Shape::depth][Shape::columns];
};

/// The matrices, row-major: a [rows x inner], b [inner x columns], c [rows x columns].
struct Product {
    const float *a, *b;
    float* c;
    int rows, columns, inner;
};

/// Begins to fetch a slice for the tile at (`row`, `column`). `Whole`: tiles and slices fit the matrices
/// exactly; else what is beyond them is zero.
template <class Shape, bool Whole>
__device__ void fetch(Slices<Shape>& slices, int stage, const Product& product, int row, int column,
                      int slice) {
    const int thread = static_cast<int>(threadIdx.x), first = slice * Shape::depth;
    { // eight threads along a row of A: a sector of memory
        const int k = thread % Shape::depth;
        constexpr int step = Shape::threads / Shape::depth;
#pragma unroll
        for (int y = 0; y < Shape::rows; y += step) {
            const int at = y + thread / Shape::depth;
            copy_async(&slices.a[stage][k][at],
                       product.a + std::int64_t{row + at} * product.inner + first + k,
                       Whole || (row + at < product.rows && first + k < product.inner));
        }
    }
    constexpr int width = Whole ? 4 : 1, across = Shape::columns / width, step = Shape::threads / across;
    const int x = thread % across * width;
#pragma unroll
    for (int y = 0; y < Shape::depth; y += step) {
        const int k = y + thread / across;
        const float* const from = product.b + std::int64_t{first + k} * product.columns + column + x;
        if constexpr (Whole)
            copy_4_async(&slices.b[stage][k][x], from);
        else
            copy_async(&slices.b[stage][k][x], from,
                       first + k < product.inner && column + x < product.columns);
    }
}

/// `Count` numbers of a row of a slice, four in a row from every `Stride`th on.
template <int Count, int Stride>
__device__ void load(float (&to)[Count], const float* from) {
#pragma unroll
    for (int i = 0; i < Count; i += 4)
        *reinterpret_cast<float4*>(&to[i]) = *reinterpret_cast<const float4*>(from + i / 4 * Stride);
}

/// Tiles in an order in which those that run at once are near each other in both directions, so that the
/// cache serves most of what they read.
struct TilePlace {
    int row, column; ///< in tiles
    __device__ TilePlace(int index, int rows, int columns) {
        constexpr int band = 16; // tiles high: as many wide run at once on the largest GPUs
        const int first = index / (band * columns) * band, within = index % (band * columns);
        const int height = rows - first < band ? rows - first : band;
        row = first + within % height;
        column = within / height;
    }
};

template <int ThreadRows, int ThreadColumns, bool Whole>
__global__ void __launch_bounds__(128, 2) multiply_tiles(const Product product) {
    using Shape = TileShape<ThreadRows, ThreadColumns>;
    constexpr int depth = Shape::depth, stages = Shape::stages;
    alignas(16) __shared__ Slices<Shape> slices;
    const TilePlace place(static_cast<int>(blockIdx.x), (product.rows + Shape::rows - 1) / Shape::rows,
                          (product.columns + Shape::columns - 1) / Shape::columns);
    const int row = place.row * Shape::rows, column = place.column * Shape::columns;

    // Neighbouring threads read the same numbers of A (bit 0) or of B (bit 1): such loads take half the time.
    const int lane = static_cast<int>(threadIdx.x) % 32, group = static_cast<int>(threadIdx.x) / 32;
    const int lane_row = (lane >> 1 & 1) | (lane >> 2 & 6), lane_column = (lane & 1) | (lane >> 1 & 2);
    const int y = group / 2 * (Shape::rows / 2) + 4 * lane_row;
    const int x = group % 2 * (Shape::columns / 2) + 4 * lane_column;

    const int count = (product.inner + depth - 1) / depth;
#pragma unroll
    for (int slice = 0; slice < stages - 1; ++slice) {
        if (slice < count) fetch<Shape, Whole>(slices, slice, product, row, column, slice);
        end_copies();
    }
    wait_for_copies<stages - 2>();
    __syncthreads();

    float sum[ThreadRows][ThreadColumns] = {};
    float a[2][ThreadRows], b[2][ThreadColumns]; // in use, and what the next step uses
    load<ThreadRows, 32>(a[0], &slices.a[0][0][y]);
    load<ThreadColumns, 16>(b[0], &slices.b[0][0][x]);
    for (int slice = 0; slice < count; ++slice) {
        const int stage = slice % stages, next_stage = (slice + 1) % stages;
#pragma unroll
        for (int k = 0; k < depth; ++k) {
            if (k == depth - 1) { // the next slice has arrived, and nobody needs the one before this any more
                wait_for_copies<stages - 2>();
                __syncthreads();
            }
            const int from = k == depth - 1 ? next_stage : stage, step = (k + 1) % depth;
            load<ThreadRows, 32>(a[(k + 1) % 2], &slices.a[from][step][y]);
            load<ThreadColumns, 16>(b[(k + 1) % 2], &slices.b[from][step][x]);
            if (k == 0) {
                const int ahead = slice + stages - 1;
                if (ahead < count) fetch<Shape, Whole>(slices, ahead % stages, product, row, column, ahead);
                end_copies();
            }
#pragma unroll
            for (int i = 0; i < ThreadRows; ++i)
#pragma unroll
                for (int j = 0; j < ThreadColumns; ++j) {
                    const int there =
                        i % 2 == 0 ? j : ThreadColumns - 1 - j; // back and forth: operands recur
                    sum[i][there] += a[k % 2][i] * b[k % 2][there];
                }
        }
    }

#pragma unroll
    for (int i = 0; i < ThreadRows; ++i) {
        const int at = row + y + i % 4 + i / 4 * 32;
        if (!Whole && at >= product.rows) continue;
        float* const to = product.c + std::int64_t{at} * product.columns + column + x;
#pragma unroll
        for (int j = 0; j < ThreadColumns; j += 4) {
            const int right = j / 4 * 16;
            if constexpr (Whole) {
                *reinterpret_cast<float4*>(to + right) =
                    make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            } else {
#pragma unroll
                for (int n = 0; n < 4; ++n)
                    if (column + x + right + n < product.columns) to[right + n] = sum[i][j + n];
            }
        }
    }
}

} // namespace matrices
