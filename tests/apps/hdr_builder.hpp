// tests/apps/hdr_builder.hpp - pictures in Radiance's format.
#pragma once
#include "vector_math.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace path_tracer::test {

/// A Radiance HDR file without compression: each colour as a mantissa of 8 bits for red, green and blue, and
/// an exponent.
inline std::string hdr_of(int width, int height, const std::vector<Rgb>& colours) {
    std::string bytes = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y " + std::to_string(height) + " +X " +
                        std::to_string(width) + "\n";
    for (const Rgb& colour : colours) {
        const float most = largest(colour);
        const int exponent = most > 0 ? std::ilogb(most) + 1 : 0;
        for (const float part : {colour.r, colour.g, colour.b})
            bytes += static_cast<char>(
                static_cast<unsigned char>(most > 0 ? std::min(255.0f, std::ldexp(part, 8 - exponent)) : 0));
        bytes += static_cast<char>(most > 0 ? exponent + 128 : 0);
    }
    return bytes;
}

} // namespace path_tracer::test
