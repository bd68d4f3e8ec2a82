// apps/fluorescence/plot.hpp - a picture of where the light is.
#pragma once
#include "problem.hpp"
#include "simulation.hpp"

#include <string>

namespace fluorescence {

/// Fluence per packet [1/cm2], what is absorbed by mua, against depth and radius, as a PNG: colours by
/// decades. Of a grid of three dimensions it shows the rows in the middle, on either side of the beam. Below
/// it the fluorescent light's, if there is any. Grey: where nothing absorbs, nothing is known.
///
/// Errors    out_of_memory, io: the drawing library's own words
[[nodiscard]] std::string plot_of(const Problem& problem, const Settings& settings, const Grids& grids);

} // namespace fluorescence
