// apps/matrices/host_multiply.cpp - see host_multiply.hpp.
#include "matrices/host_multiply.hpp"
#include "matrices/host_kernels.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace matrices {
namespace {

struct Free {
    void operator()(float* memory) const { std::free(memory); }
};

/// One for each thread, kept: its pages would cost more than the tile to get anew.
float* scratch() {
    thread_local const std::unique_ptr<float, Free> memory([] {
        const std::size_t bytes = static_cast<std::size_t>(host_kernels().scratch_floats) * sizeof(float);
        auto* const found = static_cast<float*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
        if (found == nullptr) throw std::bad_alloc();
        return found;
    }());
    return memory.get();
}

int tiles_along(int size, int tile) { return (size + tile - 1) / tile; }

} // namespace

unsigned HostProduct::tiles() const {
    const HostKernels& kernels = host_kernels();
    return static_cast<unsigned>(tiles_along(rows, kernels.tile_rows)) *
           static_cast<unsigned>(tiles_along(columns, kernels.tile_columns));
}

void HostProduct::multiply(unsigned tile) const {
    const HostKernels& kernels = host_kernels();
    const int across = tiles_along(columns, kernels.tile_columns);
    const int y = static_cast<int>(tile) / across * kernels.tile_rows;
    const int x = static_cast<int>(tile) % across * kernels.tile_columns;
    const auto wide = static_cast<std::size_t>(columns), deep = static_cast<std::size_t>(inner);
    kernels.multiply_tile(a + static_cast<std::size_t>(y) * deep, deep, b + x, wide,
                          c + static_cast<std::size_t>(y) * wide + x, wide,
                          std::min(kernels.tile_rows, rows - y), std::min(kernels.tile_columns, columns - x),
                          inner, scratch());
}

} // namespace matrices
