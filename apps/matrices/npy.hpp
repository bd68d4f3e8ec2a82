// apps/matrices/npy.hpp - matrices in NumPy's files: numpy.save, numpy.load.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace matrices {

struct NpySize {
    int rows, columns;
    friend bool operator==(NpySize, NpySize) = default;
};

/// A matrix that can be read any number of times. Of a pipe, which can be read once, all numbers are kept.
///
/// Threads  any, beside each other
class NpyFile {
public:
    /// Errors: not_found; invalid_argument for what is no matrix of numbers, with the file; of a pipe, also
    /// for numbers beyond float, and more than 32768 rows or columns
    explicit NpyFile(std::filesystem::path file);

    [[nodiscard]] NpySize size() const noexcept { return size_; }
    /// Its rows. Errors: invalid_argument if it has more columns, or fewer
    [[nodiscard]] int side() const;
    /// Row by row. Errors: invalid_argument if its size is not `size`, or for a number that is none, or
    /// beyond float
    void read(NpySize size, std::span<float> to) const;

private:
    void expect(NpySize size) const;

    std::filesystem::path file_;
    NpySize size_{};
    std::vector<std::vector<float>> kept_{}; ///< of a pipe: pieces, in its order
    bool is_fortran_ = false;                ///< that is by columns
};

/// The bytes of a file, float32.
[[nodiscard]] std::string npy_of(std::span<const float> numbers, NpySize size);

} // namespace matrices
