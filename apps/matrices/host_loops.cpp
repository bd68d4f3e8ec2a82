// apps/matrices/host_loops.cpp - the loops of host_kernels.hpp, compiled once for each instruction set, which
// CMake names with its namespace in MATRICES_INSTRUCTION_SET. No header with inline functions: the linker
// keeps one of each, perhaps the one that this machine cannot run.
#include "matrices/host_kernels.hpp"

#include <string.h> // memcpy, which is no inline function

namespace matrices::MATRICES_INSTRUCTION_SET {
namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16, micro_rows = 12; // 24 of 32 registers hold sums
#elif defined(__AVX2__)
constexpr int lanes = 8, micro_rows = 6; // 12 of 16
#else
constexpr int lanes = 4, micro_rows = 4; // 8 of 16
#endif
using Vector [[gnu::vector_size(4 * lanes)]] = float;

constexpr int micro_columns = 2 * lanes;
constexpr int tile_rows = 144, tile_columns = 256,
              depth = 256;          // a slice of A and one of B fit a core's cache
constexpr int a_width = depth + 16; // or rows that are 4 KB apart in A would meet in few sets of the cache
static_assert(tile_rows % micro_rows == 0 && tile_columns % micro_columns == 0);

Vector load(const float* from) {
    Vector vector;
    memcpy(&vector, from, sizeof vector);
    return vector;
}
void store(float* to, Vector vector) { memcpy(to, &vector, sizeof vector); }

/// c += a b (=, if `first`) for `micro_rows` rows of a slice of A and `micro_columns` columns of one of B.
[[gnu::always_inline]] inline void multiply_micro(const float* a, const float* b, int inner, float* c,
                                                  std::size_t c_stride, bool first) {
    Vector sum[micro_rows][2] = {};
    for (int k = 0; k < inner; ++k) {
        const Vector left = load(b + k * micro_columns), right = load(b + k * micro_columns + lanes);
#pragma GCC unroll 16
        for (int i = 0; i < micro_rows; ++i) {
            sum[i][0] += a[i * a_width + k] * left;
            sum[i][1] += a[i * a_width + k] * right;
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < micro_rows; ++i)
        for (int j = 0; j < 2; ++j) {
            float* const to = c + static_cast<std::size_t>(i) * c_stride + j * lanes;
            store(to, first ? sum[i][j] : load(to) + sum[i][j]);
        }
}

/// At the edges of C: by way of a buffer, of which `rows` x `columns` are meant.
void multiply_edge(const float* a, const float* b, int inner, float* c, std::size_t c_stride, bool first,
                   int rows, int columns) {
    float whole[micro_rows * micro_columns];
    multiply_micro(a, b, inner, whole, micro_columns, true);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            float& to = c[static_cast<std::size_t>(i) * c_stride + static_cast<std::size_t>(j)];
            to = whole[i * micro_columns + j] + (first ? 0.0f : to);
        }
}

int least(int a, int b) { return a < b ? a : b; }
int whole_steps(int size, int step) { return (size + step - 1) / step * step; }

/// A slice of A, rows apart as the micro kernel likes them; zeros where it reads rows that are not there.
void pack_a(const float* a, std::size_t stride, int rows, int inner, float* to) {
    for (int i = 0; i < whole_steps(rows, micro_rows); ++i)
        if (i < rows)
            memcpy(to + i * a_width, a + static_cast<std::size_t>(i) * stride,
                   static_cast<std::size_t>(inner) * sizeof(float));
        else
            memset(to + i * a_width, 0, static_cast<std::size_t>(inner) * sizeof(float));
}

/// A slice of B as strips, each as wide as the micro kernel.
void pack_b(const float* b, std::size_t stride, int inner, int columns, float* to) {
    for (int x = 0; x < columns; x += micro_columns, to += depth * micro_columns) {
        const int wide = least(micro_columns, columns - x);
        for (int k = 0; k < inner; ++k) {
            const float* const from = b + static_cast<std::size_t>(k) * stride + x;
            float* const row = to + k * micro_columns;
            if (wide == micro_columns)
                memcpy(row, from, micro_columns * sizeof(float)); // of known size: two vectors
            else
                for (int j = 0; j < micro_columns; ++j) row[j] = j < wide ? from[j] : 0.0f;
        }
    }
}

/// Source    K. Goto, R. van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 2008;
///           differs in: threads share nothing, each packs what its tile needs; A stays row by row
void multiply_tile(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride, float* c,
                   std::size_t c_stride, int rows, int columns, int inner, float* scratch) {
    float *const slice_a = scratch, *const slice_b = scratch + tile_rows * a_width;
    for (int k = 0; k < inner; k += depth) {
        const int deep = least(depth, inner - k);
        pack_a(a + k, a_stride, rows, deep, slice_a);
        pack_b(b + static_cast<std::size_t>(k) * b_stride, b_stride, deep, columns, slice_b);
        for (int x = 0; x < columns; x += micro_columns)
            for (int y = 0; y < rows; y += micro_rows) {
                const float *const left = slice_a + y * a_width, *const right = slice_b + x * depth;
                float* const to = c + static_cast<std::size_t>(y) * c_stride + x;
                if (y + micro_rows <= rows && x + micro_columns <= columns)
                    multiply_micro(left, right, deep, to, c_stride, k == 0);
                else
                    multiply_edge(left, right, deep, to, c_stride, k == 0, least(micro_rows, rows - y),
                                  least(micro_columns, columns - x));
            }
    }
}

Summary summarise(const float* numbers, std::size_t count, float pivot) {
    float least = numbers[0], most = numbers[0];
    double sum = 0, squares = 0;
#pragma omp simd reduction(min : least) reduction(max : most) reduction(+ : sum, squares)
    for (std::size_t i = 0; i < count; ++i) {
        const float x = numbers[i];
        least = x < least ? x : least;
        most = x > most ? x : most;
        const double difference = static_cast<double>(x) - static_cast<double>(pivot);
        sum += difference;
        squares += difference * difference;
    }
    return {least, most, sum, squares};
}

void rescale(const float* __restrict from, float* __restrict to, std::size_t count, float subtract,
             float factor) {
    for (std::size_t i = 0; i < count; ++i) to[i] = (from[i] - subtract) * factor;
}

/// The upper half. Compilers know it by this form, and do four or more at once.
[[gnu::always_inline]] inline std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
}

