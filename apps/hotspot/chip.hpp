// apps/hotspot/chip.hpp - the chip of Rodinia's Hotspot: its material, its files, and one made up.
#pragma once
#include "factors.h"

#include <filesystem>
#include <span>
#include <string>

namespace hotspot {

/// Of a square chip of `size` x `size` cells.
///
/// Source  S. Che et al., "Rodinia: A Benchmark Suite for Heterogeneous Computing", IISWC 2009; constants
///         as in its hotspot.cu. Differs in: from 1315 cells a side on, steps are shorter, since its own come
///         near what is stable there and overshoot ever more from 1386 on
[[nodiscard]] Factors factors_of(int size);

/// Reads numbers, separated by white space, row after row: Rodinia's temp_512, power_512; from a pipe, too.
/// Errors: not_found; invalid_argument for what is no number or no finite float, and for too few or too many,
/// with the file; for more than 64 bytes a number, too
void read_cells(const std::filesystem::path& file, std::span<float> cells);

/// Errors: invalid_argument, which cell of a chip of `size` x `size` is not finite
void check_finite(std::span<const float> cells, int size);

/// One number a line: what read_cells reads.
[[nodiscard]] std::string text_of(std::span<const float> cells);

/// A chip near 50 degrees Celsius, in kelvin, cells a little apart.
void make_temperatures(std::span<float> cells);
/// Watts of each cell: 16 x 16 units of the chip, each as busy as it happens to be. The same for everybody.
void make_power(int size, std::span<float> cells);

} // namespace hotspot
