// apps/hotspot/hotspot_cuda.cuh - several steps on squares of cells: a thread keeps a piece of a column in
// registers, and a block's threads show each other their cells in shared memory.
#pragma once

namespace hotspot {

/// A block's square. Its outermost `fused` cells are read to be stepped from: with every step one more rim of
/// the square goes wrong, and what is left in the end is written.
inline constexpr int side = 64, kept = side - 2 * fused;
inline constexpr int strips = 4, cells = side / strips; // 256 threads, of 16 cells each

static __global__ void __launch_bounds__(side* strips)
    advance_squares(const Hotspot k, int first_row, int last_row) {
    __shared__ float plane[2][side][side]; // taken in turns, so that one barrier a step does
    const int j = static_cast<int>(threadIdx.x), top = static_cast<int>(threadIdx.y) * cells;
    const int left = max(j - 1, 0), right = min(j + 1, side - 1);
    const int above = max(top - 1, 0), below = min(top + cells, side - 1);
    const int x = static_cast<int>(blockIdx.x) * kept + j - fused;
    const int y = first_row + static_cast<int>(blockIdx.y) * kept + top - fused;
    const int columns = k.before.columns();

    float now[cells], watts[cells];
    const int column = mirrored(min(x, columns + fused - 1), columns);
    for (int i = 0; i < cells; ++i) {
        const int row =
            mirrored(min(y + i, last_row + fused - 1), k.rows); // what is further is not ours to read
        now[i] = k.before(row, column);
        watts[i] = k.power(row, column);
        plane[0][top + i][j] = now[i];
    }
    for (int step = 0; step < k.steps; ++step) {
        const auto& shown = plane[step % 2];
        auto& next = plane[(step + 1) % 2];
        __syncthreads();
        float north = shown[above][j];
        for (int i = 0; i < cells; ++i) {
            const float here = now[i];
            const float south = i + 1 < cells ? now[i + 1] : shown[below][j];
            now[i] =
                stepped(k.factors, here, north, south, shown[top + i][left], shown[top + i][right], watts[i]);
            next[top + i][j] = now[i];
            north = here;
        }
    }
    if (j < fused || j >= side - fused || x >= columns) return;
    for (int i = 0; i < cells; ++i)
        if (top + i >= fused && top + i < side - fused && y + i < last_row) k.after(y + i, x) = now[i];
}

inline void specialise(headrace::technology::Cuda, headrace::Implementations<Hotspot>& all) {
    all.on("cuda", [](const Hotspot& k, headrace::Grid<2> grid, const headrace::NativeStream& stream) {
        const auto squares = [](std::int64_t n) { return static_cast<unsigned>((n + kept - 1) / kept); };
        advance_squares<<<dim3(squares(grid.size(1)), squares(grid.size(0))), dim3(side, strips), 0,
                          static_cast<cudaStream_t>(stream.stream)>>>(k, static_cast<int>(grid.first),
                                                                      static_cast<int>(grid.end[0]));
    });
}

} // namespace hotspot
