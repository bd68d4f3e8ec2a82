// domains/grids/detail/on_simt.cuh - a kernel over a grid as a CUDA or HIP kernel: one thread for each point.
#pragma once
#include <headrace/devices/simt/runtime.hpp>
#include <headrace/domains/grids/implementations.hpp>

#include <algorithm>

namespace headrace {
/// cudaStream_t or hipStream_t, for implementations with one source for both: `tiled<<<blocks, threads, 0,
/// static_cast<SimtStream>(native.stream)>>>(kernel)`.
using SimtStream = HEADRACE_ON_SIMT::StreamHandle;
} // namespace headrace

namespace headrace::HEADRACE_ON_SIMT {

/// The kernel's `static constexpr auto block = headrace::grid(16, 16);`, or the default block.
template <class Kernel>
HEADRACE_HOST_DEVICE constexpr Grid<index_rank<Kernel>> block_of() {
    if constexpr (requires { Kernel::block; })
        return Kernel::block;
    else
        return default_block<index_rank<Kernel>>();
}

template <class Kernel>
__global__ void __launch_bounds__(block_of<Kernel>().size())
    grid_kernel_1(const Kernel kernel, Grid<1> grid) {
    const std::int64_t x = grid.first + blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
    if (x < grid.end[0]) kernel(Index<1>{x});
}

/// `rows`, `columns`: the ends of the range of this launch.
template <class Kernel>
__global__ void __launch_bounds__(block_of<Kernel>().size())
    grid_kernel_2(const Kernel kernel, int first, int rows, int columns) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = first + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < columns && y < rows) kernel(Index<2>{y, x});
}

template <class Kernel>
__global__ void __launch_bounds__(block_of<Kernel>().size())
    grid_kernel_3(const Kernel kernel, int first, int planes, int first_row, int rows, int columns) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = first_row + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int z = first + static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
    if (x < columns && y < rows && z < planes) kernel(Index<3>{z, y, x});
}

constexpr unsigned blocks(std::int64_t points, std::int64_t block) {
    return static_cast<unsigned>((points + block - 1) / block);
}
/// Limit of blocks in each dimension but the fastest; larger grids use several launches.
inline constexpr std::int64_t most_blocks = 65535;

template <class Kernel>
void run_grid(const Kernel& kernel, const Grid<1>& grid, StreamHandle stream) {
    constexpr auto block = block_of<Kernel>();
    grid_kernel_1<Kernel><<<blocks(grid.size(0), block.end[0]), block.end[0], 0, stream>>>(kernel, grid);
}

template <class Kernel>
void run_grid(const Kernel& kernel, const Grid<2>& grid, StreamHandle stream) {
    constexpr auto block = block_of<Kernel>();
    const dim3 threads(block.end[1], block.end[0]);
    const std::int64_t most = most_blocks * block.end[0];
    for (std::int64_t y = grid.first; y < grid.end[0]; y += most) {
        const std::int64_t end = std::min(y + most, grid.end[0]);
        const dim3 number(blocks(grid.end[1], block.end[1]), blocks(end - y, block.end[0]));
        grid_kernel_2<Kernel><<<number, threads, 0, stream>>>(
            kernel, static_cast<int>(y), static_cast<int>(end), static_cast<int>(grid.end[1]));
    }
}

template <class Kernel>
void run_grid(const Kernel& kernel, const Grid<3>& grid, StreamHandle stream) {
    constexpr auto block = block_of<Kernel>();
    const dim3 threads(block.end[2], block.end[1], block.end[0]);
    const std::int64_t most_planes = most_blocks * block.end[0], most_rows = most_blocks * block.end[1];
    for (std::int64_t z = grid.first; z < grid.end[0]; z += most_planes)
        for (std::int64_t y = 0; y < grid.end[1]; y += most_rows) {
            const std::int64_t planes = std::min(z + most_planes, grid.end[0]);
            const std::int64_t rows = std::min(y + most_rows, grid.end[1]);
            const dim3 number(blocks(grid.end[2], block.end[2]), blocks(rows - y, block.end[1]),
                              blocks(planes - z, block.end[0]));
            grid_kernel_3<Kernel><<<number, threads, 0, stream>>>(
                kernel, static_cast<int>(z), static_cast<int>(planes), static_cast<int>(y),
                static_cast<int>(rows), static_cast<int>(grid.end[2]));
        }
}

/// The return value of a generated unit.
template <class Kernel>
Implementations<Kernel> compiled() {
    static_assert(sizeof(Kernel) <= 4000, "kernels are passed by value: their members must fit into 4 KB");
    return detail::compiled<Technology, Kernel>(
        [](const Kernel& kernel, const Grid<detail::rank_or_1<Kernel>>& grid, const NativeStream& stream) {
            if constexpr (index_rank<Kernel> != 0) {
                if (grid.size() <= 0) return; // an empty launch is an error in CUDA and HIP
                run_grid(kernel, grid, static_cast<StreamHandle>(stream.stream));
                HEADRACE_CALL(GetLastError);
            }
        });
}

} // namespace headrace::HEADRACE_ON_SIMT
