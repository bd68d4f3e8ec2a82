// tests/end_to_end/image.hpp - reads the PFM files that the programs write, and compares them.
// Written apart from the programs' own writer, so that a mistake in the one shows in the other.
#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

namespace headrace::end_to_end {

/// Linear radiance, three floats a pixel, rows from the top.
struct Image {
    std::size_t width = 0, height = 0;
    std::vector<float> values;

    [[nodiscard]] const float* pixel(std::size_t x, std::size_t y) const {
        return &values[3 * (y * width + x)];
    }
};

/// Throws std::runtime_error unless the file is exactly a little-endian RGB PFM.
[[nodiscard]] Image read_pfm(const std::filesystem::path& file);

/// Root of the mean squared difference over all values; the sizes must agree.
[[nodiscard]] double rms_difference(const Image& a, const Image& b);

/// How a picture is like another of the same samples, of which rounding sends some elsewhere.
struct Likeness {
    std::size_t differing; ///< values that are more than a thousandth of 1 + the other's away from it
    double sum, other_sum; ///< of all values
};
/// The sizes must agree.
[[nodiscard]] Likeness likeness(const Image& image, const Image& other);

/// The largest |a - b| / max(1, |a|, |b|).
[[nodiscard]] double largest_difference(const Image& a, const Image& b);

} // namespace headrace::end_to_end
