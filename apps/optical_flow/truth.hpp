// apps/optical_flow/truth.hpp - flow that is known, as .flo files have it, and how far from it another one
// is.
#pragma once
#include "size.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace optical_flow {

/// End-point errors: the distance between the ends of the two vectors of a pixel.
struct EndPointErrors {
    double sum = 0;        ///< [pixels]
    std::size_t large = 0; ///< longer than 3 pixels
    std::size_t known = 0; ///< pixels whose true flow is known

    /// Of a known pixel. At least one is known.
    [[nodiscard]] double mean() const { return sum / static_cast<double>(known); }
    [[nodiscard]] double share_of_large() const {
        return static_cast<double>(large) / static_cast<double>(known);
    }
};

/// Beside a .flo file's bytes, of which `file` is the name. Pixels whose true u or v is no number or beyond
/// 1e9 are not known, and left out.
///
/// Shapes    u and v [height x width], row-major
/// Units     pixels
/// Errors    invalid_argument for what is no .flo file of that size, or if no pixel is known
/// Source    Middlebury's optical flow benchmark, flow-code/README.txt and colorcode
[[nodiscard]] EndPointErrors end_point_errors(const std::string& file, std::string_view bytes, Size size,
                                              std::span<const float> u, std::span<const float> v);

/// True flow of the first pairs, a file each.
class Truth {
public:
    /// Of files whose size can be seen beforehand, it is looked at: see end_point_errors. Errors: not_found,
    /// too
    Truth(std::vector<std::string> files, Size size);

    /// Pairs in their order; those without a file are passed over. Errors: as above
    void compare(std::span<const float> u, std::span<const float> v);
    /// Of each pair that had a file.
    [[nodiscard]] const std::vector<EndPointErrors>& errors() const noexcept { return errors_; }
    /// Errors: invalid_argument if there were fewer pairs than files
    void expect_all_used() const;

private:
    const std::vector<std::string> files_;
    const Size size_;
    std::vector<EndPointErrors> errors_;
};

} // namespace optical_flow
