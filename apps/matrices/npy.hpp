// apps/matrices/npy.hpp - matrices in NumPy's files: numpy.save, numpy.load.
#pragma once
#include <filesystem>
#include <span>
#include <string>

namespace matrices {

struct NpySize {
    int rows, columns;
    friend bool operator==(NpySize, NpySize) = default;
};

/// What a file says of itself. Errors: not_found; invalid_argument for what is no matrix of numbers, with the
/// file
[[nodiscard]] NpySize npy_size(const std::filesystem::path& file);

/// Row by row. Errors: as npy_size, and invalid_argument if the file has another size than `to`, or
/// a number that is none, or beyond float
void read_npy(const std::filesystem::path& file, NpySize size, std::span<float> to);

/// The bytes of a file, float32.
[[nodiscard]] std::string npy_of(std::span<const float> numbers, NpySize size);

} // namespace matrices
