// tests/apps/reference_picture.hpp - pictures of the reference tracer as OpenEXR files: means, and the
// standard errors of these means.
#pragma once
#include "apps/khronos_models.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace path_tracer::test {

struct ReferencePicture {
    std::size_t width = 0, height = 0;
    int paths = 0;                      ///< of each pixel
    std::vector<ReferencePixel> pixels; ///< row by row from the top
};

[[nodiscard]] ReferencePicture picture_of(const KhronosModel& model, int paths);

/// R, G and B are floats; error.R, error.G and error.B have 16 bits. Errors are the library's exceptions.
void write_picture(const std::filesystem::path& file, const ReferencePicture& picture);
[[nodiscard]] ReferencePicture read_picture(const std::filesystem::path& file);

} // namespace path_tracer::test
