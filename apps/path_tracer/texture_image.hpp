// apps/path_tracer/texture_image.hpp - pictures of textures: from the bytes of a file to the texels of
// kernels.
#pragma once
#include "layout.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace path_tracer {

/// What the numbers of a picture are.
enum class TexelMeaning : std::uint8_t {
    reflectance, ///< colours, which become linear; what is above 1 becomes 1
    radiance,    ///< the same, as bright as they are
    environment, ///< the same, from far away: with a scale, so that the sun fits in, too
    numbers,     ///< of normals, metal and the like: as they are stored
    opacity      ///< the picture's opacity, or its grey if all of it is opaque
};

/// A picture in memory.
struct TextureImage {
    std::uint32_t width = 0, height = 0;
    std::vector<Texel> texels;      ///< [height x width], the upper row first
    bool is_opaque = true;          ///< all of it
    float scale = 1;                ///< of an environment: factor of its colours
    std::vector<std::string> notes; ///< what of it had to be changed
};

/// Most texels of a picture: 16384 x 16384.
constexpr std::size_t most_texels = std::size_t{1} << 28;

/// Reads PNG (any depth), JPEG, Radiance HDR and OpenEXR (R, G, B, A, or one grey channel Y), by the first
/// bytes. `file`: for messages.
///
/// Colours of PNG and JPEG are sRGB, of OpenEXR linear. NaN and what is below 0 becomes 0, with a note.
/// Errors  invalid_argument: another format, broken, or more than `most_texels`
[[nodiscard]] TextureImage decode_texture(const std::string& file, std::string bytes, TexelMeaning meaning);

/// The picture of half the width and height, at least one texel each: means of what each texel covers.
/// `by_opacity`: colours count by their opacity, if any of them has some.
[[nodiscard]] TextureImage halved(const TextureImage& image, bool by_opacity = false);

} // namespace path_tracer
