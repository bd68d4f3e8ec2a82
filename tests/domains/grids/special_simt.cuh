// tests/domains/grids/special_simt.cuh - implementations for CUDA and HIP that need a block's shared memory.
#pragma once

namespace headrace::test {

/// Reads and writes rows, and turns a tile around in shared memory.
static __global__ void transpose_tiles(Transpose k) {
    constexpr int side = 16;
    __shared__ float tile[side][side + 1]; // the odd width keeps columns out of one bank
    const int x = static_cast<int>(blockIdx.x) * side, y = static_cast<int>(blockIdx.y) * side;
    const int i = static_cast<int>(threadIdx.y), j = static_cast<int>(threadIdx.x);
    if (y + i < k.in.rows() && x + j < k.in.columns()) tile[i][j] = k.in(y + i, x + j);
    __syncthreads();
    if (x + i < k.in.columns() && y + j < k.in.rows()) k.out(x + i, y + j) = tile[j][i];
}

template <class Technology>
void specialise(Technology, Implementations<Transpose>& all) {
    all.on(Technology::name, [](const Transpose& k, Grid<2> grid, const NativeStream& stream) {
        const dim3 blocks(static_cast<unsigned>((grid.end[1] + 15) / 16),
                          static_cast<unsigned>((grid.end[0] + 15) / 16));
        transpose_tiles<<<blocks, dim3(16, 16), 0, static_cast<SimtStream>(stream.stream)>>>(k);
    });
}

} // namespace headrace::test
