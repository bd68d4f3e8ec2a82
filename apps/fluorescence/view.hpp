// apps/fluorescence/view.hpp - what a kernel is given: the tissue, and where it adds what happens. Most runs
// need little; kernels for all that a problem can ask for are compiled apart, so that those pay nothing.
#pragma once
#include "layout.h"
#include <headrace/domains/view.hpp>

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

HEADRACE_HOST_DEVICE inline uint32_t layer_of(const Packet& packet) { return packet.layer_and_name & 255u; }
HEADRACE_HOST_DEVICE inline uint32_t wavelength(const Packet& packet) { return packet.origin != 0 ? 1 : 0; }

} // namespace fluorescence