/// Philox4x32 with 7 rounds, for a batch of counters at once, so that the rounds become vector instructions.
/// Source    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011
void uniform(float* to, std::uint64_t first, std::size_t count, std::uint64_t seed, std::uint64_t stream,
             float factor) {
    constexpr int batch = 64; // blocks of four numbers
    constexpr float scale = 1.0f / 16777216.0f;
    for (std::size_t done = 0; done < count; done += 4 * batch) {
        std::uint32_t word[4][batch];
        for (int i = 0; i < batch; ++i) {
            const std::uint64_t block = (first + done) / 4 + static_cast<std::uint64_t>(i);
            word[0][i] = static_cast<std::uint32_t>(block);
            word[1][i] = static_cast<std::uint32_t>(block >> 32);
            word[2][i] = static_cast<std::uint32_t>(stream);
            word[3][i] = static_cast<std::uint32_t>(stream >> 32);
        }
        std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
        for (int round = 0; round < 7; ++round) {
#pragma omp simd
            for (int i = 0; i < batch; ++i) {
                const std::uint32_t x = word[0][i], z = word[2][i];
                word[0][i] = high_product(0xCD9E8D57u, z) ^ word[1][i] ^ key0;
                word[1][i] = 0xCD9E8D57u * z;
                word[2][i] = high_product(0xD2511F53u, x) ^ word[3][i] ^ key1;
                word[3][i] = 0xD2511F53u * x;
            }
            key0 += 0x9E3779B9u;
            key1 += 0xBB67AE85u;
        }
        float numbers[4 * batch];
        for (int i = 0; i < batch; ++i)
            for (int j = 0; j < 4; ++j)
                numbers[4 * i + j] = static_cast<float>(static_cast<int>(word[j][i] >> 8)) * scale * factor;
        const std::size_t left = count - done;
        memcpy(to + done, numbers, (left < 4 * batch ? left : 4 * batch) * sizeof(float));
    }
}

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
constexpr HostKernels all = {.instruction_set = TEXT(MATRICES_INSTRUCTION_SET),
                             .tile_rows = tile_rows,
                             .tile_columns = tile_columns,
                             .scratch_floats = tile_rows * a_width + tile_columns * depth,
                             .multiply_tile = multiply_tile,
                             .summarise = summarise,
                             .rescale = rescale,
                             .uniform = uniform};

} // namespace

const HostKernels& kernels() { return all; }

} // namespace matrices::MATRICES_INSTRUCTION_SET
