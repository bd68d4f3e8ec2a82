// apps/program/png.cpp - see png.hpp.
#include "png.hpp"
#include <headrace/core/error.hpp>

#include <png.h>

#include <cstddef>

namespace program {

std::string encode_png(const PngImage& image) {
    HEADRACE_ASSERT(image.channels == 3 || image.channels == 1);
    HEADRACE_ASSERT(image.palette.empty() || (image.channels == 1 && image.palette.size() <= 256));
    HEADRACE_ASSERT(image.pixels.size() ==
                    std::size_t{image.width} * image.height * static_cast<std::size_t>(image.channels));
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = image.width;
    png.height = image.height;
    png.format = image.channels == 3     ? PNG_FORMAT_RGB
                 : image.palette.empty() ? PNG_FORMAT_GRAY
                                         : PNG_FORMAT_RGB_COLORMAP;
    png.flags = image.fast ? PNG_IMAGE_FLAG_FAST : 0;
    png.colormap_entries = static_cast<png_uint_32>(image.palette.size());
    std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
    png_alloc_size_t used = bytes.size();
    if (png_image_write_to_memory(&png, bytes.data(), &used, 0, image.pixels.data(), 0,
                                  image.palette.data()) == 0)
        throw headrace::Error{headrace::ErrorKind::io, std::string("libpng: ") + png.message};
    bytes.resize(used);
    return bytes;
}

} // namespace program
