// apps/program/npy.hpp - arrays as NumPy's files, for numpy.load and from numpy.save.
// Source  NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays"
#pragma once
#include <cstddef>
#include <functional>
#include <istream>
#include <span>
#include <string>
#include <vector>

namespace program {

/// The bytes of a file: float32 or float64 in C order, of that shape.
[[nodiscard]] std::string npy_of(std::span<const float> numbers, const std::vector<std::size_t>& shape);
[[nodiscard]] std::string npy_of(std::span<const double> numbers, const std::vector<std::size_t>& shape);

/// One number of an element. Plain arrays have one without a name.
struct NpyField {
    std::string name;
    char kind;         ///< 'f': floating point, 'i', 'u': whole numbers, 'b': booleans
    std::size_t bytes; ///< 1, 2, 4 or 8
    bool is_big_endian;
    std::size_t offset; ///< in bytes, within the element
};

/// What a file says of itself: numbers of any type that a double or a float can take, or structures of them.
/// Texts in structures are passed over.
struct NpyHeader {
    std::vector<std::size_t> shape;
    std::vector<NpyField> fields;
    std::size_t element_bytes;
    bool is_fortran; ///< the first index is the one that changes from element to element

    [[nodiscard]] std::size_t elements() const;
};

/// Leaves the stream where the numbers begin. `name`: of the file, for messages.
/// Errors  invalid_argument for what is no such array
[[nodiscard]] NpyHeader read_npy_header(std::istream& stream, const std::string& name);

/// The next elements as they follow each other in the file, all fields of each.
/// Errors  invalid_argument if there are fewer; float: for a number that is none, or beyond float
void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<float> to);
void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<double> to);

/// All elements, in pieces that come one after another, a few MB each: memory grows with what is there, not
/// with what the header says. Errors: as above
void read_npy_pieces(std::istream& stream, const NpyHeader& header, const std::string& name,
                     const std::function<void(std::vector<float>)>& take);

/// All of a matrix of plain numbers, row by row whatever the file's order is. Errors: as above
void read_npy_matrix(std::istream& stream, const NpyHeader& header, const std::string& name,
                     std::span<float> to);

/// "2 x 3"
[[nodiscard]] std::string text_of_shape(const std::vector<std::size_t>& shape);

} // namespace program
