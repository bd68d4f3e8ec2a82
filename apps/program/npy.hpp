// apps/program/npy.hpp - arrays as NumPy's files, for numpy.load.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace program {

/// The bytes of a file: float32 or float64 in C order, of that shape.
[[nodiscard]] std::string npy_of(std::span<const float> numbers, const std::vector<std::size_t>& shape);
[[nodiscard]] std::string npy_of(std::span<const double> numbers, const std::vector<std::size_t>& shape);

} // namespace program
