// apps/path_tracer/image.hpp - a picture of linear radiance, as the bytes of a file.
#pragma once
#include "layout.h"

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace path_tracer {

enum class ImageFormat : std::uint8_t { png, exr, pfm };

/// By the file's extension. Errors: invalid_argument for an unknown one.
[[nodiscard]] ImageFormat image_format(const std::filesystem::path& file);

/// What an OpenEXR file has besides the picture; other formats leave it out.
struct ImageExtras {
    /// Of each pixel, as means, with distances in the scene; infinity where nothing is. Empty: no layers.
    std::span<const FirstHit> first_hits{};
    std::vector<std::pair<std::string, std::string>> attributes{}; ///< of the header: name, text
};

/// The bytes of an image file.
///
/// Shapes  pixels [height x width], the top row first
/// Units   linear radiance in Rec. 709 primaries
/// png     8 bits; radiance 1 is white, more is clipped; encoded with the sRGB curve (IEC 61966-2-1)
/// exr     32-bit floats R, G, B, as they are; albedo.R, .G, .B, N.X, N.Y, N.Z, and Z; ZIP compression
/// pfm     32-bit little-endian floats, as they are; rows from the bottom
[[nodiscard]] std::string encode_image(ImageFormat format, uint32_t width, uint32_t height,
                                       std::span<const Rgb> pixels, const ImageExtras& extras = {});

} // namespace path_tracer
