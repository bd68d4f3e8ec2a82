// apps/program/npy.hpp - arrays as NumPy's files, for numpy.load and from numpy.save.
// Source  NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays"
#pragma once
#include <cstddef>
#include <istream>
#include <span>
#include <string>
#include <vector>

namespace program {

/// The bytes of a file: float32 or float64 in C order, of that shape.
[[nodiscard]] std::string npy_of(std::span<const float> numbers, const std::vector<std::size_t>& shape);
[[nodiscard]] std::string npy_of(std::span<const double> numbers, const std::vector<std::size_t>& shape);

/// What a file says of itself: float32 or float64, in C order.
struct NpyHeader {
    std::vector<std::size_t> shape;
    bool is_double;
};

/// Leaves the stream where the numbers begin. `name`: of the file, for messages.
/// Errors  invalid_argument for what is no such array
[[nodiscard]] NpyHeader read_npy_header(std::istream& stream, const std::string& name);

/// The next numbers, of either type. Errors: invalid_argument if there are fewer
void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<float> to);
void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<double> to);

/// "2 x 3"
[[nodiscard]] std::string text_of_shape(const std::vector<std::size_t>& shape);

} // namespace program
