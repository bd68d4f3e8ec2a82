// apps/path_tracer/image.hpp - a picture of linear radiance, as the bytes of a file.
#pragma once
#include "layout.h"

#include <filesystem>
#include <span>
#include <string>

namespace path_tracer {

enum class ImageFormat : std::uint8_t { png, exr, pfm };

/// By the file's extension. Errors: invalid_argument for an unknown one.
[[nodiscard]] ImageFormat image_format(const std::filesystem::path& file);

/// The bytes of an image file.
///
/// Shapes  pixels [height x width], the top row first
/// Units   linear radiance in Rec. 709 primaries
/// png     8 bits; radiance 1 is white, more is clipped; encoded with the sRGB curve (IEC 61966-2-1)
/// exr     32-bit floats R, G, B, as they are; ZIP compression
/// pfm     32-bit little-endian floats, as they are; rows from the bottom
[[nodiscard]] std::string encode_image(ImageFormat format, uint32_t width, uint32_t height,
                                       std::span<const Rgb> pixels);

} // namespace path_tracer
