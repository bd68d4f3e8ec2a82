// apps/sobel/sobel_simt.cuh - for GPUs: a word of four pixels for each thread instead of a strip.
#pragma once
#include "sobel.kernels.hpp"
#include "words.hpp"

namespace sobel {

static __global__ void filter_words(const Sobel k, int lines) {
    const int x = word * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int line = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (line >= lines) return;
    const video::Row row = k.planes.row(line);
    if (x < row.columns) filter_word(k.frame.data(), k.edges.data(), row, x);
}

template <class Technology>
void specialise(Technology, headrace::Implementations<Sobel>& all) {
    all.on(
        Technology::name, [](const Sobel& k, headrace::Grid<2> grid, const headrace::NativeStream& stream) {
            constexpr unsigned columns = 64, rows = 4;
            const auto blocks = [](std::int64_t n, unsigned size) {
                return static_cast<unsigned>((n + size - 1) / size);
            };
            filter_words<<<dim3(blocks(grid.size(1) * (strip / word), columns), blocks(grid.size(0), rows)),
                           dim3(columns, rows), 0, static_cast<headrace::SimtStream>(stream.stream)>>>(
                k, static_cast<int>(grid.end[0]));
        });
}

} // namespace sobel
