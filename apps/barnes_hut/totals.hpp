// apps/barnes_hut/totals.hpp - what motion keeps: energy, momentum, angular momentum.
#pragma once
#include "bodies.hpp"

#include <optional>
#include <span>
#include <vector>

namespace barnes_hut {

/// Of all bodies at one step. Sums are compensated: their errors are those of the terms.
struct Totals {
    std::uint64_t step = 0;
    double kinetic = 0, potential = 0;
    Vector momentum = {};         ///< sum of m v
    Vector angular_momentum = {}; ///< sum of m x cross v, about the origin
    [[nodiscard]] double energy() const { return kinetic + potential; }
};

/// `potentials`: of each body in the field of the others.
/// Errors  invalid_argument if a sum is beyond 1e308
[[nodiscard]] Totals totals_of(const Bodies& bodies, std::span<const double> potentials);

/// The largest |E - E0| / |E0|; none for fewer than two, or E0 = 0.
[[nodiscard]] std::optional<double> energy_drift(const std::vector<Totals>& history);

} // namespace barnes_hut
