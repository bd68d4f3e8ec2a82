// apps/matrices/npy.hpp - matrices in NumPy's files: numpy.save, numpy.load.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace matrices {

struct NpySize {
    int rows, columns;
    friend bool operator==(NpySize, NpySize) = default;
};

/// A matrix that can be read any number of times. Of a pipe, which can be read once, all bytes are kept.
///
/// Threads  any, beside each other
class NpyFile {
public:
    /// Errors: not_found; invalid_argument for what is no matrix of numbers, with the file
    explicit NpyFile(std::filesystem::path file);

    [[nodiscard]] NpySize size() const noexcept { return size_; }
    /// Row by row. Errors: invalid_argument if its size is not `size`, or for a number that is none, or
    /// beyond float
    void read(NpySize size, std::span<float> to) const;

private:
    [[nodiscard]] std::unique_ptr<std::istream> open() const;

    std::filesystem::path file_;
    std::string bytes_; ///< of a pipe
    bool is_pipe_;
    NpySize size_;
};

/// The bytes of a file, float32.
[[nodiscard]] std::string npy_of(std::span<const float> numbers, NpySize size);

} // namespace matrices
