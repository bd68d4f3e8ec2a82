// apps/fluorescence/incidence.hpp - what of the source's light enters the tissue, and where it begins.
#pragma once
#include "layout.h"
#include "problem.hpp"

#include <cstdint>

namespace fluorescence {

/// Part of the light that never enters: what the surface throws back, and of a beam along the axis also what
/// a clear first layer does.
[[nodiscard]] double specular_reflectance(const Problem& problem);

/// In which packets begin: of beams along the axis the second, if the first is clear.
[[nodiscard]] std::uint32_t first_layer_of(const Problem& problem);

/// General::passes_before.
[[nodiscard]] double passes_before(const Problem& problem);
/// General::passes.
[[nodiscard]] double passes_in_first_layer(const Problem& problem);

[[nodiscard]] Source make_source(const Problem& problem);

} // namespace fluorescence
