// apps/matrices/host_kernels.hpp - the inner loops of what the host computes, compiled once for each
// instruction set of the machine.
#pragma once
#include <cstddef>
#include <cstdint>

namespace matrices {

/// What one look at the numbers of a piece finds. The sums are of differences to a pivot among the numbers,
/// so that none of them cancels; in double precision.
struct Summary {
    float least, most;
    double sum, squares;
};

/// Plain functions, because units compiled for different instruction sets must not share inline ones.
struct HostKernels {
    const char* instruction_set;

    int tile_rows, tile_columns, scratch_floats; ///< what `multiply_tile` does at most, and needs
    /// c = a b for a tile of c; `rows` x `columns` of it. `a`, `b` and `c` point to where the tile begins;
    /// `*_stride` is from row to row. `scratch` is the caller's, aligned to 64 bytes.
    void (*multiply_tile)(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride,
                          float* c, std::size_t c_stride, int rows, int columns, int inner, float* scratch);

    /// `count` > 0.
    Summary (*summarise)(const float* numbers, std::size_t count, float pivot);
    /// to = (from - subtract) * factor
    void (*rescale)(const float* from, float* to, std::size_t count, float subtract, float factor);
    /// to[i] = factor x number (first + i) of `stream` of `seed`, uniform in [0, 1). `first`: a multiple of 4
    void (*uniform)(float* to, std::uint64_t first, std::size_t count, std::uint64_t seed,
                    std::uint64_t stream, float factor);
};

/// The best that this machine has.
[[nodiscard]] const HostKernels& host_kernels();

namespace baseline {
[[nodiscard]] const HostKernels& kernels();
}
#if defined(__x86_64__)
namespace avx2 {
[[nodiscard]] const HostKernels& kernels();
}
namespace avx512 {
[[nodiscard]] const HostKernels& kernels();
}
#endif

} // namespace matrices
