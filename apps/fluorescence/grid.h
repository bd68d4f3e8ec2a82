// apps/fluorescence/grid.h - where a packet is: in the cells in which kernels add, and in which layer. C++
// and OpenCL C read this file.
#ifndef HEADRACE_FLUORESCENCE_GRID_H
#define HEADRACE_FLUORESCENCE_GRID_H
#include "layout.h"

HEADRACE_NAMESPACE(fluorescence)

/// Where a packet is in the grid, counted from the top and from the axis or a corner.
#ifdef __OPENCL_C_VERSION__
typedef struct Cell {
    uint32_t z, y, x;
} Cell;
HEADRACE_FUNCTION Cell cell_from(uint32_t z, uint32_t y, uint32_t x) {
    const Cell cell = {z, y, x};
    return cell;
}
#else
/// Of a packet, or of a batch of packets.
template <class Index>
struct CellOf {
    Index z, y, x;
};
using Cell = CellOf<uint32_t>;
template <class Index>
HEADRACE_FUNCTION CellOf<Index> cell_from(Index z, std::type_identity_t<Index> y,
                                          std::type_identity_t<Index> x) {
    return {z, y, x};
}
#endif

HEADRACE_FUNCTION uint32_t layer_of(const Packet* packet) { return packet->layer_and_name & 255u; }
HEADRACE_FUNCTION uint32_t wavelength(const Packet* packet) { return packet->origin != 0 ? 1 : 0; }

/// The cell in which a place lies, counted from the first. As MCML: what lies beyond the grid counts in its
/// last cell, so that nothing is left out of sums.
HEADRACE_FUNCTION HEADRACE_ANY(uint32_t)
    cell_at(HEADRACE_ANY(float) place, float cells_per_cm, uint32_t cells) {
#if defined(__CUDA_ARCH__)
    // The lower bits of 2^23 + cell: a conversion would wait for the unit that has roots and sines to find.
    const uint32_t cell = __float_as_uint(__fmaf_rz(place, cells_per_cm, 8388608.0f)) - 0x4b000000u;
#else
    const HEADRACE_ANY(uint32_t) cell = uint_of(fmin(place * cells_per_cm, 4294967040.0f));
#endif
    return choose(cell < cells, cell, cells - 1);
}

/// `depth`: of the packet, from the surface. `is_xyz`: a grid of depth, row and column, not of depth and
/// radius.
HEADRACE_FUNCTION HEADRACE_ANY(Cell) cell_of(const Tissue* tissue, HEADRACE_ANY(const Packet*) packet,
                                             HEADRACE_ANY(float) depth, bool is_xyz) {
    HEADRACE_ANY(Cell) cell = cell_from(cell_at(depth, tissue->depths_per_cm, tissue->depths), 0, 0);
    if (is_xyz) {
        const HEADRACE_ANY(float) y = fmax(packet->y - tissue->row_edge, 0.0f);
        const HEADRACE_ANY(float) x = fmax(packet->x - tissue->column_edge, 0.0f);
        cell.y = cell_at(y, tissue->rows_per_cm, tissue->rows);
        cell.x = cell_at(x, tissue->columns_per_cm, tissue->columns);
    } else {
        const HEADRACE_ANY(float) radius = sqrt(packet->x * packet->x + packet->y * packet->y);
        cell.x = cell_at(radius, tissue->columns_per_cm, tissue->columns);
    }
    return cell;
}

HEADRACE_END_NAMESPACE

#endif
