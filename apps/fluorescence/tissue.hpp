// apps/fluorescence/tissue.hpp - a problem as kernels see it.
#pragma once
#include "layout.h"
#include "problem.hpp"
#include "settings.hpp"

#include <vector>

namespace fluorescence {

/// The layers. Those with a tabulated phase function say where it begins in `make_phases`.
[[nodiscard]] std::vector<Layer> make_layers(const Problem& problem, const Settings& settings);
/// Phase functions of all layers, at either wavelength: never empty.
[[nodiscard]] std::vector<PhaseNode> make_phases(const Problem& problem);
[[nodiscard]] std::vector<Detector> make_detectors(const Problem& problem);
/// Everything else. Errors: invalid_argument for a grid that is too large
[[nodiscard]] Tissue make_tissue(const Problem& problem, const Settings& settings);
/// A boundary from a medium to another.
[[nodiscard]] Side side_of(double n, double n_beyond);
/// What a whole packet weighs: that with which they begin is rounded, and must be what is not reflected.
[[nodiscard]] double unit_weight_of(const Problem& problem);
/// Cells of the grid, at one wavelength.
[[nodiscard]] std::uint64_t cells(const Tissue& tissue);
/// Whether MCML could say it, but for fluorescence: a pencil beam, and Henyey and Greenstein's scattering.
[[nodiscard]] bool is_mcmls(const Problem& problem);
/// Whether only detecting kernels can do it (view.hpp).
[[nodiscard]] inline bool detects(const Problem& problem) {
    return !problem.detectors.empty() || problem.time.gates > 0;
}
/// Whether plain kernels cannot.
[[nodiscard]] inline bool is_general(const Problem& problem, const Settings& settings) {
    return !is_mcmls(problem) || settings.fluence || detects(problem);
}
/// What general kernels are told besides.
[[nodiscard]] General make_general(const Problem& problem, const Settings& settings);

} // namespace fluorescence
