// apps/fluorescence/view.hpp - what a kernel is given: the tissue, and where it adds what happens. Most runs
// need little; kernels for all that a problem can ask for are compiled apart, so that those pay nothing.
#pragma once
#include "grid.h"
#include "layout.h"
#include <headrace/domains/view.hpp>
#include <headrace/persistent/kernel.hpp>

#include <type_traits>

namespace fluorescence {

/// Where kernels add what happens.
struct Scores {
    headrace::Sum<uint64_t> totals;     ///< [batch][total]
    headrace::Sum<uint64_t> absorption; ///< [wavelength][z][y][x], or [wavelength][z][r]
    headrace::Sum<uint64_t> escape;     ///< [wavelength][side][y][x], or [wavelength][side][r][angle]
};

/// Of plain kernels: a pencil beam, Henyey and Greenstein's scattering, and sums of what is absorbed and
/// escapes.
struct TissueView {
    using Unit = Packet;
    static constexpr bool is_general = false, detects = false;

    headrace::View<const Layer> layers;
    Tissue tissue;
    Scores scores;

    /// Sums that are kept near the lanes: all totals, then the absorption in the part of the grid that gets
    /// most.
    HEADRACE_HOST_DEVICE uint32_t local_sums() const {
        return FLUORESCENCE_BATCHES * tissue.totals +
               tissue.near_wavelengths * tissue.near_depths * tissue.near_rows * tissue.near_columns;
    }
    HEADRACE_HOST_DEVICE uint64_t& sum_of(uint32_t number) const {
        const uint32_t totals = FLUORESCENCE_BATCHES * tissue.totals;
        if (number < totals) return scores.totals.origin[number];
        const uint32_t cell = number - totals, depths = cell / (tissue.near_rows * tissue.near_columns);
        const uint32_t row = cell / tissue.near_columns % tissue.near_rows;
        return absorption(depths / tissue.near_depths, depths % tissue.near_depths,
                          row + tissue.first_near_row, cell % tissue.near_columns + tissue.first_near_column);
    }
    HEADRACE_HOST_DEVICE uint64_t& absorption(uint32_t wavelength, uint32_t z, uint32_t y, uint32_t x) const {
        const uint64_t plane = uint64_t{wavelength} * tissue.depths + z;
        return scores.absorption.origin[(plane * tissue.rows + y) * tissue.columns + x];
    }
};

/// Of general kernels.
struct GeneralView : TissueView {
    static constexpr bool is_general = true;

    General general;
    headrace::View<const PhaseNode> phases;
    headrace::Sum<uint64_t> fluence; ///< as Scores::absorption; a single one if it is not asked for
};

/// Of those that know the ways of packets too, for detectors and time gates.
struct DetectingView : GeneralView {
    using Unit = TrackedPacket;
    static constexpr bool detects = true;

    headrace::View<const Detector> detectors;
    headrace::Sum<uint64_t> detected; ///< [batch][detector][wavelength][sum]: FLUORESCENCE_DETECTED_...
    /// [wavelength][place][gate]: places are above, below, and the detectors; behind the gates is all later.
    headrace::Sum<uint64_t> gated;
};

/// A grid of depth and radius.
struct Rz {
    static constexpr bool is_xyz = false;
    /// A cell's place among the local sums, which begin with `first`.
    static HEADRACE_HOST_DEVICE headrace::LocalSum near(const Tissue& tissue, const Cell& cell,
                                                        uint32_t first) {
        return {first + cell.z * tissue.near_columns + cell.x,
                cell.z < tissue.near_depths && cell.x < tissue.near_columns};
    }
};

/// A grid of depth, row and column.
struct Xyz {
    static constexpr bool is_xyz = true;
    static HEADRACE_HOST_DEVICE headrace::LocalSum near(const Tissue& tissue, const Cell& cell,
                                                        uint32_t first) {
        const uint32_t y = cell.y - tissue.first_near_row, x = cell.x - tissue.first_near_column;
        return {first + (cell.z * tissue.near_rows + y) * tissue.near_columns + x,
                cell.z < tissue.near_depths && y < tissue.near_rows && x < tissue.near_columns};
    }
};

/// A view with its grid, as transport.h takes it.
template <class GridOfView, class View>
struct On : View {
    using Grid = GridOfView;
};

/// What a packet meets in its layer, at its wavelength.
struct Medium {
    float top, thickness; ///< of its layer
    Optics optics;
    uint32_t near; ///< the first of this wavelength's cells among the local sums
};

template <class Unit>
struct StepResult {
    bool goes_on; ///< the packet
    bool emits;   ///< a fluorescent one
    Unit emitted;
};

// ---- what transport.h asks of a view; view.cl has it in OpenCL C

#define FLUORESCENCE_IS_GENERAL(view) (std::remove_pointer_t<decltype(view)>::is_general)
#define FLUORESCENCE_DETECTS(view) (std::remove_pointer_t<decltype(view)>::detects)
#define FLUORESCENCE_IS_XYZ(view) (std::remove_pointer_t<decltype(view)>::Grid::is_xyz)
/// Whether a branch pays where nothing is absorbed.
#define FLUORESCENCE_TESTS_FOR_NOTHING false

/// To a total of the packet's batch.
HEADRACE_HOST_DEVICE inline void add_to_total(const TissueView* view, auto* lane, const Packet* packet,
                                              uint32_t which, int32_t amount) {
    const uint32_t number = packet->name % FLUORESCENCE_BATCHES * view->tissue.totals + which;
    lane->add(number, amount, [&]() -> uint64_t& { return view->scores.totals.origin[number]; });
}
template <class View>
HEADRACE_HOST_DEVICE inline void add_absorbed(const View* view, auto* lane, const Medium* medium,
                                              const Packet* packet, const Cell& cell, auto amount) {
    const uint32_t colour = wavelength(packet);
    lane->add(View::Grid::near(view->tissue, cell, medium->near), amount,
              [&]() -> uint64_t& { return view->absorption(colour, cell.z, cell.y, cell.x); });
}
HEADRACE_HOST_DEVICE inline void add_escaped(const TissueView* view, uint64_t place, uint32_t weight) {
    view->scores.escape.add(place, weight);
}
HEADRACE_HOST_DEVICE inline void add_to_fluence(const GeneralView* view, uint64_t place, uint64_t amount) {
    view->fluence.add(place, amount);
}
HEADRACE_HOST_DEVICE inline void add_detected(const DetectingView* view, uint64_t place, uint64_t amount) {
    view->detected.add(place, amount);
}
HEADRACE_HOST_DEVICE inline void add_to_gate(const DetectingView* view, uint64_t place, uint32_t weight) {
    view->gated.add(place, weight);
}

} // namespace fluorescence
