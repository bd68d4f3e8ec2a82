// apps/program/png.cpp - see png.hpp.
#include "png.hpp"
#include "program/png_failure.hpp"
#include <headrace/core/error.hpp>

#include <png.h>
#include <zlib.h>

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace program {
namespace {

[[noreturn]] void fail(const char* why) {
    throw headrace::Error{headrace::ErrorKind::io, std::string("libpng: ") + why};
}

/// Where libpng writes, and what it says when it fails.
struct Writer {
    Writer() = default;
    ~Writer() { png_destroy_write_struct(&png, &info); }
    Writer(const Writer&) = delete; // libpng holds its address
    Writer& operator=(const Writer&) = delete;

    std::string bytes{};
    PngFailure failure{};
    png_structp png = nullptr;
    png_infop info = nullptr;
};

void take_bytes(png_structp png, png_bytep from, std::size_t count) {
    bool has_room = true;
    try {
        static_cast<Writer*>(png_get_io_ptr(png))->bytes.append(reinterpret_cast<const char*>(from), count);
    } catch (const std::exception&) { // none may cross C
        has_room = false;
    }
    if (!has_room) png_error(png, "out of memory");
}

/// libpng jumps back into this when it fails, over nothing that has a destructor. False: see the message.
bool write_smooth(Writer& writer, const PngImage& image) {
    if (setjmp(png_jmpbuf(writer.png)) != 0) return false;
    png_set_write_fn(writer.png, &writer, take_bytes, nullptr);
    png_set_IHDR(writer.png, writer.info, image.width, image.height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(writer.png, writer.info, PNG_sRGB_INTENT_PERCEPTUAL); // as the simplified interface does
    // What differs from the mean of the pixels above and to the left is noise, in which searching for what
    // was there before finds nothing; runs are what does not move.
    png_set_filter(writer.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_AVG);
    png_set_compression_strategy(writer.png, Z_RLE);
    png_set_compression_level(writer.png, Z_BEST_SPEED);
    png_set_compression_buffer_size(writer.png, 1 << 18);
    png_write_info(writer.png, writer.info);
    for (std::size_t y = 0; y < image.height; ++y)
        png_write_row(writer.png, &image.pixels[3 * y * image.width]);
    png_write_end(writer.png, writer.info);
    return true;
}

std::string encode_smooth(const PngImage& image) {
    Writer writer;
    writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer.failure, PngFailure::on_error,
                                         PngFailure::on_warning);
    if (writer.png == nullptr) throw std::bad_alloc();
    writer.info = png_create_info_struct(writer.png);
    if (writer.info == nullptr) throw std::bad_alloc();
    if (!write_smooth(writer, image)) fail(writer.failure.message);
    return std::move(writer.bytes);
}

} // namespace

std::string encode_png(const PngImage& image) {
    HEADRACE_ASSERT(image.channels == 3 || image.channels == 1);
    HEADRACE_ASSERT(image.palette.empty() || (image.channels == 1 && image.palette.size() <= 256));
    HEADRACE_ASSERT(image.pixels.size() ==
                    std::size_t{image.width} * image.height * static_cast<std::size_t>(image.channels));
    if (image.is_smooth && image.channels == 3) return encode_smooth(image);
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
        fail(png.message);
    bytes.resize(used);
    return bytes;
}

} // namespace program
