// apps/fluorescence/result_files.hpp - results as other programs read them: MCML's own format, and
// ParaView's.
#pragma once
#include "problem.hpp"
#include "simulation.hpp"

#include <string>

namespace fluorescence {

/// What MCML would have written, its `.mco` in ASCII, line for line: totals, absorption by layer and depth,
/// what escapes by radius and angle. Without fluorescence, which it does not know. For grids of depth and
/// radius. `seconds`: what the run took. Source: as transport.h, and the manual of MCML 1.2.2
[[nodiscard]] std::string mco_of(const Problem& problem, const Settings& settings, const Totals& totals,
                                 const Grids& grids, double seconds);

/// What is absorbed of either wavelength in 1/cm3, by cell, for ParaView (`.vti`). Lengths in cm, z
/// downwards; of depth and radius, x is the radius.
[[nodiscard]] std::string vti_of(const Problem& problem, const Settings& settings, const Grids& grids);

} // namespace fluorescence
