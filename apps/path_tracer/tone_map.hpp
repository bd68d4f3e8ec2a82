// apps/path_tracer/tone_map.hpp - radiance without an upper bound to what a screen shows.
#pragma once
#include "layout.h"

#include <cstdint>
#include <span>

namespace path_tracer {

enum class ToneMap : std::uint8_t { none, aces, agx };

/// In place: linear radiance in Rec. 709 primaries to linear values from 0 to 1 in the same; `none` changes
/// nothing. Grey stays grey, and brighter stays brighter.
///
/// aces    Academy Colour Encoding System: the rational fit to its reference rendering and sRGB output
///         transforms by Stephen Hill, 2017
/// agx     AgX of Troy Sobotka, as Blender shows pictures: the polynomial fit by Benjamin Wrensch, "Minimal
///         AgX implementation", 2023
void map_tones(ToneMap map, std::span<Rgb> pixels);

} // namespace path_tracer
