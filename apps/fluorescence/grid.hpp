// apps/fluorescence/grid.hpp - the cells in which kernels add.
#pragma once
#include "layout.h"
#include <headrace/persistent/kernel.hpp>

#include <cmath>

namespace fluorescence {

/// Where a packet is in the grid, counted from the top and from the axis or a corner.
struct Cell {
    uint32_t z, y, x;
};

/// The cell in which a place lies, counted from the first. As MCML: what lies beyond the grid counts in its
/// last cell, so that nothing is left out of sums.
HEADRACE_HOST_DEVICE inline uint32_t cell_of(float place, float cells_per_cm, uint32_t cells) {
#if defined(__CUDA_ARCH__)
    // The lower bits of 2^23 + cell: a conversion would wait for the unit that has roots and sines to find.
    const uint32_t cell = __float_as_uint(__fmaf_rz(place, cells_per_cm, 8388608.0f)) - 0x4b000000u;
#else
    const auto cell = static_cast<uint32_t>(std::fmin(place * cells_per_cm, 4294967040.0f));
#endif
    return cell < cells ? cell : cells - 1;
}

/// A grid of depth and radius. `depth`: of the packet, from the surface.
struct Rz {
    static HEADRACE_HOST_DEVICE Cell cell(const Tissue& tissue, const Packet& packet, float depth) {
        const float radius = std::sqrt(packet.x * packet.x + packet.y * packet.y);
        return {cell_of(depth, tissue.depths_per_cm, tissue.depths), 0,
                cell_of(radius, tissue.columns_per_cm, tissue.columns)};
    }
    /// Its place among the local sums, which begin with `first`.
    static HEADRACE_HOST_DEVICE headrace::LocalSum near(const Tissue& tissue, const Cell& cell,
                                                        uint32_t first) {
        return {first + cell.z * tissue.near_columns + cell.x,
                cell.z < tissue.near_depths && cell.x < tissue.near_columns};
    }
};

/// A grid of depth, row and column.
struct Xyz {
    static HEADRACE_HOST_DEVICE Cell cell(const Tissue& tissue, const Packet& packet, float depth) {
        const float y = std::fmax(packet.y - tissue.row_edge, 0.0f);
        const float x = std::fmax(packet.x - tissue.column_edge, 0.0f);
        return {cell_of(depth, tissue.depths_per_cm, tissue.depths),
                cell_of(y, tissue.rows_per_cm, tissue.rows),
                cell_of(x, tissue.columns_per_cm, tissue.columns)};
    }
    static HEADRACE_HOST_DEVICE headrace::LocalSum near(const Tissue& tissue, const Cell& cell,
                                                        uint32_t first) {
        const uint32_t y = cell.y - tissue.first_near_row, x = cell.x - tissue.first_near_column;
        return {first + (cell.z * tissue.near_rows + y) * tissue.near_columns + x,
                cell.z < tissue.near_depths && y < tissue.near_rows && x < tissue.near_columns};
    }
};

} // namespace fluorescence
