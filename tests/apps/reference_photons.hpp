// tests/apps/reference_photons.hpp - photons in layered tissue as the textbooks have it: double precision,
// one packet after another, angles and rotation matrices, no code of the program's.
#pragma once
#include "problem.hpp"

#include <cstdint>
#include <vector>

namespace fluorescence::test {

/// Of light that is not shifted.
inline LayerSpec layer(double n, Optical optical, double thickness) {
    LayerSpec made;
    made.n = n;
    made.excitation = optical;
    made.thickness = thickness;
    return made;
}

/// Sums over packets of weight 1, and of their squares, for standard errors.
struct Tally {
    double sum = 0, squares = 0;
    void add(double packet) {
        sum += packet;
        squares += packet * packet;
    }
};

struct ReferenceTotals {
    std::uint64_t packets = 0, steps = 0;
    Tally reflectance, transmittance, emitted, escaped_top, escaped_bottom, reabsorbed;
    Tally reflected_near;        ///< within the grid's first ring
    std::vector<Tally> absorbed; ///< by layer
    /// Of the problem's first detector: weight, and weight times path by layer; and of what is reflected by
    /// gate.
    Tally detected;
    std::vector<Tally> paths, reflected_in_gate;

    [[nodiscard]] double mean(const Tally& tally) const { return tally.sum / static_cast<double>(packets); }
    [[nodiscard]] double error(const Tally& tally) const;
};

/// Follows that many packets; each absorption emits with its expected weight, all of it, every time.
[[nodiscard]] ReferenceTotals follow(const Problem& problem, std::uint64_t packets, std::uint64_t seed);

} // namespace fluorescence::test
