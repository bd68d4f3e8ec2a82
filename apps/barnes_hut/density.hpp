// apps/barnes_hut/density.hpp - bodies seen along the z axis, as a picture.
#pragma once
#include "bodies.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace barnes_hut {

/// Mass per pixel, projected onto the x-y plane; the top row, of largest y, first.
///
/// The window is a square around the centre of mass that has 99 % of the bodies in it.
[[nodiscard]] std::vector<double> projected_density(const Bodies& bodies, std::uint32_t pixels);

/// The bytes of a .png: grey, by the logarithm of the density, over five decades below the densest pixel.
[[nodiscard]] std::string density_png(const Bodies& bodies, std::uint32_t pixels);

} // namespace barnes_hut
